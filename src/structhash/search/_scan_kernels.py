"""Kernels of the exhaustive scan: the k nearest codes, by differing bits or by sums of table entries.

Each query keeps its k nearest codes so far in a heap whose root is the farthest by (distance, row). Codes come
in ascending order of their rows, so a code enters only if it is nearer than the root.
"""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount
from structhash.search._heap import offer
from structhash.search._lanes import FEW_LANES, near_in_few_lanes, near_in_many_lanes

_CODES_A_RUN = 256  # all queries pass over a run of codes while it is in the cache
_CODES_A_STEP = 32  # of a run with a near code, few steps have one
_FARTHEST = np.uint32(2**32 - 1)
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_LARGEST_LANE, _LARGEST = 65535.0, 4e9  # of uint16 and uint32 numbers


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
    room = np.empty((width, _CODES_A_RUN), np.uint64)
    found = np.empty(_CODES_A_RUN, np.uint32)
    for first in range(0, n, _CODES_A_RUN):
        size = min(_CODES_A_RUN, n - first)
        words = _turned(codes[first : first + size], room)
        for q in range(len(queries)):
            for i in range(size):
                found[i] = popcount(queries[q, 0] ^ words[0, i])
            for j in range(1, width):
                query = queries[q, j]
                for i in range(size):
                    found[i] += np.uint32(popcount(query ^ words[j, i]))
            farthest = np.uint32(distances[q, 0]) if first >= k else _FARTHEST
            if _n_below(found[:size], farthest):
                for start in range(0, size, _CODES_A_STEP):
                    stop = min(start + _CODES_A_STEP, size)
                    if _n_below(found[start:stop], farthest):
                        for i in range(start, stop):
                            if found[i] < farthest:
                                offer(distances[q], rows[q], first + i, np.int32(found[i]), first + i)


@njit(cache=True, nogil=True)
def nearest_of_one_by_bits(queries, codes, distances, rows):
    """Write what `nearest_by_bits` writes for one query, for which turning codes costs more than it saves."""
    n, width = codes.shape
    k = distances.shape[1]
    query, found = queries[0], np.empty(_CODES_A_RUN, np.uint32)
    zero, one = query[0], query[min(1, width - 1)]  # read once, so that loops are vectorised
    two, three = query[min(2, width - 1)], query[min(3, width - 1)]
    for first in range(0, n, _CODES_A_RUN):
        size = min(_CODES_A_RUN, n - first)
        flat = codes[first : first + size].reshape(-1)
        if width == 1:
            for i in range(size):
                found[i] = popcount(zero ^ flat[i])
        elif width == 2:
            for i in range(size):
                found[i] = popcount(zero ^ flat[2 * i]) + popcount(one ^ flat[2 * i + 1])
        elif width == 4:
            for i in range(size):
                low = popcount(zero ^ flat[4 * i]) + popcount(one ^ flat[4 * i + 1])
                found[i] = low + popcount(two ^ flat[4 * i + 2]) + popcount(three ^ flat[4 * i + 3])
        else:
            for i in range(size):
                count = np.uint64(0)
                for j in range(width):
                    count += popcount(query[j] ^ flat[width * i + j])
                found[i] = count
        farthest = np.uint32(distances[0, 0]) if first >= k else _FARTHEST
        if _n_below(found[:size], farthest):
            for start in range(0, size, _CODES_A_STEP):
                stop = min(start + _CODES_A_STEP, size)
                if _n_below(found[start:stop], farthest):
                    for i in range(start, stop):
                        if found[i] < farthest:
                            offer(distances[0], rows[0], first + i, np.int32(found[i]), first + i)


@njit(cache=True, nogil=True)
def nearest_by_planes(base, tables, terms, signs, planes, bounds, words, codes, distances, rows):
    """Write the nearest codes of each query by base + the sum of one table entry a byte + a term of the code.

    A code is first judged by the number of `plane_bounds`. Only a code that may be near is summed in float64.

    Parameters
    ----------
    base : float64 (n_queries,)
    tables : float64 (n_queries, n_bytes, 256)
    terms : float32 (n,), or (0,) if all are 0
    signs : uint64 (n_queries, w)
    planes : uint64 (n_queries, 4, w)
    bounds : Bounds
    words : uint64 (n, w)
        The codes.
    codes : uint8 (n, n_bytes)
    distances : float32 (n_queries, k)
    rows : int64 (n_queries, k)
        Both are overwritten; k is at most n.
    """
    unit, lowest, slack, least = bounds
    n, width = words.shape
    k = distances.shape[1]
    room = np.empty((width, _CODES_A_RUN), np.uint64)
    found = np.empty(_CODES_A_RUN, np.uint32)
    for first in range(0, n, _CODES_A_RUN):
        size = min(_CODES_A_RUN, n - first)
        turned = _turned(words[first : first + size], room)
        for q in range(len(base)):
            found[:size] = 0
            if len(terms):
                for i in range(size):
                    found[i] = np.uint32(min((np.float64(terms[first + i]) - least) / unit[q], _LARGEST / 2))
            for j in range(width):
                sign = signs[q, j]
                zero, one, two, three = planes[q, 0, j], planes[q, 1, j], planes[q, 2, j], planes[q, 3, j]
                for i in range(size):
                    differing = sign ^ turned[j, i]
                    found[i] += np.uint32(
                        popcount(differing & zero)
                        + (popcount(differing & one) << _ONE)
                        + (popcount(differing & two) << _TWO)
                        + (popcount(differing & three) << _THREE)
                    )
            limit = _FARTHEST
            if first >= k:
                above = _limit(distances[q, 0], lowest[q], unit[q], slack[q], _LARGEST)
                limit = np.uint32(above) + np.uint32(1)
            if _n_below(found[:size], limit):
                for start in range(0, size, _CODES_A_STEP):
                    stop = min(start + _CODES_A_STEP, size)
                    if _n_below(found[start:stop], limit):
                        for i in range(start, stop):
                            if found[i] < limit:
                                term = terms[first + i] if len(terms) else np.float32(0)
                                distance = _summed(base[q], tables[q], codes[first + i], term)
                                offer(distances[q], rows[q], first + i, distance, first + i)


@njit(cache=True, nogil=True)
def nearest_by_tables(base, tables, terms, numbers, bounds, codes, distances, rows):
    """Write what `nearest_by_planes` writes, for tables that are no sums of bits.

    A code is first judged for all queries at once, by the numbers of `byte_bounds`.

    Parameters
    ----------
    base : float64 (n_queries,), at most as many as lanes
    tables, terms
        As in `nearest_by_planes`.
    numbers : uint8 (n_bytes, 256, lanes), or (0, 256, lanes)
        Without numbers, all codes are summed in float64.
    bounds : Bounds
    codes, distances, rows
        As in `nearest_by_planes`.
    """
    unit, lowest, slack, least = bounds
    n_queries, k = distances.shape
    limits, everyone = np.full(numbers.shape[2], 65535, np.uint16), (_ONE << np.uint64(n_queries)) - _ONE
    start, term = np.uint16(0), np.float32(0)
    for i in range(len(codes)):
        if len(terms):
            term = terms[i]
            start = np.uint16(min((np.float64(term) - least) / unit[0], _LARGEST_LANE))
        near = everyone
        if len(numbers):
            if len(limits) == FEW_LANES:
                near &= np.uint64(near_in_few_lanes(numbers, codes, i, start, limits))
            else:
                near &= np.uint64(near_in_many_lanes(numbers, codes, i, start, limits))
        while near:
            q = np.int64(popcount((near & (~near + _ONE)) - _ONE))  # the lowest set bit
            near &= near - _ONE
            offer(distances[q], rows[q], i, _summed(base[q], tables[q], codes[i], term), i)
            if i >= k - 1:
                limits[q] = np.uint16(_limit(distances[q, 0], lowest[q], unit[q], slack[q], _LARGEST_LANE))


@njit(cache=True, nogil=True)
def nearest_of_one_by_tables(base, tables, terms, numbers, bounds, codes, distances, rows):
    """Write what `nearest_by_tables` writes for one query, with numbers, and codes of 8 or 16 bytes.

    All lanes but one would be empty. With other codes this is no faster than lanes.
    """
    unit, lowest, slack, least = bounds
    n, width = codes.shape
    k = distances.shape[1]
    lane, found = numbers[:, :, 0].astype(np.uint32), np.empty(_CODES_A_RUN, np.uint32)
    per_unit = 1.0 / unit[0]
    for first in range(0, n, _CODES_A_RUN):
        size = min(_CODES_A_RUN, n - first)
        flat = codes[first : first + size].reshape(-1)
        found[:size] = 0
        if len(terms):
            for i in range(size):
                found[i] = np.uint32(min((np.float64(terms[first + i]) - least) * per_unit, _LARGEST / 2))
        if width == 8:
            _add_eight(found[:size], flat, lane, 8)
        else:
            _add_eight(found[:size], flat, lane, 16)
            _add_eight(found[:size], flat[8:], lane[8:], 16)
        limit = _FARTHEST
        if first >= k:
            above = _limit(distances[0, 0], lowest[0], unit[0], slack[0], _LARGEST)
            limit = np.uint32(above) + np.uint32(1)
        if _n_below(found[:size], limit):
            for start in range(0, size, _CODES_A_STEP):
                stop = min(start + _CODES_A_STEP, size)
                if _n_below(found[start:stop], limit):
                    for i in range(start, stop):
                        if found[i] < limit:
                            term = terms[first + i] if len(terms) else np.float32(0)
                            distance = _summed(base[0], tables[0], codes[first + i], term)
                            offer(distances[0], rows[0], first + i, distance, first + i)


@njit(cache=True, nogil=True)
def _add_eight(found, codes, tables, step):
    """Add the entries of eight bytes of codes, which begin `step` apart; fast where that is a constant."""
    b0, b1, b2, b3 = tables[0], tables[1], tables[2], tables[3]
    b4, b5, b6, b7 = tables[4], tables[5], tables[6], tables[7]
    for i in range(len(found)):
        at = step * i
        low = b0[codes[at]] + b1[codes[at + 1]] + b2[codes[at + 2]] + b3[codes[at + 3]]
        high = b4[codes[at + 4]] + b5[codes[at + 5]] + b6[codes[at + 6]] + b7[codes[at + 7]]
        found[i] += low + high


@njit(cache=True, nogil=True)
def _turned(codes, room):
    """Return the words of a run of codes (n, w) as (w, m), m at least n, where `room` (w, m) is for them.

    The j-th words of all codes lie side by side, so that loops over codes are vectorised.
    """
    n, width = codes.shape
    flat = codes.reshape(-1)
    if width == 1:
        return flat.reshape((1, n))
    if width == 2:
        for i in range(n):
            room[0, i], room[1, i] = flat[2 * i], flat[2 * i + 1]
    elif width == 4:
        for i in range(n):
            room[0, i], room[1, i] = flat[4 * i], flat[4 * i + 1]
            room[2, i], room[3, i] = flat[4 * i + 2], flat[4 * i + 3]
    else:
        for j in range(width):
            for i in range(n):
                room[j, i] = codes[i, j]
    return room


@njit(cache=True, nogil=True)
def _n_below(values, limit):
    """Return how many uint32 values are below a limit; without a branch, so that the loop is vectorised."""
    n = np.uint32(0)
    for i in range(len(values)):
        n += np.uint32(values[i] < limit)
    return n


@njit(cache=True, nogil=True)
def _limit(distance, lowest, unit, slack, largest):
    """Return the largest whole number of a code that may be nearer than a distance."""
    return min(max((np.float64(distance) - lowest) / unit + slack, 0.0), largest)


@njit(cache=True, nogil=True)
def _summed(base, tables, code, term):
    """Return base + the sum of one table entry a byte + a term, added in float64 and rounded to float32."""
    total = 0.0
    for b in range(len(code)):
        total += tables[b, code[b]]
    return np.float32(base + total + term)
