"""What is derived from a block of codes once, and kept as long as the block lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from structhash.codes import Decoder

__all__ = ["Kept", "squared_lengths"]


class Kept:
    """Values by block of codes, which must never change."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[ReferenceType[NDArray[np.uint8]], Any]] = {}

    def peek(self, codes: NDArray[np.uint8]) -> Any:
        """The value of a block; None where it is not made yet."""
        entry = self._entries.get(id(codes))
        return entry[1] if entry is not None and entry[0]() is codes else None

    def get(self, codes: NDArray[np.uint8], make: Callable[[NDArray[np.uint8]], Any]) -> Any:
        """The value of a block; made at the first call. Threads may make it twice, and get equal ones."""
        if (found := self.peek(codes)) is not None:
            return found
        value, key, entries = make(codes), id(codes), self._entries
        entries[key] = (ref(codes, lambda _: entries.pop(key, None)), value)
        return value


_LENGTHS: WeakKeyDictionary[Decoder, Kept] = WeakKeyDictionary()


def squared_lengths(decoder: Decoder, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """`Decoder.squared_lengths` of a block of codes."""
    lengths: NDArray[np.float32] = _LENGTHS.setdefault(decoder, Kept()).get(codes, decoder.squared_lengths)
    return lengths
