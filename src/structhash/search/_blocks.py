"""Blocks of codes, which never change: made, merged, and looked up by id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe, refuse_masked
from structhash.search._checks import Ids, as_ids
from structhash.search._kept import part_of
from structhash.search._masks import rows_kept
from structhash.search._text_ids import check_same_kind, spell_id

__all__ = [
    "Block",
    "append",
    "count",
    "ids_of",
    "merge",
    "numbered",
    "own_ids",
    "rows_of",
    "select",
    "widest_ids",
]

_SMALL_BLOCK = 1024  # codes that take about as long to copy as to search for by themselves


class Block(NamedTuple):
    """Codes in ascending order of their ids."""

    codes: NDArray[np.uint8]  # (n, ceil(n_bits / 8))
    ids: Ids | None  # (n,); None for row numbers

    def part(self, rows: slice) -> Block:
        """Some of the codes, not copied."""
        return Block(self.codes[rows], None if self.ids is None else self.ids[rows])


def count(blocks: Sequence[Block]) -> int:
    """Number of codes in blocks."""
    return sum(len(codes) for codes, _ in blocks)


def own_ids(blocks: Sequence[Block]) -> list[Ids]:
    """The own ids of the codes of each block; none where codes have row numbers."""
    return [ids for _, ids in blocks if ids is not None]


def widest_ids(blocks: Sequence[Block]) -> Ids | None:
    """The ids of a block whose dtype can hold those of all blocks; None for row numbers."""
    return max(own_ids(blocks), key=lambda ids: ids.dtype.itemsize, default=None)


def numbered(blocks: Sequence[Block]) -> Iterator[tuple[int, Block]]:
    """Yield the row number of the first code of each block that has codes, and the block."""
    first = 0
    for block in blocks:
        if len(block.codes):
            yield first, block
        first += len(block.codes)


def ids_of(rows: NDArray[np.int64], first: int, block: Block) -> Ids:
    """Ids of rows of a block, whose first row has the row number `first`."""
    return rows + first if block.ids is None else block.ids[rows]


def append(blocks: tuple[Block, ...], new: Block) -> tuple[Block, ...]:
    """Append a block, merged with the last blocks while they are small or less than twice as large.

    So n codes are in at most log2(n) + 1 blocks, and n adds of one code copy at most n (log2(n) + 2048) codes.
    """
    first, size = len(blocks), len(new.codes)
    while first and len(blocks[first - 1].codes) < 2 * max(size, _SMALL_BLOCK):
        first -= 1
        size += len(blocks[first].codes)
    return (*blocks[:first], merge((*blocks[first:], new)))


def merge(blocks: Sequence[Block]) -> Block:
    """Merge blocks into one."""
    if len(blocks) == 1:
        return blocks[0]
    own = own_ids(blocks)
    if not own:
        return Block(np.concatenate([codes for codes, _ in blocks]), None)
    ids = np.concatenate(own)
    order = np.argsort(ids, kind="stable")  # fast on runs that ascend
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    codes = np.empty((len(ids), blocks[0].codes.shape[1]), np.uint8)
    for first, block in numbered(blocks):  # no copy of all codes in the old order
        codes[place[first : first + len(block.codes)]] = block.codes
    return Block(codes, ids[order])


def rows_of(ids: Ids, block: Block) -> NDArray[np.int64]:
    """Rows of a block that have these ids (m,); errors if it lacks one, or has ids of another kind."""
    n = len(block.codes)
    if n:
        check_same_kind(ids, block.ids)
    if not n or not ids.size:
        rows, present = np.empty(0, np.int64), np.zeros(ids.size, bool)
    elif block.ids is None:
        rows, present = ids, ids < n
    else:
        rows = np.searchsorted(block.ids, ids)
        present = block.ids[np.minimum(rows, n - 1)] == ids
    if not present.all():
        missing = ids[~present]
        raise ValueError(
            f"{missing.size} of {ids.size} ids are not in the index, such as {spell_id(missing[0])}"
        )
    return rows


def select(block: Block, among: ArrayLike) -> Block:
    """The part of a block that a search is limited to.

    Parameters
    ----------
    block : Block
    among : bool array (n,), one for each code in ascending order of ids; or int array (m,), ids

    Returns
    -------
    Block
        With the ids that its codes have in the whole block.

    Raises
    ------
    TypeError, ValueError
        If it is neither, or an id is not in the block, or a mask holds 0 and 1, which could be ids.
    """
    refuse_masked("among", among)
    n = len(block.codes)
    try:
        given = np.asarray(among)
    except ValueError:  # rows of several lengths
        raise ValueError(f"among={describe(among)}: give ids, or a mask of shape ({n},)") from None
    if n > 2 and given.shape == (n,) and given.dtype.kind in "iu" and np.isin(given, (0, 1)).all():
        raise TypeError(
            "among holds only 0 and 1, as a mask does; give among.astype(bool), or ids without repeats"
        )
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise ValueError(f"among={describe(among)}: give a mask of shape ({n},), one for each code, or ids")
        rows = rows_kept(given)
    else:
        try:
            rows = rows_of(_ascending(as_ids(among, given.size)), block)
        except (TypeError, ValueError) as error:
            raise type(error)(f"among: {error}; or give a mask of shape ({n},)") from None
    return Block(part_of(block.codes, rows), rows if block.ids is None else block.ids[rows])


def _ascending(ids: Ids) -> Ids:
    """Ids in ascending order, each once."""
    if (ids[1:] > ids[:-1]).all():
        return ids
    ids = np.sort(ids)
    return np.append(ids[:1], ids[1:][ids[1:] != ids[:-1]])
