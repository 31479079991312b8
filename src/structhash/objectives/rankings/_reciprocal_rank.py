"""Kernels of `ReciprocalRank`."""

import numpy as np

from structhash._numerics.kernels import njit
from structhash.objectives.rankings._counts import count_after, least_gain


@njit(cache=True, nogil=True)
def first_ahead(near, far):
    """Return how many irrelevant points the most violated ranking has before its first relevant one.

    The m-th of them gains P N / 2 * (1/m - 1/(m + 1)). It moves ahead of the first relevant point and of all
    that are at most as far as itself. The gain falls with m and the price rises, so the steps that gain come
    first.
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
