"""Data sets in .fvecs, .bvecs and .ivecs files, the formats of the TEXMEX collections (SIFT, GIST)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash.io.dataset import Dataset
from structhash.io.formats.base import Format, Rows, block_slices, checked_rows

__all__ = ["Vecs"]

_DTYPES: dict[str, np.dtype[Any]] = {
    ".fvecs": np.dtype("<f4"),
    ".bvecs": np.dtype("u1"),
    ".ivecs": np.dtype("<i4"),
}


@dataclass(frozen=True)
class Vecs(Format):
    """One matrix. A row is its length, an int32, then its numbers, float32, uint8 or int32 (little endian)."""

    suffixes: ClassVar[tuple[str, ...]] = tuple(_DTYPES)

    def read(self, path: Path) -> Dataset:
        """Read X."""
        table = _table(path)
        return Dataset(np.concatenate(list(_blocks(path, table))))

    def rows(self, path: Path, queries: bool = False) -> Rows:
        """Read X in blocks."""
        table = _table(path)
        kind = table["row"].dtype
        return checked_rows(table["row"].shape, kind, _blocks(path, table), f"X of {path}")


def _table(path: Path) -> NDArray[Any]:
    """Map the file as rows with a length and numbers; ValueError if it does not hold whole rows."""
    dtype = _DTYPES[path.suffix.lower()]
    with open(path, "rb") as file:
        first = file.read(4)
    d, size = int.from_bytes(first, "little", signed=True), path.stat().st_size
    n_bytes = 4 + d * dtype.itemsize
    if d < 1 or size % n_bytes:
        raise ValueError(
            f"cannot read {path}: its first row has {d} numbers, which does not fit its {size} bytes; it is "
            f"damaged or no {path.suffix.lower()} file"
        )
    return np.memmap(path, np.dtype([("d", "<i4"), ("row", dtype, (d,))]), mode="r")


def _blocks(path: Path, table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The rows; ValueError at the first that has another length."""
    d = table["row"].shape[1]
    for block in block_slices(table["row"].shape):
        part = np.array(np.memmap(path, table.dtype, mode="r")[block])  # a map a block, so that pages leave
        if (other := part["d"] != d).any():
            row = int(other.argmax())
            raise ValueError(
                f"cannot read {path}: row {block.start + row} has {part['d'][row]} numbers, the first has {d}"
            )
        yield np.ascontiguousarray(part["row"])
