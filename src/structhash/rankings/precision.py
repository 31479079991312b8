"""Precision at k."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from structhash._sort import stable_sort
from structhash.rankings._queries import as_flags, as_queries, check_cut, least_gain, place_counts


@njit(cache=True, nogil=True)
def best_hits(near, far, k, free, prefix):
    """Return how many relevant points the most violated ranking has among its first k; the most of equals.

    With `hits` of them there, they have at most m = min(N, k - hits) irrelevant points ahead and the others at
    least m. `free`, the places that suit the margin alone, ascend, so only those around number `hits` move, to
    m, and each pays its pairs between: sum |far - near|.
    """
    n_near, n_far = near.size, far.size
    gain, tolerance = n_near * n_far / (2 * k), least_gain(near, far)
    best, top = -1, 0.0
    for hits in range(min(k, n_near), min(n_near, max(0, k - n_far)) - 1, -1):
        m, value = min(n_far, k - hits), -gain * hits
        i = hits - 1
        while i >= 0 and free[i] > m:
            value -= (free[i] - m) * near[i] - (prefix[free[i]] - prefix[m])
            i -= 1
        i = hits
        while i < n_near and free[i] < m:
            value -= prefix[m] - prefix[free[i]] - (m - free[i]) * near[i]
            i += 1
        if best < 0 or value > top + tolerance:
            best, top = hits, value
    return best


@njit(cache=True, nogil=True)
def violate_precision(near, far, near_ptr, far_ptr, k):
    """Place each point by the margin alone, then by the `best_hits`: as far as its side of place k allows."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        near_order, close = stable_sort(near[ours])
        far_order, away = stable_sort(far[theirs])
        if close.size == 0 or away.size == 0:
            continue
        ahead = np.searchsorted(away, close)
        origin = close[0]  # sums stay small and ties stay ties
        prefix = np.append(np.zeros(1), np.cumsum(away - origin))
        hits = best_hits(close - origin, away - origin, k, ahead, prefix)
        m = min(away.size, k - hits)
        ahead[:hits] = np.minimum(ahead[:hits], m)
        ahead[hits:] = np.maximum(ahead[hits:], m)
        loss[query] = 1.0 - hits / k
        place_counts(ahead, near_order, far_order, above[ours], below[theirs])
    return loss, above, below


@dataclass(frozen=True)
class Precision:
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

        Cost a query: a sort and at most O(P min(k, P)), each number of hits being tried.
        Where sums of rounded distances are compared, a strict gain is one above 1e-12 * max(1, their spread).
        """
        return violate_precision(*as_queries(near, far, near_ptr, far_ptr), min(int(self.k), 2**62))
