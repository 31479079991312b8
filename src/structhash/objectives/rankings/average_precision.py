"""Average precision over the whole ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.rankings._average_precision import violate_average_precision
from structhash.objectives.rankings._queries import as_flags, as_queries, search
from structhash.objectives.rankings.base import Ranking

__all__ = ["AveragePrecision"]


@dataclass(frozen=True)
class AveragePrecision(Ranking):
    """Average precision: the mean, over the relevant points, of the precision at their places.

    score = 1/P * sum_i i / (i + g_i)    (paper, source of "Ranking measures", mAP), with g_i the irrelevant
    points before the i-th relevant one. Its mean over queries is mAP.

    References
    ----------
    Yue et al., A support vector method for optimizing average precision, doi:10.1145/1277741.1277790.
    Mohapatra et al., Efficient optimization for rank-based loss functions, CVPR 2018, for other fast searches.
    Ahuja and Orlin, A fast scaling algorithm for minimizing separable convex functions subject to chain
    constraints, Operations Research 49, 2001.

    Examples
    --------
    >>> round(AveragePrecision().score([True, False, True]), 4)
    0.8333
    >>> loss, above, below = AveragePrecision().most_violated([0.0, 2.0], [1.0, 3.0], [0, 2], [0, 2])
    >>> loss.round(4), above, below
    (array([0.1667]), array([0, 1], dtype=int32), array([1, 0], dtype=int32))
    """

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """The mean precision at the places of the relevant points; 1.0 where there is none.

        Parameters
        ----------
        relevant : bool array (n,)
            In ranking order, nearest first.

        Raises
        ------
        ValueError
            If `relevant` is anything else.
        """
        places = 1 + np.flatnonzero(as_flags(relevant))
        if not places.size:
            return 1.0
        return float(np.mean(np.arange(1, places.size + 1) / places))

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that violates it most: see `Ranking.most_violated`.

        It costs O(N + P log N) a query, and a sort unless the distances ascend.

        Sums of rounded distances are compared: a gain is strict where it exceeds 1e-12 * max(1, spread of the
        distances).
        """
        return search(violate_average_precision, as_queries(near, far, near_ptr, far_ptr))
