"""The exact programme of measures that count the first k places."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def term(row, g, near, prefix, discount):
    """What relevant point `row` adds to the objective behind g irrelevant ones, in units of 2/(P N)."""
    return g * near[row] - prefix[g] - discount[row + g]


@njit(cache=True, nogil=True)
def best_place(row, low, high, near, far, prefix, discount, k, tolerance):
    """Return the smallest g in [low, high] with the largest `term`.

    On each of the places {1}, {2, ..., k} and {k + 1, ...} the term is concave in g (its steps
    discount[row + g] - discount[row + g + 1] - (far_g - near) fall), so bisection finds the best of each.
    """
    best, top, first = -1, 0.0, 0
    for last in (0, k - 1, discount.size):
        left, right = max(low, first - row), min(high, last - row)
        first = last + 1
        if left > right:
            continue
        while left < right:
            middle = (left + right) // 2
            if discount[row + middle] - discount[row + middle + 1] > far[middle] - near[row]:
                left = middle + 1
            else:
                right = middle
        value = term(row, left, near, prefix, discount)
        if best < 0 or value > top + tolerance:
            best, top = left, value
    return best


@njit(cache=True, nogil=True)
def best_chain(near, far, discount, k):
    """Maximise sum_i term(i, g_i) over 0 <= g_1 <= ... <= g_P <= N exactly; the smallest of the solutions.

    upper_i = best g >= upper_(i-1) and, backwards, lower_i = best g <= lower_(i+1) bracket it: min(g, upper)
    and max(g, lower) are chains too and lose nothing. In the bracket, often one place wide, runs
    V_i(g) = term(i, g) + max_(h <= g) V_(i-1)(h). `near` and `far` ascend, with `near[0]` = 0.
    """
    n_near, n_far = near.size, far.size
    tolerance = 0.5e-12 * n_near * n_far * max(-far[0], far[-1], near[-1], 1.0)
    prefix = np.append(np.zeros(1), np.cumsum(far))
    upper, lower = np.empty(n_near, np.int64), np.empty(n_near, np.int64)
    start = np.zeros(n_near + 1, np.int64)
    bound = 0
    for row in range(n_near):
        bound = best_place(row, bound, n_far, near, far, prefix, discount, k, tolerance)
        upper[row] = bound
    for row in range(n_near - 1, -1, -1):
        bound = best_place(row, 0, min(bound, upper[row]), near, far, prefix, discount, k, tolerance)
        lower[row] = bound
    for row in range(n_near):
        start[row + 1] = start[row] + upper[row] - lower[row] + 1
    if start[n_near] == n_near:
        return upper
    best = np.empty(start[n_near])  # of row i behind at most g: best[start[i] + g - lower[i]]
    for row in range(n_near):
        top = -np.inf
        for g in range(lower[row], upper[row] + 1):
            value = term(row, g, near, prefix, discount)
            if row > 0:
                value += best[start[row - 1] + min(g, upper[row - 1]) - lower[row - 1]]
            if value > top + tolerance:
                top = value
            best[start[row] + g - lower[row]] = top
    for row in range(n_near - 1, -1, -1):
        bound = upper[row] if row == n_near - 1 else min(bound, upper[row])
        cell = start[row] - lower[row]
        while bound > lower[row] and best[cell + bound - 1] == best[cell + bound]:
            bound -= 1
        upper[row] = bound
    return upper
