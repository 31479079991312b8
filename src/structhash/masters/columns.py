"""The bits so far, with distances and sums of the entries (query, partner) for the masters.

Only the packed code of each point is stored. The bits in which two codes differ give the distance of an entry
and the columns that it adds to, for a block of queries at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.memory import allocate
from structhash._numerics.sorting import unsort_lists
from structhash.codes import byte_tables
from structhash.masters import _keys
from structhash.masters.schedules.base import Schedule
from structhash.pair_weights import Comparisons, PairGraph

__all__ = ["FEW_WEIGHTS", "Columns", "EntryBlock"]

QUERY_BLOCK = 512  # queries at a time
FEW_WEIGHTS = 3  # up to so many free weights, distances come from counts of differing bits

BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(
    np.float64
)

Kernel = Callable[..., tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]


class EntryBlock(NamedTuple):
    """The near or the far entries of a block of queries."""

    group: int
    queries: slice
    entries: slice  # numbers among all entries
    ptr: NDArray[np.int64]  # of each query, starting at 0


class View(NamedTuple):
    """The quantities that the masters need for a block of entries."""

    distances: NDArray[np.float64]  # possibly sorted within each query
    restore: Callable[[NDArray[Any]], NDArray[Any]]  # from that order to the order of the entries
    sums: Callable[[NDArray[Any]], NDArray[np.float64]]  # of values in that order, by column


class Runs(NamedTuple):
    """Runs of entries that have the same key: see `_keys.sort_keys`."""

    key: NDArray[np.unsignedinteger]
    size: NDArray[np.unsignedinteger]
    ptr: NDArray[np.int64]


class Columns:
    """Bits of the training points, one column a free weight of the schedule.

    Parameters
    ----------
    comparisons, graph
        The queries and their partners.
    schedule : Schedule
    unit : float64 array (Q,)
        Factor of each query's values in a sum.
    n_jobs : int
        Threads over blocks of queries; results do not depend on it.
    """

    def __init__(
        self,
        comparisons: Comparisons,
        graph: PairGraph,
        schedule: Schedule,
        unit: NDArray[np.float64],
        n_jobs: int = 1,
    ) -> None:
        self.schedule, self.unit, self.n_jobs = schedule, unit, n_jobs
        self.queries, self.partners = comparisons.queries, graph.indices
        self.ptr = comparisons.near_ptr, comparisons.far_ptr
        self.n_bits = 0
        self.codes = np.zeros((graph.n_points, 8), np.uint8)
        self.place_dtype = np.min_scalar_type(max(np.diff(ptr).max() for ptr in self.ptr))
        self.last = np.zeros(0, self.place_dtype)  # order of entries within each query at the last weights
        self.set_groups(1)

    def add(self, bit: NDArray[np.uint8], n_free: int) -> None:
        """Add a bit (n,); `n_free` is the number of free weights with it."""
        byte, place = divmod(self.n_bits, 8)
        if byte == self.codes.shape[1]:
            self.codes = np.hstack([self.codes, np.zeros_like(self.codes[:, :8])])
        self.codes[:, byte] |= bit << place
        self.n_bits += 1
        if n_free <= FEW_WEIGHTS:
            self.count(n_free)

    def set_groups(self, count: int) -> NDArray[np.int64]:
        """Cut the queries into at most `count` groups, by which `evaluate` sums: the first query of each."""
        n = len(self.queries)
        first = np.unique(np.arange(count) * n // count)
        self.blocks = list(self.cut(first))
        return first

    def cut(self, groups: NDArray[np.int64]) -> Iterator[tuple[EntryBlock, EntryBlock]]:
        """Near and far entries of at most `QUERY_BLOCK` queries at a time; a block lies within one group."""
        near_ptr, far_ptr = self.ptr
        for g, (start, stop) in enumerate(zip(groups, np.append(groups[1:], len(self.queries)))):
            for first in range(start, stop, QUERY_BLOCK):
                queries = slice(first, min(first + QUERY_BLOCK, stop))
                near, far = near_ptr[first : queries.stop + 1], far_ptr[first : queries.stop + 1]
                after = near_ptr[-1] + far
                yield (
                    EntryBlock(g, queries, slice(near[0], near[-1]), near - near[0]),
                    EntryBlock(g, queries, slice(after[0], after[-1]), far - far[0]),
                )

    def each(self, run: Callable[[EntryBlock, EntryBlock], Any]) -> list[Any]:
        """Results of `run` for the near and the far entries of every block of queries."""
        if self.n_jobs == 1:
            return [run(near, far) for near, far in self.blocks]
        with ThreadPoolExecutor(self.n_jobs) as pool:
            return list(pool.map(run, *zip(*self.blocks)))

    def evaluate(
        self,
        u: NDArray[np.float64],
        kernel: Kernel,
        keep: Callable[[slice, NDArray[Any]], None] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Apply a kernel to each query, and sum its values over each column.

        Parameters
        ----------
        u : float64 array
            Free weights.
        kernel : callable
            Takes (near, far, near_ptr, far_ptr), as `Ranking.most_violated`. It gives one value a query, and
            one value for each near and each far point.
        keep : callable, optional
            Called with a slice of all entries and their values.

        Returns
        -------
        each : float64 array (Q,)
        sums : float64 array (groups, n_free)
            sum_q unit_q (sum of values of far entries - of near ones), times the bits they differ in, of the
            queries of each group.
        """
        view = self.counted(u) if len(u) <= FEW_WEIGHTS else self.tabled(u)

        def run(near: EntryBlock, far: EntryBlock) -> tuple[NDArray[np.float64], int, NDArray[np.float64]]:
            closer, farther = view(near), view(far)
            values, pull, push = kernel(closer.distances, farther.distances, near.ptr, far.ptr)
            if keep is not None:
                keep(near.entries, closer.restore(pull))
                keep(far.entries, farther.restore(push))
            return values, near.group, farther.sums(push) - closer.sums(pull)

        each, groups, parts = zip(*self.each(run))
        sums = np.zeros((groups[-1] + 1, len(u)))
        np.add.at(sums, list(groups), parts)
        return np.concatenate(each), sums

    def count(self, n_free: int) -> None:
        """Key of every entry: how many bits of each free weight differ."""
        free = self.schedule.expand(np.arange(float(n_free)), self.n_bits).astype(int)  # weight of each bit
        masks = np.zeros((n_free, self.codes.shape[1]), np.uint8)
        for g, mask in enumerate(masks):
            mask[: -(-self.n_bits // 8)] = np.packbits(free == g, bitorder="little")
        sizes = np.bincount(free, minlength=n_free) + 1
        self.counts = np.indices(tuple(sizes.tolist())).reshape(n_free, -1).astype(np.float64)  # of each key
        radix = np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.uint64)
        words, masks = self.codes.view(np.uint64), masks.view(np.uint64)
        n_keys, n_entries = self.counts.shape[1], len(self.partners)
        self.order, self.run = allocate(n_entries, self.place_dtype), allocate(n_entries, self.place_dtype)

        def group(block: EntryBlock) -> Runs:
            queries, entries = self.queries[block.queries], block.entries
            keys = _keys.count_keys(words, masks, radix, queries, self.partners[entries], block.ptr)
            key, size, ptr = _keys.sort_keys(keys, n_keys, block.ptr, self.order[entries], self.run[entries])
            return Runs(key.astype(np.min_scalar_type(n_keys)), size.astype(self.place_dtype), ptr)

        runs = self.each(lambda near, far: [(block.entries.start, group(block)) for block in (near, far)])
        self.runs = dict(itertools.chain(*runs))

    def free_counts(self) -> None:
        """Free what `count` computed, until the next bit: the family needs the memory."""
        self.order = self.run = np.zeros(0, self.place_dtype)
        self.runs = {}

    def counted(self, u: NDArray[np.float64]) -> Callable[[EntryBlock], View]:
        """Views from counts of differing bits: all entries of a run have one distance."""
        value = u @ self.counts

        def view(block: EntryBlock) -> View:
            runs, unit, ptr = self.runs[block.entries.start], self.unit[block.queries], block.ptr
            order, run = self.order[block.entries], self.run[block.entries]
            shift, distances = _keys.rank_runs(run, *runs, ptr, value)
            return View(
                distances,
                lambda values: _keys.restore(values, order, run, shift, runs.ptr, ptr),
                lambda values: (
                    self.counts @ _keys.sum_runs(values, run, shift, runs.key, runs.ptr, ptr, unit, len(value))
                ),
            )

        return view

    def tabled(self, u: NDArray[np.float64]) -> Callable[[EntryBlock], View]:
        """Views from tables of byte distances; sorting starts at the order of the last call."""
        tables = byte_tables(self.schedule.expand(u, self.n_bits))
        if not len(self.last):
            self.last = np.concatenate(
                [_ranges(np.diff(ptr)) for ptr in self.ptr], dtype=self.place_dtype, casting="unsafe"
            )

        def view(block: EntryBlock) -> View:
            order, unit, ptr = self.last[block.entries], self.unit[block.queries], block.ptr
            where = self.codes, self.queries[block.queries], self.partners[block.entries]
            distances = _keys.sort_again(_keys.table_distances(*where, ptr, tables), order, ptr)

            def sums(values: NDArray[Any]) -> NDArray[np.float64]:
                by_byte = _keys.sum_bytes(*where, order, ptr, values, unit, len(tables))
                by_bit = (by_byte @ BITS_OF_BYTE).ravel()[: self.n_bits]
                return self.schedule.reduce(by_bit[:, None], np.zeros(self.n_bits))[0].ravel()

            return View(distances, lambda values: unsort_lists(values, order, ptr), sums)

        return view

    def differing(self, block: EntryBlock, free: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """The columns (e, k) of some of the free weights, entries in the order of the last `tabled` view."""
        queries = np.repeat(np.arange(len(block.ptr) - 1), np.diff(block.ptr))
        partners = self.partners[block.entries][block.ptr[queries] + self.last[block.entries]]
        codes = self.codes[self.queries[block.queries][queries]] ^ self.codes[partners]
        bits = np.unpackbits(codes, axis=1, count=self.n_bits, bitorder="little")
        return self.schedule.reduce(bits.T, np.zeros(self.n_bits))[0][free].T


def _ranges(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 to size - 1 for each size."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
