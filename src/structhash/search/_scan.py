"""The exhaustive scan for all kinds of query."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices, rows_within
from structhash.codes import (
    PreparedQueries,
    as_words,
    byte_tables,
    hamming,
    table_distances,
    unpack,
    weighted_tables,
)
from structhash.search._bounds import byte_bounds, no_bounds, plane_bounds
from structhash.search._checks import NO_CODE_DISTANCE
from structhash.search._kept import long_words, squared_lengths
from structhash.search._lanes import MANY_LANES
from structhash.search._scan_kernels import (
    nearest_by_bits,
    nearest_by_planes,
    nearest_by_tables,
    nearest_of_one_by_tables,
)

__all__ = ["Found", "Tabled", "Within", "in_order", "nearest", "nearest_tabled", "within", "within_tabled"]

Found = tuple[NDArray[Any], NDArray[np.int64]]  # distances and rows (n_queries, k), by (distance, row)
Within = tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]  # lims, distances and rows

_TABLES_AT_ONCE = 1 << 21  # numbers; they take 16 MB
_MOST_SUMMED = 1 << 16  # pairs of a query and a code; with fewer, bounds cost more than they save
_MOST_BY_PLANES = 8  # queries; more are faster by tables
_LEAST_CODES_A_THREAD = 1 << 15  # with fewer, a thread costs more than it saves
_QUERIES_A_BLOCK, _CODES_A_BLOCK = 16, 1 << 16  # distances of one block take 4 MB


@dataclass(frozen=True)
class Tabled:
    """Queries whose distances are sums of one table entry a byte: prepared, or packed with weights of the bits.

    `len` gives the number of queries, and a slice some of them.
    """

    queries: NDArray[np.uint8] | PreparedQueries
    weights: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.queries)

    def __getitem__(self, part: slice | NDArray[np.int64]) -> Tabled:
        return Tabled(self.queries[part], self.weights)

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Base (n_queries,) and tables (n_queries, n_bytes, 256)."""
        if isinstance(self.queries, PreparedQueries):
            return self.queries.base, self.queries.tables()
        assert self.weights is not None
        return np.zeros(len(self)), weighted_tables(self.queries, byte_tables(self.weights))

    def terms(self, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The term (n,) of each code that is part of all its distances; (0,) if all are 0."""
        decoder = self.queries.decoder if isinstance(self.queries, PreparedQueries) else None
        return np.empty(0, np.float32) if decoder is None else squared_lengths(decoder, codes)

    def linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Base (n_queries,) and one number a bit (n_queries, n_bits); None if there are tables instead."""
        asked = self.queries
        if isinstance(asked, PreparedQueries):
            return (asked.base, asked.values.astype(np.float64)) if asked.values.ndim == 2 else None
        assert self.weights is not None
        bits = unpack(asked, len(self.weights))
        return bits @ self.weights, self.weights * (1.0 - 2.0 * bits)

    def plain(self) -> NDArray[np.uint8] | None:
        """Packed codes whose Hamming distances are these distances; None if there are none."""
        return self.queries.codes() if isinstance(self.queries, PreparedQueries) else None


def nearest(
    queries: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    k: int,
    n_threads: int = 1,
    kept: NDArray[np.bool_] | None = None,
) -> Found:
    """The k nearest codes by Hamming distance, of all codes or of those that `kept` (n,) names.

    k is at most their number.
    """
    words, asked = long_words(codes), as_words(queries, np.uint64)
    mask = np.empty(0, np.uint8) if kept is None else kept.view(np.uint8)

    def scan(part: slice) -> Found:
        heap = _heap(len(queries), part, k, np.int32)
        heap[0].fill(NO_CODE_DISTANCE)  # a part may keep fewer than k codes
        nearest_by_bits(asked, words[part], mask[part], *heap)
        return heap

    return _in_threads(scan, len(codes), k, n_threads)


def nearest_tabled(queries: Tabled, codes: NDArray[np.uint8], k: int, n_threads: int = 1) -> Found:
    """The k nearest codes by sums of table entries; k is at most their number."""
    if (plain := queries.plain()) is not None:
        distances, rows = nearest(plain, codes, k, n_threads)
        return distances.astype(np.float32), rows
    terms = queries.terms(codes)
    found = [(np.empty((0, k), np.float32), np.empty((0, k), np.int64))]
    for some in row_slices(len(queries), min(MANY_LANES, rows_within(256 * codes.shape[1], _TABLES_AT_ONCE))):
        found.append(_nearest_of_lanes(queries[some], terms, codes, k, n_threads))
    distances, rows = (np.concatenate(each) for each in zip(*found))
    return distances, rows


def _nearest_of_lanes(
    queries: Tabled, terms: NDArray[np.float32], codes: NDArray[np.uint8], k: int, n_threads: int
) -> Found:
    """`nearest_tabled` of at most MANY_LANES queries."""
    (base, tables), linear = queries.tables(), queries.linear()
    words: NDArray[np.uint64] | None = None
    judges: tuple[Any, ...]
    if len(base) * len(codes) <= _MOST_SUMMED:
        judges = no_bounds(len(base))
    elif linear is None or len(base) > _MOST_BY_PLANES:
        judges = byte_bounds(base, tables, terms)
    else:
        words, judges = long_words(codes), plane_bounds(*linear, terms)

    alone = len(base) == 1 and len(judges[0]) in (8, 16)  # numbers of so many bytes
    by_tables = nearest_of_one_by_tables if alone else nearest_by_tables

    def scan(part: slice) -> Found:
        heap = _heap(len(base), part, k, np.float32)
        if words is None:
            by_tables(base, tables, terms[part], *judges, codes[part], *heap)
        else:
            nearest_by_planes(base, tables, terms[part], *judges, words[part], codes[part], *heap)
        return heap

    return _in_threads(scan, len(codes), k, n_threads)


def _heap(n_queries: int, part: slice, k: int, dtype: type[Any]) -> Found:
    """Room for the k nearest codes of a part, or for all if they are fewer."""
    shape = n_queries, min(k, part.stop - part.start)
    return np.empty(shape, dtype), np.zeros(shape, np.int64)


def _in_threads(scan: Callable[[slice], Found], n: int, k: int, n_threads: int) -> Found:
    """The k nearest of n codes in order, where `scan` gives those of a part; each thread takes a part."""
    n_parts = max(1, min(n_threads, n // _LEAST_CODES_A_THREAD))
    parts = list(row_slices(n, -(-n // n_parts)))
    if n_parts == 1:
        return in_order(*scan(parts[0]))
    with ThreadPoolExecutor(n_parts) as pool:
        found = [(near, rows + part.start) for part, (near, rows) in zip(parts, pool.map(scan, parts))]
    distances, rows = in_order(*(np.concatenate(each, axis=1) for each in zip(*found)))
    return distances[:, :k], rows[:, :k]


def within(queries: NDArray[np.uint8], codes: NDArray[np.uint8], r: float) -> Within:
    """All codes within Hamming distance r of each query, by (query, distance, row)."""
    return _within(
        len(queries), lambda part: lambda block: hamming(queries[part], codes[block]), len(codes), r, np.int32
    )


def within_tabled(queries: Tabled, codes: NDArray[np.uint8], r: float) -> Within:
    """All codes within r of each query by sums of table entries, by (query, distance, row)."""

    def distances_of(part: slice) -> Callable[[slice], NDArray[Any]]:
        base, tables = queries[part].tables()
        return lambda block: table_distances(base, tables, codes[block], terms[block] if len(terms) else None)

    terms = queries.terms(codes)
    return _within(len(queries), distances_of, len(codes), r, np.float32)


def _within(
    n_queries: int,
    distances_of: Callable[[slice], Callable[[slice], NDArray[Any]]],
    n: int,
    r: float,
    dtype: type[Any],
) -> Within:
    """The codes whose distance, by `distances_of` a few queries to a block of n codes, is at most r."""
    lims, found = [np.zeros(1, np.int64)], [(np.empty(0, dtype), np.empty(0, np.int64))]
    for part in row_slices(n_queries, _QUERIES_A_BLOCK):
        hits, distances_to = [], distances_of(part)
        for block in row_slices(n, _CODES_A_BLOCK):
            distances = distances_to(block)
            query, column = np.nonzero(distances <= r)
            hits.append((distances[query, column], column + block.start, query))
        near, rows, query = (np.concatenate(each) for each in zip(*hits))
        order = np.lexsort([rows, near, query])
        found.append((near[order], rows[order]))
        lims.append(np.bincount(query, minlength=part.stop - part.start))
    near, rows = (np.concatenate(each) for each in zip(*found))
    return np.cumsum(np.concatenate(lims)), near, rows


def in_order(distances: NDArray[Any], rows: NDArray[np.int64]) -> Found:
    """Heaps (n_queries, k) sorted by (distance, row)."""
    order = np.lexsort([rows, distances])
    return np.take_along_axis(distances, order, 1), np.take_along_axis(rows, order, 1)
