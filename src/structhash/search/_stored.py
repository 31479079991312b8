"""Codes in blocks: the part that all indexes share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.locks import fork_safe_lock
from structhash.codes import PreparedQueries, check_codes
from structhash.search._blocks import (
    Block,
    append,
    count,
    ids_of,
    merge,
    numbered,
    own_ids,
    rows_of,
    select,
    widest_ids,
)
from structhash.search._checks import (
    NO_CODE_DISTANCE,
    as_ids,
    check_ids,
    check_k,
    check_queries,
    check_radius,
    refuse_known,
    refuse_repeated,
)
from structhash.search._masks import DenseMask, dense_mask
from structhash.search._scan import Found, Tabled, nearest, nearest_tabled, within, within_tabled
from structhash.search._text_ids import no_ids, shown
from structhash.search.base import Index

__all__ = ["StoredIndex"]

_QUERIES_AT_ONCE = 256  # bounds what is held of all blocks before it is cut to k

# One lock serves all indexes, so that an index can be pickled. Threads hold it to change or merge codes.
_LOCK = fork_safe_lock()


class StoredIndex(Index):
    """Index that holds its codes in blocks.

    A block never changes. A change replaces the tuple of blocks in one step, so a thread that searches sees all
    codes of an add or none of them, and an add that is interrupted leaves the index as it was. A search of
    all codes waits for no lock. It goes from block to block, so that an add between two searches costs little.

    A subclass may override `_nearest` and `_within`, which search one block by plain Hamming distance, and
    `_nearest_tabled`, which serves weights and prepared queries. By default all take the scan of this package,
    on `_n_threads` threads for the nearest codes.

    Parameters
    ----------
    n_bits : int
    weights : float array of shape (n_bits,), optional
        As in `Index`.
    """

    def __init__(self, n_bits: int, weights: ArrayLike | None = None) -> None:
        super().__init__(n_bits, weights)
        self._blocks: tuple[Block, ...] = ()

    def add(self, codes: NDArray[np.uint8], ids: ArrayLike | None = None) -> None:
        """Add codes; parameters and errors as `Index.add`."""
        codes = check_codes(codes, self.n_bits)
        with _LOCK:
            checked = check_ids(ids, len(codes), self.ntotal, own_ids(self._blocks))
            if not len(codes):
                return
            if checked is None:
                new = Block(codes.copy(), None)
            else:
                order = np.argsort(checked)
                new = Block(codes[order], checked[order])
            self._blocks = append(self._blocks, new)

    def _take(self, parts: tuple[Block, ...]) -> None:
        """Add blocks of another index or of a file. They are not copied where they are large."""
        with _LOCK:
            blocks = self._blocks
            for part in parts:
                refuse_known(part.ids, len(part.codes), count(blocks), own_ids(blocks))
                blocks = append(blocks, part) if len(part.codes) else blocks
            self._blocks = blocks

    def remove(self, ids: ArrayLike) -> None:
        """Remove codes; parameters and errors as `Index.remove`."""
        with _LOCK:
            block = self._merged()
            gone = rows_of(as_ids(ids, np.size(ids)), block)
            rows = np.delete(np.arange(len(block.codes)), gone)
            if len(rows) < len(block.codes):
                self._blocks = (Block(block.codes[rows], ids_of(rows, 0, block)),) if len(rows) else ()

    def replace(self, ids: ArrayLike, codes: NDArray[np.uint8]) -> None:
        """Replace codes; parameters and errors as `Index.replace`."""
        codes = check_codes(codes, self.n_bits)
        checked = as_ids(ids, len(codes))
        refuse_repeated(np.sort(checked))
        with _LOCK:
            block = self._merged()
            rows = rows_of(checked, block)
            if len(rows):
                changed = block.codes.copy()
                changed[rows] = codes
                self._blocks = (Block(changed, block.ids),)

    def search(
        self, codes: NDArray[np.uint8] | PreparedQueries, k: int, among: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Find the `k` nearest codes of each query; parameters, returns and errors as `Index.search`.

        Examples
        --------
        >>> from structhash.search import Exact
        >>> index, query = Exact(n_bits=8), np.array([[0b1]], dtype=np.uint8)
        >>> index.search(query, k=2)
        (array([[2147483647, 2147483647]], dtype=int32), array([[-1, -1]]))
        >>> index.add(query)
        >>> index.search(query, k=2)
        (array([[         0, 2147483647]], dtype=int32), array([[ 0, -1]]))
        """
        queries = self._read(codes)
        blocks, mask = self._searched(among, len(queries) == 1 and not isinstance(queries, Tabled))
        n = count(blocks) if mask is None else mask.n_kept
        k = check_k(k, len(queries), n)
        far, dtype = (np.inf, np.float32) if isinstance(queries, Tabled) else (NO_CODE_DISTANCE, np.int32)
        distances: NDArray[Any] = np.full((len(queries), k), far, dtype)
        ids = no_ids((len(queries), k), widest_ids(blocks))
        for part in row_slices(len(queries) if n else 0, _QUERIES_AT_ONCE):
            found = []
            for first, block in numbered(blocks):
                fewer = min(k, n, len(block.codes))
                if isinstance(queries, Tabled):
                    near, rows = self._nearest_tabled(queries[part], block.codes, fewer)
                elif mask is not None:
                    near, rows = nearest(queries, block.codes, fewer, self._n_threads(), mask.kept)
                else:
                    near, rows = self._nearest(queries[part], block.codes, fewer)
                found.append((near, ids_of(rows, first, block)))
            near, names = (np.concatenate(each, axis=1) for each in zip(*found))
            if len(blocks) > 1:
                order = np.lexsort([names, near])[:, :k]
                near, names = np.take_along_axis(near, order, 1), np.take_along_axis(names, order, 1)
            distances[part, : near.shape[1]], ids[part, : near.shape[1]] = near, names
        return distances, shown(ids)

    def radius(
        self, codes: NDArray[np.uint8] | PreparedQueries, r: float, among: ArrayLike | None = None
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Find all codes within distance `r`; parameters, returns and errors as `Index.radius`.

        Memory grows with the number of codes found, not with the size of the index.
        """
        queries, r, blocks = self._read(codes), check_radius(r), self._searched(among)[0]
        lims = np.zeros(len(queries) + 1, dtype=np.int64)
        dtype = np.float32 if isinstance(queries, Tabled) else np.int32
        found: list[Any] = [(np.empty(0, dtype), no_ids(0, widest_ids(blocks)), np.empty(0, np.int64))]
        for first, block in numbered(blocks):
            if isinstance(queries, Tabled):
                own_lims, near, rows = within_tabled(queries, block.codes, r)
            else:
                own_lims, near, rows = self._within(queries, block.codes, r)
            owner = np.repeat(np.arange(len(queries)), np.diff(own_lims))
            found.append((near, ids_of(rows, first, block), owner))
            lims += own_lims
        near, names, owner = (np.concatenate(each) for each in zip(*found))
        if len(blocks) > 1:
            order = np.lexsort([names, near, owner])
            near, names = near[order], names[order]
        return lims, near, shown(names)

    def _nearest(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], k: int
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Distances and rows (n_queries, k) of the nearest codes, by (distance, row); k is at most n."""
        return nearest(queries, codes, k, self._n_threads())

    def _nearest_tabled(self, queries: Tabled, codes: NDArray[np.uint8], k: int) -> Found:
        """`_nearest` by sums of table entries, for weights and prepared queries."""
        return nearest_tabled(queries, codes, k, self._n_threads())

    def _n_threads(self) -> int:
        """Number of threads of a search for the nearest codes."""
        return 1

    def _within(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], r: float
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Lims (n_queries + 1,), distances and rows of the codes within r, by (query, distance, row)."""
        return within(queries, codes, r)

    def _read(self, queries: NDArray[np.uint8] | PreparedQueries) -> NDArray[np.uint8] | Tabled:
        """Queries after the checks: packed where distances are whole numbers of differing bits."""
        checked = check_queries(queries, self.n_bits)
        if isinstance(checked, PreparedQueries) or self.weights is not None:
            return Tabled(checked, self.weights)
        return checked

    def _searched(
        self, among: ArrayLike | None, in_place: bool = False
    ) -> tuple[tuple[Block, ...], DenseMask | None]:
        """The blocks to search, and the `dense_mask` of their codes where the search is to pass over others."""
        if among is None:
            return self._blocks, None
        block = self._merged()
        if in_place and (mask := dense_mask(among, block.codes)) is not None:
            return (block,), mask
        return (select(block, among),), None

    @property
    def ntotal(self) -> int:
        """Number of codes in the index."""
        return count(self._blocks)

    def table(self) -> tuple[NDArray[np.uint8], NDArray[Any] | None]:
        """Return codes and ids as `Index.table`, read-only."""
        codes, ids = self._merged()
        return _read_only(codes), None if ids is None else _read_only(shown(ids))

    def _parts(self) -> tuple[Block, ...]:
        """The blocks."""
        return self._blocks

    def _merged(self) -> Block:
        """All codes as one block."""
        with _LOCK:
            if not self._blocks:
                return Block(np.empty((0, -(-self.n_bits // 8)), dtype=np.uint8), None)
            if len(self._blocks) > 1:
                self._blocks = (merge(self._blocks),)
            return self._blocks[0]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to."""
    return np.broadcast_to(array, array.shape)
