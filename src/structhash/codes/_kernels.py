"""Kernels of `codes.distances`: plain and weighted Hamming distances of all pairs."""

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
def add_tables(queries, codes, tables, distances):
    """Write weighted distances of bytes, by float64 tables (n_bytes, 256), to float32 (n_queries, n)."""
    n, width = codes.shape
    own = np.empty_like(tables)  # own[b, x]: weight of the bits in which byte x differs from the query
    for q in range(queries.shape[0]):
        for b in range(width):
            for x in range(256):
                own[b, x] = tables[b, x ^ queries[q, b]]
        for i in range(n):
            total = 0.0
            for b in range(width):
                total += own[b, codes[i, b]]
            distances[q, i] = total
