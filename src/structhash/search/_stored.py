"""Codes in memory: the part that `Exact` and `Flat` share."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash.codes import check_codes
from structhash.search._checks import check_ids
from structhash.search.base import Index

__all__ = ["Block", "StoredIndex"]

# One lock serves all indexes, so that an index can be pickled. Threads hold it while they add or merge codes.
_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):  # a fork waits for the lock, so that no child inherits it locked
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class Block(NamedTuple):
    """Codes in ascending order of their ids."""

    codes: NDArray[np.uint8]  # (n, ceil(n_bits / 8))
    ids: NDArray[np.int64] | None  # (n,); None for running numbers


class StoredIndex(Index):
    """Index that holds its codes in blocks.

    A block never changes. `add` replaces the tuple of blocks in one step, so a thread that searches sees all
    codes of an add or none of them, and an add that is interrupted leaves the index as it was.

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

    @property
    def ntotal(self) -> int:
        """Number of codes in the index."""
        return sum(len(codes) for codes, _ in self._blocks)

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


def _append(blocks: tuple[Block, ...], new: Block) -> tuple[Block, ...]:
    """Append a block, merged with the last blocks while they are less than twice as large.

    So n codes are in at most log2(n) + 1 blocks, and n adds of one code copy n log2(n) codes.
    """
    first, size = len(blocks), len(new.codes)
    while first and len(blocks[first - 1].codes) < 2 * size:
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
