"""What is derived from a block of codes once, and kept as long as the block lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from structhash.codes import Decoder, as_words

__all__ = ["Kept", "extremes", "long_words", "part_of", "squared_lengths"]

_LARGE_PART = 0.05  # of a block; for a smaller part, the whole block is not worth computing


class Kept:
    """Values by block of codes, or by another array that never changes."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[ReferenceType[NDArray[Any]], Any]] = {}

    def peek(self, codes: NDArray[Any]) -> Any:
        """The value of a block; None where it is not made yet."""
        entry = self._entries.get(id(codes))
        return entry[1] if entry is not None and entry[0]() is codes else None

    def get(self, codes: NDArray[Any], make: Callable[[NDArray[Any]], Any]) -> Any:
        """The value of a block; made at the first call. Threads may make it twice, and get equal ones."""
        if (found := self.peek(codes)) is not None:
            return found
        value, key, entries = make(codes), id(codes), self._entries
        entries[key] = (ref(codes, lambda _: entries.pop(key, None)), value)
        return value


_WORDS, _PARTS, _EXTREMES = Kept(), Kept(), Kept()
_LENGTHS: WeakKeyDictionary[Decoder, Kept] = WeakKeyDictionary()


def part_of(codes: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Some rows of a block of codes, which know their block while they live."""
    part = codes.take(rows, axis=0)
    _PARTS.get(part, lambda _: (codes, rows))
    return part


def squared_lengths(decoder: Decoder, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """`Decoder.squared_lengths` of a block of codes; those of a part are taken from those of its block."""
    kept = _LENGTHS.setdefault(decoder, Kept())
    if (whole := _PARTS.peek(codes)) is not None:
        block, rows = whole
        if len(codes) >= _LARGE_PART * len(block) or kept.peek(block) is not None:
            return squared_lengths(decoder, block)[rows]
    lengths: NDArray[np.float32] = kept.get(codes, decoder.squared_lengths)
    return lengths


def extremes(terms: NDArray[np.float32]) -> tuple[float, float]:
    """The least and the largest term of codes; 0 where none is given."""
    if not len(terms):
        return 0.0, 0.0
    found: tuple[float, float] = _EXTREMES.get(terms, lambda kept: (float(kept.min()), float(kept.max())))
    return found


def long_words(codes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """`as_words` of a block of codes, as uint64; what has to be copied is kept."""
    if codes.shape[1] % 8 == 0 and codes.ctypes.data % 8 == 0:
        return as_words(codes, np.uint64)  # a view, which would keep the block if it was kept
    words: NDArray[np.uint64] = _WORDS.get(codes, lambda block: as_words(block, np.uint64))
    return words
