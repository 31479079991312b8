"""Sort values stably in numba kernels that are fast on short lists and on sorted lists."""

import numpy as np

from structhash._numerics.kernels import njit

__all__ = ["ascends", "fill_sorted", "lists_ascend", "sort_lists", "stable_sort", "unsort_lists"]

_MAX_COUNTED = 256  # values; up to here counting the smaller values is faster than a merge sort


@njit(cache=True, nogil=True)
def ascends(values):
    """Return True if no value is below the value before it."""
    descents = 0
    for j in range(1, values.size):  # without an early exit the loop is vectorised
        descents += values[j] < values[j - 1]
    return descents == 0


@njit(cache=True, nogil=True)
def fill_sorted(values, order, ranked, taken):
    """Write the stable ascending order of `values` (n,) to `order` (n,) and values[order] to `ranked` (n,).

    `taken`, int64 (_MAX_COUNTED,), is scratch. The ranks of a short list are counted, which is vectorised.
    """
    n = values.size
    if ascends(values):
        for j in range(n):
            order[j], ranked[j] = j, values[j]
    elif n > _MAX_COUNTED:
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
    """Return (order, values[order]) of the stable ascending order."""
    order, ranked = np.empty(values.size, np.int64), np.empty(values.size)
    fill_sorted(values, order, ranked, np.empty(_MAX_COUNTED, np.int64))
    return order, ranked


@njit(cache=True, nogil=True)
def lists_ascend(values, ptr):
    """Return True if each list values[ptr[i]:ptr[i + 1]] ascends."""
    i = 1
    while i < ptr.size and ascends(values[ptr[i - 1] : ptr[i]]):
        i += 1
    return i >= ptr.size


@njit(cache=True, nogil=True)
def sort_lists(values, ptr):
    """Return the `stable_sort` of each list values[ptr[i]:ptr[i + 1]]; its `order` counts from its start."""
    order, ranked, taken = (
        np.empty(values.size, np.int64),
        np.empty(values.size),
        np.empty(_MAX_COUNTED, np.int64),
    )
    for i in range(ptr.size - 1):
        ours = slice(ptr[i], ptr[i + 1])
        fill_sorted(values[ours], order[ours], ranked[ours], taken)
    return order, ranked


@njit(cache=True, nogil=True)
def unsort_lists(ranked, order, ptr):
    """Return the values whose `sort_lists` is (order, ranked); both arrays may have any dtype."""
    values = np.empty_like(ranked)
    for i in range(ptr.size - 1):
        first = np.uint64(ptr[i])  # an unsigned index is not tested for negative values
        for j in range(first, np.uint64(ptr[i + 1])):
            values[first + np.uint64(order[j])] = ranked[j]
    return values
