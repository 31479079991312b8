"""Ids that are text, kept as UTF-8 in numpy arrays of bytes ("S").

The bytes of UTF-8 sort as the characters do, and numpy sorts, merges and looks them up as it does numbers.
Each block of codes keeps its ids at the width of its longest. Zeros fill up the others, so no id holds one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe

__all__ = [
    "check_same_kind",
    "check_text",
    "encode_ids",
    "from_stored",
    "holds_neighbour",
    "is_text",
    "no_ids",
    "shown",
    "spell_id",
    "to_stored",
]

_MAX_ID_BYTES = 512  # one long id makes all ids of its block as long


def is_text(ids: NDArray[Any] | None) -> bool:
    """Whether ids are text."""
    return ids is not None and ids.dtype.kind == "S"


def encode_ids(values: NDArray[Any]) -> NDArray[np.bytes_]:
    """Text ids (n,) of str objects as bytes; ValueError if one is empty, too long, or no text."""
    try:
        encoded = [each.encode() for each in values.tolist()]
    except UnicodeEncodeError as error:
        raise ValueError(f"id {describe(error.object)} holds half a character; give valid text") from None
    for each in encoded:
        if not 0 < len(each) <= _MAX_ID_BYTES or b"\0" in each:
            raise ValueError(
                f"id {describe(each.decode())}: give text of 1 to {_MAX_ID_BYTES} bytes in UTF-8, without the "
                "character 0"
            )
    return np.array(encoded, dtype=np.bytes_)


def shown(ids: NDArray[Any]) -> NDArray[Any]:
    """Ids as callers get them: int64, or an object array of str."""
    if not is_text(ids):
        return ids
    found = np.empty(ids.size, dtype=object)
    found[:] = [each.decode() for each in ids.ravel().tolist()]
    return found.reshape(ids.shape)


def spell_id(each: Any) -> str:
    """One id for a message."""
    return describe(each.decode()) if isinstance(each, bytes) else str(each)


def no_ids(shape: Any, like: NDArray[Any] | None) -> NDArray[Any]:
    """Ids of empty places: -1, or empty text where ids are `like` text."""
    if is_text(like):
        return np.zeros(shape, like.dtype)  # type: ignore[union-attr]
    return np.full(shape, -1, dtype=np.int64)


def holds_neighbour(ids: ArrayLike) -> NDArray[np.bool_]:
    """Which places of a search result, or of its file, hold a neighbour, of any shape; the others are empty.

    TypeError for other ids, such as floats, whose empty places are not known.

    >>> holds_neighbour(np.array([[3, 0, -1]])), holds_neighbour(np.array(["b", ""]))
    (array([[ True,  True, False]]), array([ True, False]))
    """
    given = np.asarray(ids)
    objects = given.dtype.kind == "O"
    if given.dtype.kind == "i":
        found: NDArray[np.bool_] = given != -1
    elif given.dtype.kind == "U" or (objects and all(isinstance(each, str) for each in given.flat)):
        found = given != ""
    else:
        what = "other objects than text" if objects else given.dtype.name
        raise TypeError(f"ids hold {what}; give ids as a search returns them: signed whole numbers or text")
    return found


def check_same_kind(ids: NDArray[Any], known: NDArray[Any] | None) -> None:
    """TypeError if some ids are text and those of an index are whole numbers, or the other way round."""
    if ids.size and is_text(ids) != is_text(known):
        kinds = "whole numbers", "text"
        raise TypeError(
            f"this index has ids that are {kinds[is_text(known)]}, got {kinds[is_text(ids)]} such as "
            f"{spell_id(ids[0])}; give {kinds[is_text(known)]}"
        )


def to_stored(ids: NDArray[Any]) -> NDArray[Any]:
    """Ids as a file keeps them: int64 (n,), or for text the bytes, uint8 (n, width)."""
    if not is_text(ids):
        return ids
    return np.ascontiguousarray(ids).view(np.uint8).reshape(len(ids), ids.dtype.itemsize)


def from_stored(table: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Text ids (n,) from what `to_stored` gives; not copied."""
    return table.view(f"S{table.shape[1]}")[:, 0]


def check_text(rows: NDArray[np.uint8]) -> None:
    """ValueError if one of the ids in a file (n, width) is not what `encode_ids` gives."""
    first = rows[:, 0]
    broken = (first == 0) | (first & 0xC0 == 0x80)  # empty, or begins inside a character
    broken |= ((rows[:, :-1] == 0) & (rows[:, 1:] != 0)).any(axis=1)
    try:
        rows.tobytes().decode()
    except UnicodeDecodeError:
        broken[:] = True
    if broken.any():
        raise ValueError("its ids are no text")
