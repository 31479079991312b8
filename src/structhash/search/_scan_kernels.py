"""Kernels of the exhaustive scan: the k nearest codes, by differing bits or by sums of table entries.

Each query keeps its k nearest codes so far in a heap whose root is the farthest by (distance, row). Codes come
in ascending order of their rows, so a code enters only if it is nearer than the root.
"""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount
from structhash.search._counts import (
    CODES_AT_ONCE,
    bits_of_four_words,
    bits_of_two_words,
    bits_of_words,
    levels_of_four_words,
    levels_of_two_words,
    levels_of_words,
)
from structhash.search._heap import offer
from structhash.search._lanes import FEW_LANES, near_in_few_lanes, near_in_many_lanes

_CODES_A_RUN = 256  # all queries pass over a run of codes while it is in the cache
_CODES_A_STEP = 32  # of a run with a near code, few steps have one
_FARTHEST = np.uint32(2**32 - 1)
_ONE = np.uint64(1)
_LARGEST_LANE, _LARGEST = 65535.0, 4e9  # of uint16 and uint32 numbers


@njit(cache=True, nogil=True)
def nearest_by_bits(queries, codes, kept, distances, rows):
    """Write the nearest codes of each query by Hamming distance, as heaps.

    Parameters
    ----------
    queries, codes : uint64 (n_queries, w), (n, w)
    kept : uint8 (n,), or (0,) to keep all
        0 for codes that do not count, 1 to 255 for others.
    distances : int32 (n_queries, k)
    rows : int64 (n_queries, k)
        Both are overwritten. If fewer than k codes are kept, the last places stay.
    """
    n, width = codes.shape
    k = distances.shape[1]
    room = np.empty((width, _CODES_A_RUN), np.uint64)
    found, held = np.empty(_CODES_A_RUN, np.uint32), np.zeros(len(queries), np.int64)
    for first in range(0, n, _CODES_A_RUN):
        size = min(_CODES_A_RUN, n - first)
        as_they_lie = len(queries) == 1 and size == _CODES_A_RUN and width in (1, 2, 4)
        if not as_they_lie:
            _turn(codes, first, size, room)
        for q in range(len(queries)):
            _write_bits(found, codes, first, size, as_they_lie, room, queries, q)
            if len(kept):
                _hide(found, kept, first, size)
            farthest = np.uint32(distances[q, 0]) if held[q] == k else _FARTHEST
            if _least(found, 0, size) < farthest:
                for start in range(0, size, _CODES_A_STEP):
                    stop = min(start + _CODES_A_STEP, size)
                    if _least(found, start, stop) < farthest:
                        for i in range(start, stop):
                            if found[i] < farthest:
                                held[q] = offer(distances[q], rows[q], held[q], np.int32(found[i]), first + i)


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
        as_they_lie = len(base) == 1 and size == _CODES_A_RUN and width in (1, 2, 4)
        if not as_they_lie:
            _turn(words, first, size, room)
        for q in range(len(base)):
            more = np.int64(len(terms) > 0)
            if more:
                _write_terms(found, terms, first, size, least, unit[q])
            _write_levels(found, words, first, size, as_they_lie, room, signs, q, more, planes)
            limit = _FARTHEST
            if first >= k:
                above = _limit(distances[q, 0], lowest[q], unit[q], slack[q], _LARGEST)
                limit = np.uint32(above) + np.uint32(1)
            if _least(found, 0, size) < limit:
                for start in range(0, size, _CODES_A_STEP):
                    stop = min(start + _CODES_A_STEP, size)
                    if _least(found, start, stop) < limit:
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
    for first in range(0, n, _CODES_A_RUN):
        size = min(_CODES_A_RUN, n - first)
        flat = codes[first : first + size].reshape(-1)
        _write_terms(found, terms, first, size, least, unit[0])
        if width == 8:
            _add_eight(found[:size], flat, lane, 8)
        else:
            _add_eight(found[:size], flat, lane, 16)
            _add_eight(found[:size], flat[8:], lane[8:], 16)
        limit = _FARTHEST
        if first >= k:
            above = _limit(distances[0, 0], lowest[0], unit[0], slack[0], _LARGEST)
            limit = np.uint32(above) + np.uint32(1)
        if _least(found, 0, size) < limit:
            for start in range(0, size, _CODES_A_STEP):
                stop = min(start + _CODES_A_STEP, size)
                if _least(found, start, stop) < limit:
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
def _turn(codes, first, size, room):
    """Write the words of a run of codes (n, w) into `room` (w, m), so that the j-th words lie side by side."""
    flat, width = codes.reshape(-1), np.uint64(codes.shape[1])
    start, one = np.uint64(first) * width, np.uint64(1)  # unsigned as in `_hide`
    if width == 2:
        for i in range(size):
            at = start + np.uint64(2 * i)
            room[0, i], room[1, i] = flat[at], flat[at + one]
    else:
        for j in range(len(room)):
            for i in range(size):
                room[j, i] = flat[start + width * np.uint64(i) + np.uint64(j)]


@njit(cache=True, nogil=True)
def _write_bits(found, codes, first, size, as_they_lie, room, queries, q):
    """Write how many bits of each code of a run differ from a query.

    Codes are read as they lie, or from the `room` of `_turn`, which pays where queries are several.
    """
    width = codes.shape[1]
    for i in range(0, size, CODES_AT_ONCE):
        if not as_they_lie:
            for j in range(width):
                bits_of_words(found, i, room, _CODES_A_RUN * j + i, queries, q, j, np.int64(j > 0))
        elif width == 1:
            bits_of_words(found, i, codes, first + i, queries, q, 0, 0)
        elif width == 2:
            bits_of_two_words(found, i, codes, 2 * (first + i), queries, q, 0, 0)
        else:
            bits_of_four_words(found, i, codes, 4 * (first + i), queries, q, 0, 0)


@njit(cache=True, nogil=True)
def _write_levels(found, words, first, size, as_they_lie, room, signs, q, more, planes):
    """Write the levels of these bits as `_write_bits` does, or add them to what is found where `more` is 1."""
    width = words.shape[1]
    for i in range(0, size, CODES_AT_ONCE):
        if not as_they_lie:
            for j in range(width):
                also = np.int64(more or j > 0)
                levels_of_words(found, i, room, _CODES_A_RUN * j + i, signs, q, j, also, planes)
        elif width == 1:
            levels_of_words(found, i, words, first + i, signs, q, 0, more, planes)
        elif width == 2:
            levels_of_two_words(found, i, words, 2 * (first + i), signs, q, 0, more, planes)
        else:
            levels_of_four_words(found, i, words, 4 * (first + i), signs, q, 0, more, planes)


@njit(cache=True, nogil=True)
def _hide(found, kept, first, size):
    """Make the numbers of codes that are not kept as large as they can be."""
    start = np.uint64(first)  # unsigned, so that no index is counted from the end and the loop is vectorised
    for i in range(size):
        found[i] |= np.uint32(kept[start + np.uint64(i)] != 0) - np.uint32(1)


@njit(cache=True, nogil=True)
def _fill(found, value, size):
    """Write a value into the first places."""
    for i in range(size):
        found[i] = value


@njit(cache=True, nogil=True)
def _write_terms(found, terms, first, size, least, unit):
    """Write the whole numbers of the terms of a run of codes, or zeros where all terms are 0."""
    if len(terms):
        start, per_unit = np.uint64(first), 1.0 / unit  # unsigned as in `_hide`
        for i in range(size):
            term = np.float64(terms[start + np.uint64(i)])
            found[i] = np.uint32(min((term - least) * per_unit, _LARGEST / 2))
    else:
        _fill(found, np.uint32(0), size)


@njit(cache=True, nogil=True)
def _least(values, start, stop):
    """Return the least of the uint32 values[start:stop]; without a branch, so that the loop is vectorised."""
    least = _FARTHEST
    for i in range(start, stop):
        least = min(least, values[i])
    return least


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
