"""Simplified NDCG: each relevant point is ranked alone among the irrelevant ones."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from structhash.objectives.rankings._queries import as_flags, as_queries, search
from structhash.objectives.rankings.base import Ranking


@njit(cache=True, nogil=True)
def violate_sndcg(near, far, near_ptr, far_ptr, discount, drop):
    """Merge the sorted distances: a relevant point falls behind one more while that gains strictly.

    Its g-th step gains drop[g] / P - 2/(P N) (far_(g) - near). `drop` falls with g and the rounded difference
    falls with `near`, so the steps that gain come first, and a farther point takes no fewer of them.
    """
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead, after = near[ours], far[theirs], above[ours], below[theirs]
        g, half = 0, away.size / 2
        for i in range(close.size):
            while g < away.size and half * drop[g] > away[g] - close[i]:
                after[g] = close.size - i
                g += 1
            ahead[i] = g
            loss[query] += (1.0 - discount[g]) / close.size
    return loss, above, below


@dataclass(frozen=True)
class SNDCG(Ranking):
    """Simplified NDCG, paper eq. (sndcg): the mean NDCG of lists of one relevant and all irrelevant points.

    score = 1/P * sum_i S(1 + g_i), S(j) = 1 / log2(1 + j), with g_i the irrelevant points before relevant i.
    The sum has one term a relevant point, and S is convex: the search is one merge.

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

    def score(self, relevant):
        """Return the mean discount of the relevant points; 1.0 where there is none.

        Parameters
        ----------
        relevant : bool array (n,), in ranking order, nearest first; ValueError for anything else
        """
        flags = as_flags(relevant)
        if not flags.any():
            return 1.0
        return float(np.mean(1.0 / np.log2(2.0 + np.cumsum(~flags)[flags])))

    def most_violated(self, near, far, near_ptr, far_ptr):
        """`pieces.Ranking.most_violated` for this measure.

        Cost a query: O(n), and a sort unless the distances ascend.
        """
        queries = as_queries(near, far, near_ptr, far_ptr)
        places = np.arange(2.0, 3.0 + np.diff(queries[3]).max(initial=0))  # 1 + j for places j to N + 1
        logs = np.log2(places)
        drop = np.log2(1.0 + 1.0 / places[:-1]) / (logs[:-1] * logs[1:])  # S(j) - S(j + 1) without cancellation
        return search(violate_sndcg, queries, 1.0 / logs, drop)
