"""Allocate large arrays on memory pages of their own."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MIN_MAPPED_BYTES", "allocate"]

MIN_MAPPED_BYTES = 2**20  # smaller arrays come from the allocator of the C library
_PRIVATE_PAGES: dict[str, Any] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)


def allocate(size: int, dtype: Any) -> NDArray[Any]:
    """Return an uninitialised array (size,); the system gets the memory of a large one back once it is freed.

    The allocator of the C library keeps freed memory as holes between other arrays. The next large array does
    not fit into them, so that arrays which are made and freed for every bit need up to a third more memory.
    """
    n_bytes = size * np.dtype(dtype).itemsize
    if n_bytes < MIN_MAPPED_BYTES:
        return np.empty(size, dtype)
    return np.frombuffer(mmap.mmap(-1, n_bytes, **_PRIVATE_PAGES), dtype)
