"""Kernels of `NDCG`; the search of one query is in `_chain`."""

import numpy as np

from structhash._numerics.kernels import njit
from structhash.objectives.rankings._chain import best_chain, shifted_sums
from structhash.objectives.rankings._counts import count_after


@njit(cache=True, nogil=True)
def total_discount(k):
    """Sum of the discounts of the places 1 to k, without an array of that size."""
    total = 1.0
    for place in range(2, k + 1):
        total += 1.0 / np.log2(place)
    return total


@njit(cache=True, nogil=True)
def violate_ndcg(near, far, near_ptr, far_ptr, discount, total, k, longest):
    """Run `best_chain` on each query; `total[P]` is the normaliser Z of a query with P relevant points."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    scale, scaled, sums = 0.0, np.empty(discount.size), np.empty(discount.size + 1)
    room, blocks = np.empty((6, longest + 1)), np.empty((4, longest), np.int64)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead = near[ours], far[theirs], above[ours]
        if close.size == 0 or away.size == 0:
            continue
        if scale != close.size * away.size / (2 * total[close.size]):  # most queries are of one size
            scale = close.size * away.size / (2 * total[close.size])
            shifted_sums(discount * scale, 0.0, scaled, sums)
        best_chain(close, away, scaled, sums, k, ahead, room, blocks)
        gain = 0.0
        for i in range(min(k, ahead.size)):
            if i + ahead[i] < k:
                gain += discount[i + ahead[i]]
        loss[query] = 1.0 - gain / total[ahead.size]
        count_after(ahead, below[theirs])
    return loss, above, below
