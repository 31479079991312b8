"""The bytes of a container: a safetensors file with a checksum of everything in it.

    8 bytes   length of the head, little endian
    head      JSON: {"__metadata__":{"crc32":"0123abcd","structhash":"..."},
                     "name":{"dtype":...,"shape":...,"data_offsets":...}, ...}
    data      the arrays, one after the other

The checksum is the CRC-32 of the whole file with eight zeros in its own place. That place is fixed, so an array
can be written a block at a time, and the checksum at the end. Files are read into memory unless a map is asked
for: a file that another program shortens or overwrites meanwhile is an error, not the end of the process.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

DTYPES = {
    code: np.dtype(name)
    for code, name in {
        "BOOL": "?", "I8": "i1", "U8": "u1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4",
        "I64": "<i8", "U64": "<u8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
    }.items()
}  # fmt: skip
_CODES = {dtype: code for code, dtype in DTYPES.items()}
_NO_CHECKSUM = "0" * 8
_OPENING = b'{"__metadata__":{"crc32":"'
_CHECKSUM_AT = 8 + len(_OPENING)
_MAX_HEAD_BYTES = 100_000_000  # as in safetensors
_BYTES_AT_ONCE = 1 << 20
_SHORTER = "it became shorter while it was read; read it again"


class Blocks(NamedTuple):
    """An array that is written a block at a time."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    blocks: Iterable[NDArray[Any]]  # C-ordered, of this dtype; together of this shape


class Head(NamedTuple):
    """The head of a file."""

    metadata: dict[str, Any]
    entries: dict[str, Any]  # by name: dtype, shape and place of an array
    raw: bytes  # the length and the head as they are in the file
    n_data: int  # bytes that follow


class NotSafetensorsError(ValueError):
    """A file without the structure of a safetensors file."""


def write_file(file: BinaryIO, text: str, arrays: Mapping[str, Blocks]) -> None:
    """Write named arrays and the text of our header.

    Parameters
    ----------
    file : file
        Empty, open for writing, and able to seek.
    text : str
        Stored under "structhash" in the metadata.
    arrays : dict of str to Blocks

    Raises
    ------
    ValueError
        If the blocks of an array do not have its size.
    """
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))  # keeps all aligned
    head: dict[str, Any] = {"__metadata__": {"crc32": _NO_CHECKSUM, "structhash": text}}
    end = 0
    for name, array in ordered:
        begin, end = end, end + _n_bytes(array.dtype, array.shape)
        head[name] = {"dtype": _CODES[array.dtype], "shape": array.shape, "data_offsets": [begin, end]}
    written = json.dumps(head, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    written = len(written).to_bytes(8, "little") + written
    file.write(written)
    total = zlib.crc32(written)
    for name, array in ordered:
        missing = _n_bytes(array.dtype, array.shape)
        for block in array.blocks:
            data = np.ascontiguousarray(block, array.dtype).reshape(-1).view(np.uint8).data
            file.write(data)
            total = zlib.crc32(data, total)
            missing -= len(data)
        if missing:
            raise ValueError(
                f"the blocks of {name!r} do not add up to {array.shape}; give all of its rows once"
            )
    file.seek(_CHECKSUM_AT)
    file.write(f"{total:08x}".encode())


def read_head(file: BinaryIO) -> Head:
    """Read the head of a file from its first byte on; NotSafetensorsError if it has none."""
    size = os.fstat(file.fileno()).st_size
    length = file.read(8)
    n_head = int.from_bytes(length, "little")
    if len(length) < 8 or n_head > min(size - 8, _MAX_HEAD_BYTES):
        raise NotSafetensorsError("its first bytes are not the length of a header")
    raw = file.read(n_head)
    try:
        entries = json.loads(raw)
        metadata = entries.pop("__metadata__", {})
        if not isinstance(metadata, dict):
            raise ValueError("no metadata")
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise NotSafetensorsError("its header is not JSON") from None
    return Head(metadata, entries, length + raw, size - 8 - n_head)


def read_arrays(
    file: BinaryIO, head: Head, mapped: bool = False, verify: bool = True
) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file whose head was read, and check the checksum.

    Parameters
    ----------
    file : file
        At the end of its head.
    head : Head
    mapped : bool
        Whether arrays stay on disk and are read when they are used.
    verify : bool
        Whether to check the checksum, for which the whole file is read once.

    Returns
    -------
    arrays : dict of str to array

    Raises
    ------
    ValueError
        If the arrays do not fill the file one after the other, or the checksum is another.
    """
    blank = head.raw[:_CHECKSUM_AT] + _NO_CHECKSUM.encode() + head.raw[_CHECKSUM_AT + len(_NO_CHECKSUM) :]
    total, at, arrays = zlib.crc32(blank), 0, {}
    # Pages of a map that may be written to are copied at a write, which never comes, so processes share them.
    content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if mapped else None
    if content is not None and len(content) != len(head.raw) + head.n_data:
        raise ValueError(_SHORTER)
    for name, begin, end, dtype, shape in _places(head.entries):
        if begin != at or end > head.n_data:
            raise ValueError(f"it is damaged: array {name!r} is not where it should be; write the file again")
        if content is None:
            array = np.empty(shape, dtype)
            total = _read_into(array.reshape(-1).view(np.uint8), file, total)
        else:
            array = np.ndarray(shape, dtype, content, len(head.raw) + begin)
            total = _skim(end - begin, file, total) if verify else total
        arrays[name], at = array, end
    stated = head.raw[:_CHECKSUM_AT].endswith(_OPENING) and head.metadata.get("crc32") == f"{total:08x}"
    if at != head.n_data or (verify and not stated):
        raise ValueError("it is damaged: its content does not match its checksum; write the file again")
    for name, array in arrays.items():
        if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
            raise ValueError(
                f"it is damaged: array {name!r} holds a bool that is neither 0 nor 1; write the file again"
            )
    return arrays


def _read_into(data: NDArray[np.uint8], file: BinaryIO, total: int) -> int:
    """Fill bytes from a file, and return its checksum, which was `total` before them."""
    if file.readinto(data) != len(data):  # type: ignore[attr-defined]
        raise ValueError(_SHORTER)
    return zlib.crc32(data.data, total)


def _skim(n_bytes: int, file: BinaryIO, total: int) -> int:
    """Read the next bytes of a file without keeping them, and return its checksum as `_read_into`."""
    buffer = np.empty(min(n_bytes, _BYTES_AT_ONCE), np.uint8)
    for first in range(0, n_bytes, _BYTES_AT_ONCE):
        total = _read_into(buffer[: n_bytes - first], file, total)
    return total


def _places(entries: dict[str, Any]) -> list[tuple[str, int, int, np.dtype[Any], tuple[int, ...]]]:
    """Name, begin, end, dtype and shape of each array, in the order of the data."""
    found = []
    for name, entry in entries.items():
        try:
            dtype, shape, (begin, end) = DTYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
        except (LookupError, TypeError, ValueError):
            raise ValueError(
                f"it is damaged: array {name!r} lacks a shape or a place, or its dtype is unknown"
            ) from None
        whole = all(type(number) is int and 0 <= number < 2**48 for number in (begin, end, *shape))
        if not whole or end - begin != _n_bytes(dtype, shape):
            raise ValueError(f"it is damaged: array {name!r} has a shape that does not fit its bytes")
        found.append((name, begin, end, dtype, shape))
    return sorted(found, key=lambda place: place[1:3])


def _n_bytes(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """Bytes of an array."""
    return dtype.itemsize * math.prod(shape)
