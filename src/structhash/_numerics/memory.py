"""Large arrays on memory pages of their own."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGE = 2**20  # bytes
PRIVATE: dict[str, Any] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)


def allocate(size: int, dtype: Any) -> NDArray[Any]:
    """An array (size,) like `np.empty`; a large one goes back to the system as soon as it is freed.

    The allocator of the C library keeps freed memory as holes between other arrays, where the next large array
    does not fit: arrays that come and go at every bit would take up to a third more than they need.
    """
    n_bytes = size * np.dtype(dtype).itemsize
    if n_bytes < LARGE:
        return np.empty(size, dtype)
    return np.frombuffer(mmap.mmap(-1, n_bytes, **PRIVATE), dtype)
