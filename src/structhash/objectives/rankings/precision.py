"""Precision at k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.rankings._precision import violate_precision
from structhash.objectives.rankings._queries import as_flags, as_queries, check_cut, search
from structhash.objectives.rankings.base import Ranking

__all__ = ["Precision"]


@dataclass(frozen=True)
class Precision(Ranking):
    """Precision at k: the share of relevant points among the first k places.

    score = 1/k * sum_(i <= k) [i-th point relevant]    (paper, source of "Ranking measures").
    The divisor is always k: the perfect ranking of P < k relevant points scores P / k, so it has a loss.
    Only the first k of N irrelevant points can cost: where k is far below N, training needs a larger C.

    Parameters
    ----------
    k : int
        Last place that counts, at least 1.

    Raises
    ------
    ValueError
        If k is not allowed.

    References
    ----------
    Joachims, A support vector method for multivariate performance measures, doi:10.1145/1102351.1102399.

    Examples
    --------
    >>> Precision(k=2).score([True, False, True])
    0.5
    >>> Precision(k=2).most_violated([0.0, 2.0], [1.0, 3.0], [0, 2], [0, 2])
    (array([0.5]), array([0, 1], dtype=int32), array([1, 0], dtype=int32))
    """

    k: int = 10

    def __post_init__(self) -> None:
        check_cut(self.k)

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """The share of relevant points in the first k places; 1.0 where all points are of one kind.

        Parameters
        ----------
        relevant : bool array (n,)
            In ranking order, nearest first.

        Raises
        ------
        ValueError
            If `relevant` is anything else.
        """
        flags = as_flags(relevant)
        if flags.all() or not flags.any():
            return 1.0
        return float(np.count_nonzero(flags[: self.k]) / self.k)

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that violates it most: see `Ranking.most_violated`.

        It tries each number of hits, which costs O(P + N) a query, and a sort unless the distances ascend.

        Sums of rounded distances are compared: a gain is strict where it exceeds 1e-12 * max(1, spread of the
        distances).
        """
        return search(violate_precision, as_queries(near, far, near_ptr, far_ptr), min(int(self.k), 2**62))
