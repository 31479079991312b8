"""Kernels of `AveragePrecision`."""

import numpy as np

from structhash._numerics.kernels import njit
from structhash.objectives.rankings._counts import count_after, least_gain


@njit(cache=True, nogil=True)
def best_ahead(near, far):
    """Maximise sum_i N/2 g_i / (i + g_i) - sum_(k <= g_i) (far_k - near_i) over 0 <= g_1 <= ... <= g_P <= N.

    Each term is concave in g_i. So the points with g_i > m in the solution are exactly those i >= cut whose
    steps from m to m + 1 have the largest sum (the shortest of such tails). The search halves [0, N] until
    every point has its g_i, which costs O(P log N). The chain matters: the maximisers of single points do not
    grow with i.
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
