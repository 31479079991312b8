"""Ids of codes as arrays of a container: numbers, or the bytes of all texts and where each text ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.io.container import Arrays
from structhash.io.formats.base import Ids

__all__ = ["stored_ids", "take_ids"]


def stored_ids(ids: Ids | None, n_rows: int) -> Arrays:
    """The arrays that keep ids; ValueError unless there is one for each row."""
    if ids is None:
        return {}
    blocks = list(ids.blocks)
    if (n_ids := sum(map(len, blocks))) != n_rows:
        raise ValueError(f"there are {n_ids} ids of {n_rows} codes; give one each")
    if not ids.text:
        return {"ids": np.concatenate([np.empty(0, np.int64), *blocks])}
    texts = [text.encode() for block in blocks for text in block.tolist()]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {"id_bytes": np.frombuffer(b"".join(texts), np.uint8), "id_ends": ends}


def take_ids(arrays: Arrays) -> NDArray[np.int64] | NDArray[np.object_] | None:
    """Take the ids out of the arrays of a container; None if there are none, ValueError if they are damaged."""
    if "id_ends" not in arrays:
        ids = arrays.pop("ids", None)
        if ids is not None and (ids.dtype != np.int64 or ids.ndim != 1):
            raise ValueError(f"its ids are {ids.dtype} of shape {ids.shape}")
        return ids
    data, ends = arrays.pop("id_bytes", np.empty(0, np.uint8)).tobytes(), arrays.pop("id_ends")
    if ends.dtype != np.int64 or ends.ndim != 1 or (np.diff(ends, prepend=0, append=len(data)) < 0).any():
        raise ValueError("its ids do not fit their places")
    starts = np.concatenate([[0], ends[:-1]])
    texts = np.empty(len(ends), object)
    texts[:] = [data[start:end].decode() for start, end in zip(starts, ends)]
    return texts
