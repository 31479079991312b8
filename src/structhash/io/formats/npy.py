"""Data sets in .npy files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from structhash.io.arrays import load_array, map_array
from structhash.io.dataset import Dataset
from structhash.io.formats.base import Format, Rows, block_slices, checked_rows

__all__ = ["Npy"]


@dataclass(frozen=True)
class Npy(Format):
    """One array of numpy: X."""

    suffixes: ClassVar[tuple[str, ...]] = (".npy",)

    def read(self, path: Path) -> Dataset:
        """Read X."""
        return Dataset(load_array(path))

    def rows(self, path: Path, queries: bool = False) -> Rows:
        """Read X by a memory map, which is closed after each block so that its pages leave the memory."""
        whole = map_array(path)
        blocks = (np.array(map_array(path)[block]) for block in block_slices(whole.shape))
        return checked_rows(whole.shape, whole.dtype, blocks, f"X of {path}")

    def facts(self, path: Path) -> dict[str, Any]:
        """Describe the array by its header: a uint8 matrix is packed codes, any other matrix is a data set."""
        array = map_array(path)
        facts = {"kind": "array", "dtype": str(array.dtype), "shape": list(array.shape)}
        if array.ndim != 2:
            return facts
        if array.dtype == np.uint8:
            return facts | {"kind": "codes", "rows": len(array), "bits": 8 * array.shape[1]}
        return facts | {"kind": "data", "rows": len(array), "features": array.shape[1]}
