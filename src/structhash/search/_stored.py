"""Codes in memory: the part that `Exact` and `Flat` share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.locks import fork_safe_lock
from structhash.codes import check_codes
from structhash.search._checks import NO_CODE_DISTANCE, check_ids, check_k, check_radius
from structhash.search.base import Index

__all__ = ["Block", "StoredIndex"]

_SMALL_BLOCK = 1024  # codes that take about as long to copy as to search for by themselves
_QUERIES_AT_ONCE = 256  # bounds what is held of all blocks before it is cut to k

# One lock serves all indexes, so that an index can be pickled. Threads hold it while they add or merge codes.
_LOCK = fork_safe_lock()


class Block(NamedTuple):
    """Codes in ascending order of their ids."""

    codes: NDArray[np.uint8]  # (n, ceil(n_bits / 8))
    ids: NDArray[np.int64] | None  # (n,); None for running numbers


class StoredIndex(Index):
    """Index that holds its codes in blocks.

    A block never changes. `add` replaces the tuple of blocks in one step, so a thread that searches sees all
    codes of an add or none of them, and an add that is interrupted leaves the index as it was. A search waits
    for no lock. It goes from block to block, so that an add between two searches costs little.

    A subclass implements `_nearest` and `_within`, which search one block.

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
            ids = check_ids(ids, len(codes), self.ntotal, [own for _, own in self._blocks if own is not None])
            if not len(codes):
                return
            if ids is None:
                new = Block(codes.copy(), None)
            else:
                order = np.argsort(ids)
                new = Block(codes[order], ids[order])
            self._blocks = _append(self._blocks, new)

    def search(self, codes: NDArray[np.uint8], k: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
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
        queries, blocks = check_codes(codes, self.n_bits, "queries"), self._blocks
        k = check_k(k, len(queries), _count(blocks))
        empty = NO_CODE_DISTANCE if self.weights is None else np.inf
        distances = np.full((len(queries), k), empty, self._distance_type)
        ids = np.full((len(queries), k), -1, dtype=np.int64)
        for part in row_slices(len(queries) if blocks else 0, _QUERIES_AT_ONCE):
            found = []
            for first, block in _numbered(blocks):
                near, rows = self._nearest(queries[part], block.codes, min(k, len(block.codes)))
                found.append((near, _ids_of(rows, first, block)))
            near, names = (np.concatenate(each, axis=1) for each in zip(*found))
            if len(blocks) > 1:
                order = np.lexsort([names, near])[:, :k]
                near, names = np.take_along_axis(near, order, 1), np.take_along_axis(names, order, 1)
            distances[part, : near.shape[1]], ids[part, : near.shape[1]] = near, names
        return distances, ids

    def radius(
        self, codes: NDArray[np.uint8], r: float
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Find all codes within distance `r`; parameters, returns and errors as `Index.radius`.

        Memory grows with the number of codes found, not with the size of the index.
        """
        queries, r, blocks = check_codes(codes, self.n_bits, "queries"), check_radius(r), self._blocks
        lims = np.zeros(len(queries) + 1, dtype=np.int64)
        found = [(np.empty(0, self._distance_type), np.empty(0, np.int64), np.empty(0, np.int64))]
        for first, block in _numbered(blocks):
            own_lims, near, rows = self._within(queries, block.codes, r)
            owner = np.repeat(np.arange(len(queries)), np.diff(own_lims))
            found.append((near, _ids_of(rows, first, block), owner))
            lims += own_lims
        near, names, owner = (np.concatenate(each) for each in zip(*found))
        if len(blocks) > 1:
            order = np.lexsort([names, near, owner])
            near, names = near[order], names[order]
        return lims, near, names

    def _nearest(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], k: int
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Distances and rows (n_queries, k) of the nearest codes, by (distance, row); k is at most n."""
        raise NotImplementedError

    def _within(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], r: float
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Lims (n_queries + 1,), distances and rows of the codes within r, by (query, distance, row)."""
        raise NotImplementedError

    @property
    def _distance_type(self) -> type[Any]:
        """Dtype of distances."""
        return np.int32 if self.weights is None else np.float32

    @property
    def ntotal(self) -> int:
        """Number of codes in the index."""
        return _count(self._blocks)

    def table(self) -> tuple[NDArray[np.uint8], NDArray[np.int64] | None]:
        """Return codes and ids as `Index.table`, read-only."""
        codes, ids = self._merged()
        return _read_only(codes), None if ids is None else _read_only(ids)

    def _merged(self) -> Block:
        """All codes as one block."""
        with _LOCK:
            if not self._blocks:
                return Block(np.empty((0, -(-self.n_bits // 8)), dtype=np.uint8), None)
            if len(self._blocks) > 1:
                self._blocks = (_merge(self._blocks),)
            return self._blocks[0]


def _count(blocks: tuple[Block, ...]) -> int:
    """Number of codes in blocks."""
    return sum(len(codes) for codes, _ in blocks)


def _numbered(blocks: tuple[Block, ...]) -> Iterator[tuple[int, Block]]:
    """Yield the running number of the first code of each block, and the block."""
    first = 0
    for block in blocks:
        yield first, block
        first += len(block.codes)


def _ids_of(rows: NDArray[np.int64], first: int, block: Block) -> NDArray[np.int64]:
    """Ids of rows of a block, whose first row has the running number `first`."""
    return rows + first if block.ids is None else block.ids[rows]


def _append(blocks: tuple[Block, ...], new: Block) -> tuple[Block, ...]:
    """Append a block, merged with the last blocks while they are small or less than twice as large.

    So n codes are in at most log2(n) + 1 blocks, and n adds of one code copy at most n (log2(n) + 2048) codes.
    """
    first, size = len(blocks), len(new.codes)
    while first and len(blocks[first - 1].codes) < 2 * max(size, _SMALL_BLOCK):
        first -= 1
        size += len(blocks[first].codes)
    return (*blocks[:first], _merge((*blocks[first:], new)))


def _merge(blocks: Sequence[Block]) -> Block:
    """Merge blocks into one."""
    if len(blocks) == 1:
        return blocks[0]
    codes = np.concatenate([codes for codes, _ in blocks])
    own = [ids for _, ids in blocks if ids is not None]
    if not own:
        return Block(codes, None)
    ids = np.concatenate(own)
    order = np.argsort(ids, kind="stable")  # fast on runs that ascend
    return Block(codes[order], ids[order])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to."""
    return np.broadcast_to(array, array.shape)
