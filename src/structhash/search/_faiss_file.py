"""Read faiss files of flat binary indexes without faiss.

faiss reads such a file too, but takes the sizes in it on trust: one changed bit can make it ask for terabytes.
Its limit on sizes holds for the whole process, also for what other threads read.
"""

from __future__ import annotations

import os
from pathlib import Path
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.io import container as files

__all__ = ["FlatFile", "read_flat_file"]

_TAGS_WITH_IDS = (b"IBMp", b"IBM2")
_HEADER = Struct("<4siiq?i")  # tag, number of bits, bytes of a code, number of codes, is trained, metric
_COUNT = Struct("<Q")  # entries of the array that follows


class FlatFile(NamedTuple):
    """The content of a faiss file."""

    n_bits: int  # a multiple of 8
    codes: NDArray[np.uint8]  # (n, n_bits / 8)
    ids: NDArray[np.int64] | None  # (n,), in the order of the codes


def read_flat_file(path: str | os.PathLike[str]) -> FlatFile:
    """Read an IndexBinaryFlat, or an IndexBinaryIDMap or IndexBinaryIDMap2 over one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is damaged or holds something else.
    """
    files.check_is_file(path)
    content = Path(path).read_bytes()
    mapped = content[:4] in _TAGS_WITH_IDS
    place = _HEADER.size if mapped else 0
    if content[place : place + 4] != b"IBxF":
        raise ValueError(
            f"cannot read {path}: it is not a faiss file of a flat binary index; read it with faiss, or index "
            "the codes again"
        )
    try:
        _, n_bits, width, n, _, _ = header = _HEADER.unpack_from(content, place)
        ids_after = 8 * n + _COUNT.size if mapped else 0
        size = place + _HEADER.size + _COUNT.size + n * width + ids_after
        outer = _HEADER.unpack_from(content)
        (n_bytes,) = _COUNT.unpack_from(content, place + _HEADER.size)
        (n_ids,) = _COUNT.unpack_from(content, size - ids_after) if mapped else (n,)
        whole = len(content) == size and (n_bytes, n_ids) == (n * width, n) and outer[1:4] == header[1:4]
    except (StructError, OverflowError):  # the file ends before, or a number points beyond it
        whole = False
    if not whole or n_bits != 8 * width or width < 1 or n < 0:
        raise ValueError(f"cannot read {path}: it is damaged; write it again")
    codes = np.frombuffer(content, np.uint8, n * width, place + _HEADER.size + _COUNT.size)
    ids = np.frombuffer(content, "<i8", n, size - 8 * n) if mapped else None
    return FlatFile(n_bits, codes.reshape(n, width), ids)
