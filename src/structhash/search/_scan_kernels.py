"""Kernels of the exhaustive scan: the k nearest codes, by differing bits or by sums of table entries.

Each query keeps its k nearest codes so far in a heap whose root is the farthest by (distance, row). Codes come
in ascending order of their rows, so a code enters only if it is nearer than the root.
"""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount

_CODES_A_BLOCK = 4096  # all queries pass over a block of codes while it is in the cache
_CODES_A_RUN = 256  # of which later ones mostly have no near code
_BYTE, _ONE, _TWO, _THREE = np.uint32(255), np.uint32(8), np.uint32(16), np.uint32(24)  # parts of a word


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
    for first in range(0, n, _CODES_A_BLOCK):
        block = codes[first : first + _CODES_A_BLOCK]
        size = len(block)
        for q in range(len(queries)):
            for j in range(width):  # outside, so that the inner loop is vectorised
                query = queries[q, j]
                if j == 0:
                    for i in range(size):
                        found[i] = popcount(query ^ block[i, 0])
                else:
                    for i in range(size):
                        found[i] += np.int32(popcount(query ^ block[i, j]))
            for start in range(0, size, _CODES_A_RUN):
                farthest = distances[q, 0] if first >= k else np.int32(2147483647)
                stop, n_near = min(start + _CODES_A_RUN, size), np.int32(0)
                for i in range(start, stop):  # without a branch, so that the loop is vectorised
                    n_near += np.int32(found[i] < farthest)
                if n_near:
                    for i in range(start, stop):
                        if found[i] < farthest:
                            _offer(distances[q], rows[q], found[i], first + i)


@njit(cache=True, nogil=True)
def nearest_by_tables(base, tables, terms, quick, shift, slack, words, codes, distances, rows):
    """Write the nearest codes of each query by base + the sum of one table entry a byte + a term of the code.

    A code is first judged by a float32 sum of the first half of its bytes, which is a lower bound, then by the
    float32 sum of all. Only a code that may be near is summed in float64.

    Parameters
    ----------
    base : float64 (n_queries,)
    tables : float64 (n_queries, n_bytes, 256)
    terms : float32 (n,)
    quick : float32 (n_queries, w, 4, 256)
        The tables, each lowered by its least entry; zeros after the last byte.
    shift, slack : float64 (n_queries,)
        Sum of the least entries and of the least term; largest error of a quick sum and of its limit.
    words : uint32 (n, w)
        The codes, four bytes a word.
    codes : uint8 (n, n_bytes)
    distances : float32 (n_queries, k)
    rows : int64 (n_queries, k)
        Both are overwritten; k is at most n.
    """
    n, width = codes.shape
    k, n_words = distances.shape[1], words.shape[1]
    half, least = (n_words + 1) // 2, terms.min()
    sums = np.empty(_CODES_A_BLOCK, np.float32)
    near = np.empty(_CODES_A_BLOCK, np.int64)
    for first in range(0, n, _CODES_A_BLOCK):
        size = min(_CODES_A_BLOCK, n - first)
        for q in range(len(base)):
            limit = np.float32(np.inf)
            if first >= k:
                limit = np.float32(distances[q, 0] - base[q] - shift[q] + slack[q])
            for i in range(size):
                sums[i] = terms[first + i] - least
            for j in range(half):
                one, two, three, four = quick[q, j, 0], quick[q, j, 1], quick[q, j, 2], quick[q, j, 3]
                for i in range(size):
                    word = words[first + i, j]
                    sums[i] += (one[word & _BYTE] + two[(word >> _ONE) & _BYTE]) + (
                        three[(word >> _TWO) & _BYTE] + four[word >> _THREE]
                    )
            n_near = 0
            for i in range(size):  # without a branch
                near[n_near] = i
                n_near += sums[i] <= limit
            for j in range(half, n_words):
                one, two, three, four = quick[q, j, 0], quick[q, j, 1], quick[q, j, 2], quick[q, j, 3]
                for each in range(n_near):
                    word = words[first + near[each], j]
                    sums[near[each]] += (one[word & _BYTE] + two[(word >> _ONE) & _BYTE]) + (
                        three[(word >> _TWO) & _BYTE] + four[word >> _THREE]
                    )
            for each in range(n_near):
                i = near[each]
                if sums[i] <= limit:
                    total = 0.0
                    for b in range(width):
                        total += tables[q, b, codes[first + i, b]]
                    _offer(distances[q], rows[q], np.float32(base[q] + total + terms[first + i]), first + i)


@njit(cache=True, nogil=True)
def sum_candidates(base, tables, codes, rows, distances):
    """Write base + the sum of one table entry a byte of some rows (n_queries, m) to float32 (n_queries, m)."""
    for q in range(len(rows)):
        for i in range(rows.shape[1]):
            total = 0.0
            for b in range(codes.shape[1]):
                total += tables[q, b, codes[rows[q, i], b]]
            distances[q, i] = base[q] + total


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
