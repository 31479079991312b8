"""Reciprocal rank of the first relevant point."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from structhash.objectives.rankings._queries import as_flags, as_queries, count_after, least_gain, search
from structhash.objectives.rankings.base import Ranking


@njit(cache=True, nogil=True)
def first_ahead(near, far):
    """Return how many irrelevant points the most violated ranking has before its first relevant one.

    The m-th of them gains P N / 2 * (1/m - 1/(m + 1)) and moves ahead of the first relevant point and of those
    it is not nearer than; the gain falls with m and the price rises, so the steps that gain come first.
    """
    tolerance = least_gain(near, far)
    passed, total = 1, 0.0  # relevant points that the next one moves ahead of, sum of their near - near[0]
    for g in range(far.size):
        while passed < near.size and near[passed] <= far[g]:
            total += near[passed] - near[0]
            passed += 1
        price = passed * (far[g] - near[0]) - total
        if near.size * far.size / (2.0 * (g + 1) * (g + 2)) - price <= tolerance:
            return g
    return far.size


@njit(cache=True, nogil=True)
def violate_reciprocal_rank(near, far, near_ptr, far_ptr):
    """Place each point by the margin alone, but none before `first_ahead`."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead = near[ours], far[theirs], above[ours]
        if close.size == 0 or away.size == 0:
            continue
        first = first_ahead(close, away)
        g = first
        for i in range(close.size):
            while g < away.size and away[g] < close[i]:
                g += 1
            ahead[i] = g
        loss[query] = first / (1.0 + first)
        count_after(ahead, below[theirs])
    return loss, above, below


@dataclass(frozen=True)
class ReciprocalRank(Ranking):
    """Reciprocal rank: one over the place of the first relevant point.

    score = 1 / (1 + g_1), with g_1 the irrelevant points before the first relevant one. Its mean over queries
    is MRR. The search is one merge: the other relevant points only have to stay behind the first.

    References
    ----------
    Chakrabarti et al., Structured learning for non-smooth ranking losses, doi:10.1145/1401890.1401906.

    Examples
    --------
    >>> ReciprocalRank().score([False, True, True])
    0.5
    >>> ReciprocalRank().most_violated([0.0, 2.0], [0.5, 3.0], [0, 2], [0, 2])
    (array([0.5]), array([1, 1], dtype=int32), array([2, 0], dtype=int32))
    """

    def score(self, relevant):
        """Return one over the place of the first relevant point; 1.0 where there is none.

        Parameters
        ----------
        relevant : bool array (n,), in ranking order, nearest first; ValueError for anything else
        """
        flags = as_flags(relevant)
        return 1.0 / (1.0 + int(flags.argmax())) if flags.any() else 1.0

    def most_violated(self, near, far, near_ptr, far_ptr):
        """`pieces.Ranking.most_violated` for this measure.

        Cost a query: O(n), and a sort unless the distances ascend.
        Where sums of rounded distances are compared, a strict gain is one above 1e-12 * max(1, their spread).
        """
        return search(violate_reciprocal_rank, as_queries(near, far, near_ptr, far_ptr))
