"""Kernels of the exhaustive scan: the k nearest codes, by differing bits or by sums of table entries.

Each query keeps its k nearest codes so far in a heap whose root is the farthest by (distance, row). Codes come
in ascending order of their rows, so a code enters only if it is nearer than the root.
"""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount
from structhash.search._lanes import LANES, near_lanes

_CODES_A_RUN = 256  # all queries pass over a run of codes while it is in the cache
_CODES_A_STEP = 32  # of a run with a near code, few steps have one
_FARTHEST = np.uint32(2**32 - 1)
_ONE = np.uint64(1)


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
    words = np.empty((width, _CODES_A_RUN), np.uint64)  # of a run; contiguous, so that loops are vectorised
    found = np.empty(_CODES_A_RUN, np.uint32)
    for first in range(0, n, _CODES_A_RUN):
        size = min(_CODES_A_RUN, n - first)
        for j in range(width):
            for i in range(size):
                words[j, i] = codes[first + i, j]
        for q in range(len(queries)):
            farthest = np.uint32(distances[q, 0]) if first >= k else _FARTHEST
            for j in range(width):
                query = queries[q, j]
                if j == 0:
                    for i in range(size):
                        found[i] = popcount(query ^ words[0, i])
                else:
                    for i in range(size):
                        found[i] += np.uint32(popcount(query ^ words[j, i]))
            if _n_below(found[:size], farthest):
                for start in range(0, size, _CODES_A_STEP):
                    stop = min(start + _CODES_A_STEP, size)
                    if _n_below(found[start:stop], farthest):
                        for i in range(start, stop):
                            if found[i] < farthest:
                                _offer(distances[q], rows[q], np.int32(found[i]), first + i)


@njit(cache=True, nogil=True)
def _n_below(values, limit):
    """Return how many uint32 values are below a limit; without a branch, so that the loop is vectorised."""
    n = np.uint32(0)
    for i in range(len(values)):
        n += np.uint32(values[i] < limit)
    return n


@njit(cache=True, nogil=True)
def nearest_by_tables(base, tables, terms, quick, unit, shift, slack, least, codes, distances, rows):
    """Write the nearest codes of each query by base + the sum of one table entry a byte + a term of the code.

    A code is first judged for all queries at once by a sum of whole numbers, which is a lower bound. Only a
    code that may be near is summed in float64.

    Parameters
    ----------
    base : float64 (n_queries,), n_queries at most LANES
    tables : float64 (n_queries, n_bytes, 256)
    terms : float32 (n,), or (0,) if all are 0
    quick : uint8 (n_bytes, 256, LANES)
        The tables, each lowered by its least entry, in units, rounded down and cut at 255. With n_bytes 0,
        all codes are summed.
    unit, shift, slack : float64 (n_queries,)
        What 1 in `quick` means; sum of the least entries and of the least term; largest error of a limit, in
        units. With terms, all units are equal.
    least : float
        The least term of all codes, of which these may be a part.
    codes : uint8 (n, n_bytes)
    distances : float32 (n_queries, k)
    rows : int64 (n_queries, k)
        Both are overwritten; k is at most n.
    """
    n, width = codes.shape
    n_queries, k = distances.shape
    limits, everyone = np.full(LANES, 65535, np.uint16), (_ONE << np.uint64(n_queries)) - _ONE
    start, term = np.uint16(0), np.float32(0)
    for i in range(n):
        if len(terms):
            term = terms[i]
            start = np.uint16(min((np.float64(term) - least) / unit[0], 65535.0))
        near = everyone
        if len(quick):
            near &= np.uint64(near_lanes(quick, codes, i, start, limits))
        while near:
            q = np.int64(popcount((near & (~near + _ONE)) - _ONE))  # the lowest set bit
            near &= near - _ONE
            total = 0.0
            for b in range(width):
                total += tables[q, b, codes[i, b]]
            distance = np.float32(base[q] + total + term)
            if i < k or distance < distances[q, 0]:
                _offer(distances[q], rows[q], distance, i)
                if i >= k - 1:
                    above = (np.float64(distances[q, 0]) - base[q] - shift[q]) / unit[q] + slack[q]
                    limits[q] = np.uint16(min(max(above, 0.0), 65535.0))


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
