"""The exact search for the most violated ranking under NDCG@k.

A ranking is a chain 0 <= g_1 <= ... <= g_P <= N: g_i irrelevant points precede the i-th nearest relevant one.
In units of 2/(P N) it is worth sum_i g_i near_i - (far_1 + ... + far_(g_i)) - D(i + g_i), with
D = P N / (2 Z) S, but 0 past place k.

Suppose that a relevant points are among the first k. The others keep at least m = k - a irrelevant ones ahead
and lose all discount, so their best is g_i = max(m, #{far < near_i}). The a points have at most m ahead, where
D counts as if there were no cut. Then D is convex except that D(1) = D(2). The terms are concave in g_i both
with g_1 = 0 and the other points free (`start` = 1) and with all g_i >= 1 (`start` = 0). So the best chain of
the first a points follows from pooling neighbours, as in isotonic regression, with prefix sums for the worth of
a block; the bound m only cuts the chain off at m. Every a is tried, with both starts unless the first one
surely loses. This costs O(P + N) in all, except for neighbours that have to move far down together.
"""

import numpy as np

from structhash._numerics.kernels import njit

CUTS_PER_CHECK = 4  # numbers a that are tried before `none_above` looks at all the others


@njit(cache=True, nogil=True)
def shifted_sums(values, origin, shifted, sums):
    """Write values - origin to `shifted` and their prefix sums 0, shifted[0], ... to `sums`."""
    total = sums[0] = 0.0
    for i in range(values.size):
        shifted[i] = values[i] - origin
        total += shifted[i]
        sums[i + 1] = total


@njit(cache=True, nogil=True)
def first_falls(n_near, far, discount, tolerance):
    """Return whether every chain with g_1 = 0 surely has a better one; it need not be tried then.

    If other points have g = 0 too, raise all of these to 1; else raise g_1 and those with g = 1 to 2. Because
    0 <= near and far_1 <= far_2, that gains at least D(1) - D(j + 2) - far_1 - j far_2 for some 1 <= j <= P.
    The bound is concave in j, so its two ends decide. (A cut of D only adds to the gain.)
    """
    if far.size < 2:
        return False
    lead, last = discount[0] - far[0] - tolerance, min(n_near + 1, discount.size - 1)
    return lead - discount[2] > far[1] and lead - discount[last] > n_near * far[1]


@njit(cache=True, nogil=True)
def pool(start, stop, top, near, far, discount, sums, chain, tolerance):
    """Find the best chain of the points start, ..., row with 1 - start <= g <= top, for every row < stop.

    Its last block is the points first[row], ..., row behind g = place[row], the smallest g from which one step
    more gains nothing; the blocks before are those of row first[row] - 1. value[row + 1] is its worth, and
    value[start] that of the points before `start`. `sums` are the prefix sums of near, far and discount.
    """
    (near_sum, far_sum, discount_sum), (first, place, value) = sums, chain
    g = 1 - start
    for row in range(start, stop):
        begin, floor = row, g
        while g < top and discount[row + g] - discount[row + g + 1] > far[g] - near[row]:
            g += 1
        while g == floor and begin > start:  # the best g of the point is at most the block's: join it
            begin = first[begin - 1]
            floor = 1 - start if begin == start else place[begin - 1]
            size, total = row + 1 - begin, near_sum[row + 1] - near_sum[begin] - tolerance
            while g > floor and discount[begin + g - 1] - discount[row + g] <= size * far[g - 1] - total:
                g -= 1
        first[row], place[row] = begin, g
        worth = g * (near_sum[row + 1] - near_sum[begin]) - (row + 1 - begin) * far_sum[g]
        value[row + 1] = value[begin] + worth - (discount_sum[row + 1 + g] - discount_sum[begin + g])


@njit(cache=True, nogil=True)
def best_cut(start, k, free, rest, sums, chain, tolerance, top):
    """Return (a, its worth) of the best number of relevant points in the first k; the most of equals.

    a = -1, with `top`, unless one is worth more than `top`. free[i] is #{far < near_i}, or more where no m is
    less; rest[i] is what the points i, ..., P - 1 are worth at `free`.
    """
    (near_sum, far_sum, discount_sum), (first, place, value) = sums, chain
    n_near, n_far = near_sum.size - 1, far_sum.size - 1
    best, tail = -1, 0
    for a in range(min(k, n_near), start - 1, -1):
        m = min(n_far, k - a)
        if a < n_near and m < k - a:
            break
        if m + start == 0:
            continue
        while tail < n_near and free[tail] < m:
            tail += 1
        if (
            tail == n_near
            and (n_near - a) % CUTS_PER_CHECK == 1
            and none_above(top, start, a, k, value, near_sum, far_sum)
        ):
            break
        end = max(a, tail)
        others = m * (near_sum[end] - near_sum[a]) - (end - a) * far_sum[m] + rest[end]
        if value[a] + others <= top:  # the bound m can only lower value[a]
            continue
        row = a
        while row > start and place[row - 1] > m:
            row = first[row - 1]
        worth = value[row] + m * (near_sum[a] - near_sum[row]) - (a - row) * far_sum[m] + others
        worth -= discount_sum[a + m] - discount_sum[row + m]
        if worth > top + tolerance:
            best, top = a, worth
    return best, top


@njit(cache=True, nogil=True)
def none_above(limit, start, stop, k, value, near_sum, far_sum):
    """Return whether no a <= stop points are worth more with all others behind k - a irrelevant ones each."""
    above, n_near = 0, near_sum.size - 1
    for a in range(max(start, k + 1 - far_sum.size), stop + 1):  # no early exit: it vectorises
        others = (k - a) * (near_sum[n_near] - near_sum[a]) - (n_near - a) * far_sum[k - a]
        above += value[a] + others > limit
    return above == 0


@njit(cache=True, nogil=True)
def place_freely(near, far, far_sum, lowest, free, rest):
    """Write free[i] = max(lowest, #{far < near_i}) and the sums of worth `rest` that `best_cut` needs."""
    g, total = lowest, 0.0
    for i in range(near.size):
        while g < far.size and far[g] < near[i]:
            g += 1
        free[i] = g
    rest[near.size] = 0.0
    for i in range(near.size - 1, -1, -1):
        total += free[i] * near[i] - far_sum[free[i]]
        rest[i] = total


@njit(cache=True, nogil=True)
def best_chain(near, far, discount, discount_sum, k, ahead, room, blocks):
    """Write the smallest of the best chains to `ahead`; `near` and `far` ascend.

    `discount` is D without the cut and `discount_sum` its prefix sums. `room`, float64 of at least
    (6, max(P, N) + 1), and `blocks`, int64 of at least (4, P), are scratch.
    """
    n_near, n_far = near.size, far.size
    close, near_sum = room[0, :n_near], room[1, : n_near + 1]
    away, far_sum = room[2, :n_far], room[3, : n_far + 1]
    shifted_sums(near, near[0], close, near_sum)  # sums stay small and ties stay ties
    shifted_sums(far, near[0], away, far_sum)
    sums, value, rest = (near_sum, far_sum, discount_sum), room[4], room[5]
    stop, top = min(k, n_near), min(k - 1, n_far)
    place_freely(close, away, far_sum, min(n_far, k - stop), ahead, rest)

    tolerance = 0.5e-12 * n_near * n_far * max(-away[0], away[-1], close[-1], 1.0)
    cut, best, worth = 0, 0, -np.inf
    for start in range(0 if first_falls(n_near, away, discount, tolerance) else 1, -1, -1):
        chain = (blocks[2 * start], blocks[2 * start + 1], value)
        value[start] = -start * discount[0]
        if top + start > 0:
            pool(start, stop, top, close, away, discount, sums, chain, tolerance)
        a, worth = best_cut(start, k, ahead, rest, sums, chain, tolerance, worth)
        if a >= 0:
            cut, best = a, start

    first, place, m = blocks[2 * best], blocks[2 * best + 1], min(n_far, k - cut)
    for i in range(cut, n_near):
        ahead[i] = max(m, ahead[i])
    row = cut
    while row > best:
        ahead[first[row - 1] : row] = min(m, place[row - 1])
        row = first[row - 1]
    ahead[:best] = 0
