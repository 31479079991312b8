"""l1 with a charge for telling similar rows apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_nonnegative
from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import PairWeights

__all__ = ["Similar"]


@dataclass(frozen=True)
class Similar(Regularizer):
    """l1 that also charges for telling similar rows apart (paper's source, "Extension of regularization").

    sum_r w_r (1 + weight * mean over pairs {i, j} of |h_r(x_i) - h_r(x_j)|), which is ||w||_1 + weight * mean
    weighted Hamming distance of the pairs. The paper leaves the 1 out. A bit that tells no pair apart would
    then cost nothing, and its weight would have no bound. For a family, each pair is one to pull together.

    Parameters
    ----------
    pairs : int array (m, 2)
        Row numbers of the training matrix, kept as a tuple of tuples; ``similar:pairs=((0,1),(4,7))`` as text.
        Without any pair the costs are those of `L1`.
    weight : float
        Weight of the second term, at least 0.

    Raises
    ------
    ValueError
        If a setting is not allowed.

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
        check_nonnegative("weight", self.weight)
        object.__setattr__(self, "pairs", tuple(map(tuple, pairs.tolist())))

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: 1 + `weight` * share of the pairs that it tells apart.

        Raises
        ------
        ValueError
            If a pair names a row that the bit does not have.
        """
        i, j = self._rows(len(bit))
        bit = np.asarray(bit)
        return 1.0 + self.weight * float((bit[i] != bit[j]).sum()) / max(1, len(i))

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """Pair weights less weight / m for each of the m pairs: h'Lh falls by the cost of the bit above 1."""
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

    def _rows(self, n: int) -> NDArray[np.int32]:
        """Both rows (2, m) of every pair; ValueError unless they are among n rows."""
        rows = np.array(self.pairs, np.int32).reshape(-1, 2).T
        if rows.size and rows.max() >= n:
            raise ValueError(f"pairs name row {rows.max()}; the training matrix has rows 0 to {n - 1}")
        return rows
