"""Kernels of the exhaustive scan: the k nearest codes, by differing bits or by sums of table entries.

Each query keeps its k nearest codes so far in a heap whose root is the farthest by (distance, row). Codes come
in ascending order of their rows, so a code enters only if it is nearer than the root.
"""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount

_CODES_A_BLOCK = 4096  # all queries pass over a block of codes while it is in the cache
_BYTE = np.uint32(255)


@njit(cache=True, nogil=True)
def nearest_by_bits(queries, codes, distances, rows):
    """Write the nearest codes of each query by Hamming distance, as heaps.

    Parameters
    ----------
    queries, codes : uint64 (n_queries, w), (n, w)
    distances : int32 (n_queries, k)
    rows : int64 (n_queries, k)
        Both are overwritten; k is at most n.
    """
    n, width = codes.shape
    k = distances.shape[1]
    found = np.empty(_CODES_A_BLOCK, np.int32)
    near = np.empty(_CODES_A_BLOCK, np.int64)
    for first in range(0, n, _CODES_A_BLOCK):
        size = min(_CODES_A_BLOCK, n - first)
        for q in range(len(queries)):
            if width == 1:  # the common case of 64 bits needs no inner loop
                query = queries[q, 0]
                for i in range(size):
                    found[i] = popcount(query ^ codes[first + i, 0])
            else:
                for i in range(size):
                    count = np.uint64(0)
                    for j in range(width):
                        count += popcount(queries[q, j] ^ codes[first + i, j])
                    found[i] = count
            farthest = distances[q, 0] if first >= k else np.int32(2147483647)
            n_near = 0
            for i in range(size):  # without a branch
                near[n_near] = i
                n_near += found[i] < farthest
            for each in range(n_near):
                i = near[each]
                _offer(distances[q], rows[q], found[i], first + i)


@njit(cache=True, nogil=True)
def nearest_by_tables(base, tables, quick, shift, slack, words, codes, distances, rows):
    """Write the nearest codes of each query by base + the sum of one table entry a byte, as heaps.

    A code is first judged by a float32 sum of the first half of its bytes, which is a lower bound, then by the
    float32 sum of all. Only a code that may be near is summed in float64.

    Parameters
    ----------
    base : float64 (n_queries,)
    tables : float64 (n_queries, n_bytes, 256)
    quick : float32 (n_queries, 4 w, 256)
        The tables, each lowered by its least entry; zeros after the last byte.
    shift, slack : float64 (n_queries,)
        Sum of the least entries; largest error of a quick sum and of its limit.
    words : uint32 (n, w)
        The codes, four bytes a word.
    codes : uint8 (n, n_bytes)
    distances : float32 (n_queries, k)
    rows : int64 (n_queries, k)
        Both are overwritten; k is at most n.
    """
    n, width = codes.shape
    k, n_words = distances.shape[1], words.shape[1]
    half = (n_words + 1) // 2
    found = np.empty(_CODES_A_BLOCK, np.float32)
    near = np.empty(_CODES_A_BLOCK, np.int64)
    for first in range(0, n, _CODES_A_BLOCK):
        size = min(_CODES_A_BLOCK, n - first)
        for q in range(len(base)):
            table = quick[q]
            for i in range(size):
                found[i] = _sum_words(table, words[first + i], 0, half)
            limit = np.float32(np.inf)
            if first >= k:
                limit = np.float32(distances[q, 0] - base[q] - shift[q] + slack[q])
            n_near = 0
            for i in range(size):  # without a branch
                near[n_near] = i
                n_near += found[i] <= limit
            for each in range(n_near):
                i = near[each]
                if found[i] + _sum_words(table, words[first + i], half, n_words) <= limit:
                    total = 0.0
                    for b in range(width):
                        total += tables[q, b, codes[first + i, b]]
                    _offer(distances[q], rows[q], np.float32(base[q] + total), first + i)
                    if first >= k:
                        limit = np.float32(distances[q, 0] - base[q] - shift[q] + slack[q])


@njit(cache=True, nogil=True)
def _sum_words(table, code, start, stop):
    """Sum of the table entries of the words start to stop of one code, float32."""
    total = np.float32(0)
    for j in range(start, stop):
        word, b = code[j], 4 * j
        total += (table[b, word & _BYTE] + table[b + 1, (word >> np.uint32(8)) & _BYTE]) + (
            table[b + 2, (word >> np.uint32(16)) & _BYTE] + table[b + 3, word >> np.uint32(24)]
        )
    return total


@njit(cache=True, nogil=True)
def _offer(distances, rows, distance, row):
    """Put a code into the heap of one query; rows below k always enter, in their order."""
    k, place = len(distances), np.int64(0)
    if row < k:  # a new leaf rises
        place = row
        while place > 0:
            parent = (place - 1) // 2
            if not distances[parent] < distance and not (distances[parent] == distance and rows[parent] < row):
                break
            distances[place], rows[place] = distances[parent], rows[parent]
            place = parent
    elif distance < distances[0]:  # the root leaves, and the new code sinks
        while 2 * place + 1 < k:
            child = 2 * place + 1
            if child + 1 < k and (
                distances[child + 1] > distances[child]
                or (distances[child + 1] == distances[child] and rows[child + 1] > rows[child])
            ):
                child += 1
            if distances[child] < distance or (distances[child] == distance and rows[child] < row):
                break
            distances[place], rows[place] = distances[child], rows[child]
            place = child
    else:
        return
    distances[place], rows[place] = distance, row
