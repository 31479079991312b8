"""l1 that also charges for similar rows told apart ("Extension of regularization", in the paper's source)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import PairWeights


@dataclass(frozen=True)
class Similar(Regularizer):
    """l1 that also charges for similar rows told apart ("Extension of regularization", in the paper's source).

    sum_r w_r (1 + weight * mean over pairs {i, j} of |h_r(x_i) - h_r(x_j)|), which is ||w||_1 + weight * mean
    weighted Hamming distance of the pairs. The paper leaves the 1 out; a bit that parts no pair would then be
    free, and its weight without bound. To a family each pair is one that should be pulled together.

    Parameters
    ----------
    pairs : int array (m, 2)
        Row numbers of the training matrix, kept as a tuple of tuples; ``similar:pairs=((0,1),(4,7))`` in words.
        Without any pair the costs are those of `L1`.
    weight : float
        Of the term next to ||w||_1, at least 0.

    Examples
    --------
    >>> Similar([[0, 1], [1, 2]], weight=3.0).cost([0, 1, 1])
    2.5
    """

    pairs: Any = ()
    weight: float = 1.0

    def __post_init__(self) -> None:
        pairs = np.asarray(self.pairs)
        if pairs.size and (
            pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or pairs.min() < 0
        ):
            raise ValueError(
                f"pairs are {pairs.dtype} of shape {pairs.shape}; "
                "give row numbers >= 0, integers of shape (m, 2)"
            )
        if not _is_number(self.weight) or not 0 <= self.weight < np.inf:
            raise ValueError(f"weight={describe(self.weight)}: give a finite number of at least 0")
        object.__setattr__(self, "pairs", tuple(map(tuple, pairs.tolist())))

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: 1 and `weight` times the share of pairs it parts.

        Raises
        ------
        ValueError
            If a pair names a row that is not there.
        """
        i, j = self._rows(len(bit))
        bit = np.asarray(bit)
        return 1.0 + self.weight * float((bit[i] != bit[j]).sum()) / max(1, len(i))

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """Pair weights less weight / m for each of the m pairs: h'Lh falls by what the bit costs above 1."""
        i, j = self._rows(len(pairs.degree))
        share = np.full(len(i), self.weight / max(1, len(i)), pairs.values.dtype)
        ends = pairs.indptr[-1] + np.arange(1, len(i) + 1)
        alike = np.bincount(np.append(i, j), np.append(share, share), minlength=len(pairs.degree))
        return PairWeights(
            np.append(pairs.rows, i),
            np.append(pairs.indptr, ends),
            np.append(pairs.indices, j),
            np.append(pairs.values, -share),
            pairs.degree - alike.astype(pairs.degree.dtype),
        )

    @property
    def upper(self) -> float:
        """Largest weight allowed: infinity."""
        return np.inf

    def _rows(self, n: int) -> NDArray[np.int32]:
        """Both rows (2, m) of every pair, of n rows there are."""
        rows = np.array(self.pairs, np.int32).reshape(-1, 2).T
        if rows.size and rows.max() >= n:
            raise ValueError(f"pairs name row {rows.max()}; the training matrix has rows 0 to {n - 1}")
        return rows


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
