"""A stable sort that is fast on the short lists of one query, and on sorted ones."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ascends(values):
    """Return whether no value is below the one before it."""
    descents = 0
    for j in range(1, values.size):  # no early exit: it vectorises
        descents += values[j] < values[j - 1]
    return descents == 0


@njit(cache=True, nogil=True)
def fill_sorted(values, order, ranked, taken):
    """Write the stable order of the values, ascending, to `order`, and values[order] to `ranked`.

    Up to 256 values, counting the smaller ones, which vectorises, is faster than a merge sort; `taken`, int64
    of at least that size, is scratch.
    """
    n = values.size
    if ascends(values):
        for j in range(n):
            order[j], ranked[j] = j, values[j]
    elif n > 256:
        order[:] = np.argsort(values, kind="mergesort")
        ranked[:] = values[order]
    else:
        taken[:n] = 0
        for j in range(n):
            rank = 0
            for m in range(n):
                rank += values[m] < values[j]
            order[rank + taken[rank]] = j
            ranked[rank + taken[rank]] = values[j]
            taken[rank] += 1


@njit(cache=True, nogil=True)
def stable_sort(values):
    """Return (order, values[order]), ascending, equal values in the order they came."""
    order, ranked = np.empty(values.size, np.int64), np.empty(values.size)
    fill_sorted(values, order, ranked, np.empty(256, np.int64))
    return order, ranked


@njit(cache=True, nogil=True)
def lists_ascend(values, ptr):
    """Return whether each list values[ptr[i]:ptr[i + 1]] ascends."""
    i = 1
    while i < ptr.size and ascends(values[ptr[i - 1] : ptr[i]]):
        i += 1
    return i >= ptr.size


@njit(cache=True, nogil=True)
def sort_lists(values, ptr):
    """`stable_sort` of each list values[ptr[i]:ptr[i + 1]]; `order` counts from its start."""
    order, ranked, taken = np.empty(values.size, np.int64), np.empty(values.size), np.empty(256, np.int64)
    for i in range(ptr.size - 1):
        ours = slice(ptr[i], ptr[i + 1])
        fill_sorted(values[ours], order[ours], ranked[ours], taken)
    return order, ranked


@njit(cache=True, nogil=True)
def unsort_lists(ranked, order, ptr):
    """Return the values whose `sort_lists` is (order, ranked); of any dtype, as are the orders."""
    values = np.empty_like(ranked)
    for i in range(ptr.size - 1):
        first = np.uint64(ptr[i])  # unsigned places spare a test for negative ones
        for j in range(first, np.uint64(ptr[i + 1])):
            values[first + np.uint64(order[j])] = ranked[j]
    return values
