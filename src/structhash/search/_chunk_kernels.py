"""Kernels of multi-index hashing: codes found by the values of their chunks.

A chunk is a run of bits inside one word. A code at distance d differs from the query in at most floor(d / m)
bits of one of m chunks. Levels a = 0, 1, ... look up all values of a chunk that differ in a bits, one chunk
after the other. After level a of chunk j (from 0), every code within a m + j is found: one that is not differs
in a + 1 bits or more of j + 1 chunks, and in a or more of the others.
"""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount

__all__ = ["nearest_by_chunks", "within_by_chunks"]

_SHIFT = np.int64(32)  # a key is a distance before a row, so that keys sort by (distance, row)
_ROW = np.int64(0xFFFFFFFF)
_ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def _gather(query, after, words, places, starts, rows, r, k, most, keys, counts):
    """Write keys of codes with a row above `after`: all within r, or enough to hold the k nearest.

    Parameters
    ----------
    query, words : uint64 (w,), (n, w)
    places, starts, rows, most
        Fields of `Chunks`.
    keys, counts : int64 (at least most,), (n_bits + 1,)
        Both are overwritten.

    Returns
    -------
    int
        Number of keys, each code at most once; -1 if there is more to look at.
    """
    n_chunks, size, work = len(places), 0, 0
    counts[:] = 0
    for level in range(places[:, 2].max() + 1):
        for j in range(n_chunks):
            low, n_values = np.uint64(places[j, 1]), np.int64(1) << places[j, 2]
            own = np.int64((query[places[j, 0]] >> low) & np.uint64(n_values - 1))
            flips = (np.int64(1) << level) - 1
            while flips < n_values:
                value = places[j, 3] + (own ^ flips)
                work += 1 + starts[value + 1] - starts[value]
                if work > most:
                    return -1
                for place in range(starts[value], starts[value + 1]):
                    row = np.int64(rows[j, place])
                    if row <= after:
                        continue
                    apart = _new_distance(query, words[row], places, level, j)
                    if 0 <= apart <= r:
                        keys[size] = (apart << _SHIFT) | row
                        counts[apart] += 1
                        size += 1
                if flips == 0:
                    break
                lowest = flips & -flips  # the next number with as many bits set
                ripple = flips + lowest
                flips = (((flips ^ ripple) >> 2) // lowest) | ripple
            reached = level * n_chunks + j
            if reached >= r or counts[: reached + 1].sum() >= k:
                return size
    return size


@njit(cache=True, nogil=True)
def _new_distance(query, code, places, level, j):
    """Distance of a code that chunk j finds at a level; -1 if an earlier level or chunk has found it."""
    apart = np.int64(0)
    for i in range(len(places)):
        mask = (_ONE << np.uint64(places[i, 2])) - _ONE
        differing = (query[places[i, 0]] ^ code[places[i, 0]]) >> np.uint64(places[i, 1])
        bits = np.int64(popcount(differing & mask))
        if bits < level or (bits == level and i < j):
            return np.int64(-1)
        apart += bits
    return apart


@njit(cache=True, nogil=True)
def nearest_by_chunks(queries, words, places, starts, rows, most, distances, found, is_found):
    """Write the k nearest codes of each query by (distance, row), and whether they were found.

    Parameters
    ----------
    queries : uint64 (n_queries, w)
    words, places, starts, rows, most
        Fields of `Chunks`.
    distances : int32 (n_queries, k)
    found : int64 (n_queries, k)
    is_found : bool (n_queries,)
        All three are overwritten; k is at most n.
    """
    k, n_bits = distances.shape[1], places[:, 2].sum()
    keys, counts = np.empty(most, np.int64), np.empty(n_bits + 1, np.int64)
    for q in range(len(queries)):
        size = _gather(queries[q], -1, words, places, starts, rows, n_bits, k, most, keys, counts)
        is_found[q] = size >= k
        if is_found[q]:
            farthest, n_near = 0, counts[0]
            while n_near < k:
                farthest += 1
                n_near += counts[farthest]
            near = 0
            for i in range(size):
                if keys[i] >> _SHIFT <= farthest:
                    keys[near] = keys[i]
                    near += 1
            nearest = np.sort(keys[:near])
            for i in range(k):
                distances[q, i], found[q, i] = nearest[i] >> _SHIFT, nearest[i] & _ROW


@njit(cache=True, nogil=True)
def within_by_chunks(queries, first, after, words, places, starts, rows, most, r, lims, distances, found):
    """Write all codes within r of queries from number `first` on, while there is room; return the next.

    Parameters
    ----------
    queries : uint64 (n_queries, w)
    first : int
    after : int64 (n_queries,)
        Codes up to this row are left out.
    words, places, starts, rows, most
        Fields of `Chunks`. Where there is more to look at, all codes are compared.
    r : int
    lims : int64 (n_queries + 1,)
        Query q owns places lims[q] to lims[q + 1]; lims[first] is 0.
    distances : int32 (room,)
    found : int64 (room,)
        All three are overwritten; room is at least n.

    Returns
    -------
    int
    """
    n, n_bits = len(words), places[:, 2].sum()
    keys, counts = np.empty(n, np.int64), np.empty(n_bits + 1, np.int64)
    lims[first] = 0
    for q in range(first, len(queries)):
        size = _gather(queries[q], after[q], words, places, starts, rows, r, n + 1, most, keys, counts)
        if size < 0:
            size = 0
            for row in range(after[q] + 1, n):
                apart = np.int64(0)
                for j in range(words.shape[1]):
                    apart += popcount(queries[q, j] ^ words[row, j])
                if apart <= r:
                    keys[size] = (apart << _SHIFT) | row
                    size += 1
        if lims[q] + size > len(found):
            return q
        nearest = np.sort(keys[:size])
        for i in range(size):
            distances[lims[q] + i], found[lims[q] + i] = nearest[i] >> _SHIFT, nearest[i] & _ROW
        lims[q + 1] = lims[q] + size
    return len(queries)
