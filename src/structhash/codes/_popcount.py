"""Kernels of `structhash.codes`: popcount and byte-table distances of all pairs."""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def popcount(typingctx, word):
    """Set bits of a uint64 by LLVM's ctpop, one machine instruction where there is one."""

    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@njit(cache=True, nogil=True)
def count_differing(queries, codes, distances):
    """Popcount distances of uint64 words (n_queries, n_words), (n, n_words) into int32 (n_queries, n)."""
    n, width = codes.shape
    for q in range(queries.shape[0]):
        if width == 1:  # the common 64 bits, without an inner loop
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
    """Weighted distances of bytes, by float64 tables (n_bytes, 256), into float32 (n_queries, n)."""
    n, width = codes.shape
    own = np.empty_like(tables)  # own[b, x]: what byte x of a code adds for this query
    for q in range(queries.shape[0]):
        for b in range(width):
            for x in range(256):
                own[b, x] = tables[b, x ^ queries[q, b]]
        for i in range(n):
            total = 0.0
            for b in range(width):
                total += own[b, codes[i, b]]
            distances[q, i] = total
