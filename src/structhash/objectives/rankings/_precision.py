"""Kernels of `Precision`."""

import numpy as np

from structhash._numerics.kernels import njit
from structhash.objectives.rankings._counts import count_after, least_gain


@njit(cache=True, nogil=True)
def best_hits(near, far, k, free, near_sum, far_sum, worth):
    """Return how many relevant points the most violated ranking has among its first k; the most of equals.

    With `hits` of them there, these have at most m = min(N, k - hits) irrelevant points ahead, and the others
    have at least m. The places `free`, best for the margin alone, ascend. So only those around number `hits`
    move, to m. Prefix sums give what the moved points are worth at m and, in `worth`, at `free`.
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
    """Place each point by the margin alone, then move it to the side of place k that `best_hits` chooses."""
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
