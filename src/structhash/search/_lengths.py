"""Squared lengths of what codes decode to, computed once for each decoder and block of codes."""

from __future__ import annotations

from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from structhash.codes import Decoder

__all__ = ["squared_lengths"]

_Kept = list[tuple[ReferenceType[NDArray[np.uint8]], NDArray[np.float32]]]
_KEPT: WeakKeyDictionary[Decoder, _Kept] = WeakKeyDictionary()  # as long as decoder and codes live


def squared_lengths(decoder: Decoder, codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """`Decoder.squared_lengths` of a block of codes, which must never change."""
    kept = [entry for entry in _KEPT.get(decoder, []) if entry[0]() is not None]
    for block, lengths in kept:
        if block() is codes:
            return lengths
    lengths = decoder.squared_lengths(codes)
    _KEPT[decoder] = [*kept, (ref(codes), lengths)]  # replaced in one step: another thread may read it
    return lengths
