"""Average precision over the whole ranking."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from structhash.objectives.rankings._queries import as_flags, as_queries, count_after, least_gain, search
from structhash.objectives.rankings.base import Ranking


@njit(cache=True, nogil=True)
def best_ahead(near, far):
    """Maximise sum_i N/2 g_i / (i + g_i) - sum_(k <= g_i) (far_k - near_i) over 0 <= g_1 <= ... <= g_P <= N.

    Each term is concave in g_i, so the points with g_i > m in the solution are exactly those i >= cut whose
    steps from m to m + 1 have the largest sum (the shortest of such tails): halve [0, N] until every point has
    its g_i. It costs O(P log N). The points need the chain: their own maximisers do not grow with i.
    """
    half, tolerance = far.size / 2, least_gain(near, far)
    low, high = np.zeros(near.size, np.int64), np.full(near.size, far.size)
    start = 0
    while start < near.size:
        if low[start] == high[start]:
            start += 1
            continue
        stop, m = start + 1, (low[start] + high[start]) // 2
        while stop < near.size and high[stop] == high[start]:
            stop += 1
        cut, top, total = stop, 0.0, 0.0
        for i in range(stop, start, -1):  # i counts from 1
            total += half * i / ((i + m) * (i + m + 1)) - (far[m] - near[i - 1])
            if total > top + tolerance:
                cut, top = i - 1, total
        high[start:cut] = m
        low[cut:stop] = m + 1
    return low


@njit(cache=True, nogil=True)
def violate_average_precision(near, far, near_ptr, far_ptr):
    """Run `best_ahead` on each query."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead = near[ours], far[theirs], above[ours]
        if close.size == 0 or away.size == 0:
            continue
        ahead[:] = best_ahead(close, away)
        for i in range(close.size):
            loss[query] += ahead[i] / (1 + i + ahead[i]) / close.size
        count_after(ahead, below[theirs])
    return loss, above, below


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

    def score(self, relevant):
        """Return the mean precision at the places of the relevant points; 1.0 where there is none.

        Parameters
        ----------
        relevant : bool array (n,), in ranking order, nearest first; ValueError for anything else
        """
        places = 1 + np.flatnonzero(as_flags(relevant))
        if not places.size:
            return 1.0
        return float(np.mean(np.arange(1, places.size + 1) / places))

    def most_violated(self, near, far, near_ptr, far_ptr):
        """`pieces.Ranking.most_violated` for this measure.

        Cost a query: O(N + P log N), and a sort unless the distances ascend.
        Where sums of rounded distances are compared, a strict gain is one above 1e-12 * max(1, their spread).
        """
        return search(violate_average_precision, as_queries(near, far, near_ptr, far_ptr))
