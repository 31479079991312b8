"""Kernels of inverted lists: the list of each code, and the nearest codes in the lists that a query probes."""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount
from structhash.search._heap import offer

__all__ = ["nearest_in_lists_by_bits", "nearest_in_lists_by_tables", "nearest_list"]

_SHIFT = np.uint64(32)


@njit(cache=True, nogil=True)
def nearest_list(codes, centroids, lists):
    """Write the nearest centroid of each code, the first among equals.

    Parameters
    ----------
    codes, centroids : uint64 (n, w), (n_lists, w)
    lists : int32 (n,)
        Overwritten.
    """
    width = codes.shape[1]
    for i in range(len(codes)):
        best = np.uint64(2**63)
        for c in range(len(centroids)):
            apart = np.uint64(0)
            for j in range(width):
                apart += popcount(codes[i, j] ^ centroids[c, j])
            best = min(best, (apart << _SHIFT) | np.uint64(c))
        lists[i] = np.int32(best & np.uint64(0xFFFFFFFF))


@njit(cache=True, nogil=True)
def nearest_in_lists_by_bits(queries, order, n_probe, starts, codes, rows, distances, found):
    """Write the nearest codes of each query by Hamming distance, among those of the lists that it probes.

    A query probes the first `n_probe` lists of its order, and more until they hold k codes.

    Parameters
    ----------
    queries, codes : uint64 (n_queries, w), (n, w)
        Codes by list.
    order : integers (n_queries, n_lists)
    n_probe : int
    starts : int64 (n_lists + 1,)
        List c owns codes starts[c] to starts[c + 1].
    rows : int32 (n,)
        Row of each code, ascending within a list.
    distances : int32 (n_queries, k)
    found : int64 (n_queries, k)
        Both are overwritten, as heaps; k is at most n.
    """
    width, k = codes.shape[1], distances.shape[1]
    apart = np.empty(np.diff(starts).max(), np.int32)
    for q in range(len(queries)):
        size = 0
        for place in range(len(starts) - 1):
            if place >= n_probe and size == k:
                break
            first, stop = starts[order[q, place]], starts[order[q, place] + 1]
            for j in range(width):  # outside, so that the inner loop is vectorised
                query = queries[q, j]
                if j == 0:
                    for i in range(stop - first):
                        apart[i] = popcount(query ^ codes[first + i, 0])
                else:
                    for i in range(stop - first):
                        apart[i] += np.int32(popcount(query ^ codes[first + i, j]))
            for i in range(stop - first):
                if size < k or apart[i] <= distances[q, 0]:
                    size = offer(distances[q], found[q], size, apart[i], np.int64(rows[first + i]))


@njit(cache=True, nogil=True)
def nearest_in_lists_by_tables(base, tables, terms, order, n_probe, starts, codes, rows, distances, found):
    """`nearest_in_lists_by_bits`, by base + the sum of one table entry a byte + a term of the code.

    Parameters
    ----------
    base : float64 (n_queries,)
    tables : float64 (n_queries, n_bytes, 256)
    terms : float32 (n,)
        By list; (0,) if all are 0.
    order, n_probe, starts, rows, found
        As there.
    codes : uint8 (n, n_bytes)
        By list.
    distances : float32 (n_queries, k)
        Overwritten, as heaps.
    """
    width, k = codes.shape[1], distances.shape[1]
    for q in range(len(base)):
        size = 0
        for place in range(len(starts) - 1):
            if place >= n_probe and size == k:
                break
            for i in range(starts[order[q, place]], starts[order[q, place] + 1]):
                total = 0.0
                for b in range(width):
                    total += tables[q, b, codes[i, b]]
                total += base[q]
                if len(terms):
                    total += terms[i]
                distance = np.float32(total)
                if size < k or distance <= distances[q, 0]:
                    size = offer(distances[q], found[q], size, distance, np.int64(rows[i]))
