"""The bits at hand, and what the masters ask of every entry (query, partner): distances and sums.

Of the bits only the packed code of each point is kept. What two codes differ in gives the distance of an entry
and the columns it adds to, for a block of queries at a time.
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

QUERY_BLOCK = 512  # queries at a time
FEW_WEIGHTS = 3  # free weights up to which it is enough to count the bits of each that differ

BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(
    np.float64
)

Kernel = Callable[..., tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]


class Side(NamedTuple):
    """The near or the far entries of a block of queries."""

    group: int
    queries: slice
    entries: slice  # places among all entries
    ptr: NDArray[np.int64]  # of each query, from 0


class View(NamedTuple):
    """What the masters need of the entries of one side."""

    distances: NDArray[np.float64]  # maybe sorted within a query
    restore: Callable[[NDArray[Any]], NDArray[Any]]  # values in that order, in the order of the entries
    sums: Callable[[NDArray[Any]], NDArray[np.float64]]  # of values in that order, times unit and each column


class Runs(NamedTuple):
    """Entries of one side that have one key: see `_keys.sort_keys`."""

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
        What a value of each query's entries counts in a sum.
    n_jobs : int
        Threads over blocks of queries; nothing depends on it.
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
        self.places = np.min_scalar_type(max(np.diff(ptr).max() for ptr in self.ptr))
        self.last = np.zeros(0, self.places)  # order of entries within each query at the last weights
        self.groups(1)

    def add(self, bit: NDArray[np.uint8], n_free: int) -> None:
        """One more bit (n,), and the number of free weights with it."""
        byte, place = divmod(self.n_bits, 8)
        if byte == self.codes.shape[1]:
            self.codes = np.hstack([self.codes, np.zeros_like(self.codes[:, :8])])
        self.codes[:, byte] |= bit << place
        self.n_bits += 1
        if n_free <= FEW_WEIGHTS:
            self.count(n_free)

    def groups(self, count: int) -> NDArray[np.int64]:
        """Cut the queries into at most so many groups, for `evaluate`: the first query of each."""
        n = len(self.queries)
        first = np.unique(np.arange(count) * n // count)
        self.sides = list(self.cut(first))
        return first

    def cut(self, groups: NDArray[np.int64]) -> Iterator[tuple[Side, Side]]:
        """Near and far entries of at most `QUERY_BLOCK` queries at a time, none of two groups."""
        near_ptr, far_ptr = self.ptr
        for g, (start, stop) in enumerate(zip(groups, np.append(groups[1:], len(self.queries)))):
            for first in range(start, stop, QUERY_BLOCK):
                queries = slice(first, min(first + QUERY_BLOCK, stop))
                near, far = near_ptr[first : queries.stop + 1], far_ptr[first : queries.stop + 1]
                after = near_ptr[-1] + far
                yield (
                    Side(g, queries, slice(near[0], near[-1]), near - near[0]),
                    Side(g, queries, slice(after[0], after[-1]), far - far[0]),
                )

    def each(self, run: Callable[[Side, Side], Any]) -> list[Any]:
        """What `run` gives for the two sides of every block."""
        if self.n_jobs == 1:
            return [run(near, far) for near, far in self.sides]
        with ThreadPoolExecutor(self.n_jobs) as pool:
            return list(pool.map(run, *zip(*self.sides)))

    def evaluate(
        self,
        u: NDArray[np.float64],
        kernel: Kernel,
        keep: Callable[[slice, NDArray[Any]], None] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a kernel says of each query, and the sums of its values over each column.

        Parameters
        ----------
        u : float64 array
            Free weights.
        kernel : callable
            Of (near, far, near_ptr, far_ptr), as `Ranking.most_violated`: gives an array of one value a query,
            and two of values of the near and of the far points.
        keep : callable, optional
            Is given places among all entries, and their values.

        Returns
        -------
        each : float64 array (Q,)
        sums : float64 array (groups, n_free)
            sum_q unit_q (sum of values of far entries - of near ones), times the bits they differ in, of the
            queries of each group.
        """
        view = self.counted(u) if len(u) <= FEW_WEIGHTS else self.tabled(u)

        def run(near: Side, far: Side) -> tuple[NDArray[np.float64], int, NDArray[np.float64]]:
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
        self.order, self.run = allocate(n_entries, self.places), allocate(n_entries, self.places)

        def group(side: Side) -> Runs:
            queries, entries = self.queries[side.queries], side.entries
            keys = _keys.count_keys(words, masks, radix, queries, self.partners[entries], side.ptr)
            key, size, ptr = _keys.sort_keys(keys, n_keys, side.ptr, self.order[entries], self.run[entries])
            return Runs(key.astype(np.min_scalar_type(n_keys)), size.astype(self.places), ptr)

        runs = self.each(lambda near, far: [(side.entries.start, group(side)) for side in (near, far)])
        self.runs = dict(itertools.chain(*runs))

    def rest(self) -> None:
        """Give up what `count` made, until the next bit: a family needs the room."""
        self.order = self.run = np.zeros(0, self.places)
        self.runs = {}

    def counted(self, u: NDArray[np.float64]) -> Callable[[Side], View]:
        """Views by how many bits of each free weight differ: few distances a query, one a run of entries."""
        value = u @ self.counts

        def view(side: Side) -> View:
            runs, unit, ptr = self.runs[side.entries.start], self.unit[side.queries], side.ptr
            order, run = self.order[side.entries], self.run[side.entries]
            shift, distances = _keys.rank_runs(run, *runs, ptr, value)
            return View(
                distances,
                lambda values: _keys.restore(values, order, run, shift, runs.ptr, ptr),
                lambda values: (
                    self.counts @ _keys.sum_runs(values, run, shift, runs.key, runs.ptr, ptr, unit, len(value))
                ),
            )

        return view

    def tabled(self, u: NDArray[np.float64]) -> Callable[[Side], View]:
        """Views by which bits differ, a byte at a time; entries are sorted from the order of the last ones."""
        tables = byte_tables(self.schedule.expand(u, self.n_bits))
        if not len(self.last):
            self.last = np.concatenate(
                [places(np.diff(ptr)) for ptr in self.ptr], dtype=self.places, casting="unsafe"
            )

        def view(side: Side) -> View:
            order, unit, ptr = self.last[side.entries], self.unit[side.queries], side.ptr
            where = self.codes, self.queries[side.queries], self.partners[side.entries]
            distances = _keys.sort_again(_keys.table_distances(*where, ptr, tables), order, ptr)

            def sums(values: NDArray[Any]) -> NDArray[np.float64]:
                by_byte = _keys.sum_bytes(*where, order, ptr, values, unit, len(tables))
                by_bit = (by_byte @ BITS_OF_BYTE).ravel()[: self.n_bits]
                return self.schedule.reduce(by_bit[:, None], np.zeros(self.n_bits))[0].ravel()

            return View(distances, lambda values: unsort_lists(values, order, ptr), sums)

        return view

    def differing(self, side: Side, free: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """The columns (e, k) of some of the free weights, entries in the order of the last `tabled` view."""
        queries = np.repeat(np.arange(len(side.ptr) - 1), np.diff(side.ptr))
        partners = self.partners[side.entries][side.ptr[queries] + self.last[side.entries]]
        codes = self.codes[self.queries[side.queries][queries]] ^ self.codes[partners]
        bits = np.unpackbits(codes, axis=1, count=self.n_bits, bitorder="little")
        return self.schedule.reduce(bits.T, np.zeros(self.n_bits))[0][free].T


def places(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 to size - 1 for each size."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
