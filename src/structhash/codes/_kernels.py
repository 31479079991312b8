"""Kernels of distances of all pairs: differing bits, and sums of one table entry a byte."""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount


@njit(cache=True, nogil=True)
def count_differing(queries, codes, distances):
    """Write the differing bits of uint64 words (n_queries, w) and (n, w) to int32 (n_queries, n)."""
    n, width = codes.shape
    for q in range(queries.shape[0]):
        if width == 1:  # the common case of 64 bits needs no inner loop
            query = queries[q, 0]
            for i in range(n):
                distances[q, i] = popcount(query ^ codes[i, 0])
        else:
            for i in range(n):
                count = np.uint64(0)
                for j in range(width):
                    count += popcount(queries[q, j] ^ codes[i, j])
                distances[q, i] = count


@njit(cache=True, nogil=True)
def sum_tables(base, tables, terms, codes, distances):
    """Write base + the sum of one entry a byte + a term of the code to float32 (n_queries, n).

    Parameters
    ----------
    base : float64 (n_queries,)
    tables : float64 (n_queries, n_bytes, 256)
    terms : float32 (n,)
    codes : uint8 (n, n_bytes)
    distances : float32 (n_queries, n)
        Is overwritten.
    """
    n, width = codes.shape
    for q in range(len(base)):
        for i in range(n):
            total = 0.0
            for b in range(width):
                total += tables[q, b, codes[i, b]]
            distances[q, i] = base[q] + total + terms[i]


@njit(cache=True, nogil=True)
def add_squared_lengths(offset, tables, codes, lengths):
    """Write ||offset + sum of one vector a byte||^2 of codes (n, n_bytes) to float32 (n,).

    Offset (d,) and tables (n_bytes, 256, d) are float32.
    """
    total = np.empty_like(offset)
    for i in range(len(codes)):
        total[:] = offset
        for b in range(codes.shape[1]):
            total += tables[b, codes[i, b]]
        length = 0.0
        for each in total:
            length += np.float64(each) * each
        lengths[i] = length
