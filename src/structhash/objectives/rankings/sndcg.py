"""Simplified NDCG: each relevant point is ranked alone among the irrelevant ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.rankings._queries import as_flags, as_queries, search
from structhash.objectives.rankings._sndcg import violate_sndcg
from structhash.objectives.rankings.base import Ranking

__all__ = ["SNDCG"]


@dataclass(frozen=True)
class SNDCG(Ranking):
    """Simplified NDCG, paper eq. (sndcg): the mean NDCG of lists of one relevant and all irrelevant points.

    score = 1/P * sum_i S(1 + g_i), S(j) = 1 / log2(1 + j), with g_i the irrelevant points before relevant i.
    The sum has one term for each relevant point and S is convex, so the search is one merge.

    References
    ----------
    Lin et al., Structured learning of binary codes with column generation for optimizing ranking measures,
    doi:10.1007/s11263-016-0984-4.

    Examples
    --------
    >>> round(SNDCG().score([True, False, True]), 4)
    0.8155
    >>> loss, above, below = SNDCG().most_violated([0.0, 2.0], [1.0, 3.0], [0, 2], [0, 2])
    >>> loss.round(4), above, below
    (array([0.1845]), array([0, 1], dtype=int32), array([1, 0], dtype=int32))
    """

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """The mean discount of the relevant points; 1.0 where there is none.

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
        if not flags.any():
            return 1.0
        return float(np.mean(1.0 / np.log2(2.0 + np.cumsum(~flags)[flags])))

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that violates it most: see `Ranking.most_violated`.

        It costs O(P + N) a query, and a sort unless the distances ascend.
        """
        queries = as_queries(near, far, near_ptr, far_ptr)
        places = np.arange(2.0, 3.0 + np.diff(queries[3]).max(initial=0))  # 1 + j for places j to N + 1
        logs = np.log2(places)
        drop = np.log2(1.0 + 1.0 / places[:-1]) / (logs[:-1] * logs[1:])  # S(j) - S(j + 1) without cancellation
        return search(violate_sndcg, queries, 1.0 / logs, drop)
