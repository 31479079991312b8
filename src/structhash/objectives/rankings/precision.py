"""Precision at k."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from structhash.objectives.rankings._queries import (
    as_flags,
    as_queries,
    check_cut,
    count_after,
    least_gain,
    search,
)
from structhash.objectives.rankings.base import Ranking


@njit(cache=True, nogil=True)
def best_hits(near, far, k, free, near_sum, far_sum, worth):
    """Return how many relevant points the most violated ranking has among its first k; the most of equals.

    With `hits` of them there, they have at most m = min(N, k - hits) irrelevant points ahead and the others at
    least m. `free`, the places that suit the margin alone, ascend, so only those around number `hits` move, to
    m. Prefix sums give what the points moved are worth there and, in `worth`, at `free`.
    """
    n_near, n_far = near.size, far.size
    gain, tolerance = n_near * n_far / (2 * k), least_gain(near, far)
    best, top, before, upto = -1, 0.0, 0, 0  # points with free < m, with free <= m
    near_sum[0] = far_sum[0] = worth[0] = 0.0
    for g in range(n_far):
        far_sum[g + 1] = far_sum[g] + (far[g] - near[0])  # sums stay small
    for i in range(n_near):
        near_sum[i + 1] = near_sum[i] + (near[i] - near[0])
        worth[i + 1] = worth[i] + (free[i] * (near[i] - near[0]) - far_sum[free[i]])
    for hits in range(min(k, n_near), min(n_near, max(0, k - n_far)) - 1, -1):
        m = min(n_far, k - hits)
        while before < n_near and free[before] < m:
            before += 1
        while upto < n_near and free[upto] <= m:
            upto += 1
        i, j = min(hits, upto), max(hits, before)
        value = m * (near_sum[j] - near_sum[i]) - (j - i) * far_sum[m] - (worth[j] - worth[i]) - gain * hits
        if best < 0 or value > top + tolerance:
            best, top = hits, value
    return best


@njit(cache=True, nogil=True)
def violate_precision(near, far, near_ptr, far_ptr, k):
    """Place each point by the margin alone, then by the `best_hits`: as far as its side of place k allows."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    near_sum, far_sum, worth = np.empty(near.size + 1), np.empty(far.size + 1), np.empty(near.size + 1)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead = near[ours], far[theirs], above[ours]
        if close.size == 0 or away.size == 0:
            continue
        g = 0
        for i in range(close.size):
            while g < away.size and away[g] < close[i]:
                g += 1
            ahead[i] = g
        hits = best_hits(close, away, k, ahead, near_sum, far_sum, worth)
        m = min(away.size, k - hits)
        for i in range(close.size):
            ahead[i] = min(ahead[i], m) if i < hits else max(ahead[i], m)
        loss[query] = 1.0 - hits / k
        count_after(ahead, below[theirs])
    return loss, above, below


@dataclass(frozen=True)
class Precision(Ranking):
    """Precision at k: the share of relevant points among the first k places.

    score = 1/k * sum_(i <= k) [i-th point relevant]    (paper, source of "Ranking measures").
    The divisor is k always: the perfect ranking of P < k relevant points scores P / k, and has a loss.
    Only the first k of N irrelevant points can cost: with k far below N, training wants a larger C.

    Parameters
    ----------
    k : int >= 1, the last place that counts

    Raises
    ------
    ValueError : if k is not allowed

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

    def __post_init__(self):
        check_cut(self.k)

    def score(self, relevant):
        """Return the share of the first k places; 1.0 where all points are of one kind.

        Parameters
        ----------
        relevant : bool array (n,), in ranking order, nearest first; ValueError for anything else
        """
        flags = as_flags(relevant)
        if flags.all() or not flags.any():
            return 1.0
        return float(np.count_nonzero(flags[: self.k]) / self.k)

    def most_violated(self, near, far, near_ptr, far_ptr):
        """`pieces.Ranking.most_violated` for this measure.

        Cost a query: O(P + N), each number of hits being tried, and a sort unless the distances ascend.
        Where sums of rounded distances are compared, a strict gain is one above 1e-12 * max(1, their spread).
        """
        return search(violate_precision, as_queries(near, far, near_ptr, far_ptr), min(int(self.k), 2**62))
