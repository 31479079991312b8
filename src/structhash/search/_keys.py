"""Keys that sort by (distance, row), and the smallest of them."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit

__all__ = ["make_keys", "smallest_keys", "split_keys"]


def make_keys(distances: NDArray[np.int32], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make one int64 from each distance and row. A non-negative float32 sorts as the int32 of its bits."""
    return (distances.astype(np.int64) << 32) | rows


def split_keys(keys: NDArray[np.int64], dtype: type[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Split keys into distances, int32 or float32, and rows."""
    return (keys >> 32).astype(np.int32).view(dtype), keys & 0xFFFFFFFF


@njit(cache=True, nogil=True)
def smallest_keys(distances: NDArray[np.int32], k: int) -> NDArray[np.int64]:
    """The k smallest keys of each row of a matrix, ascending; k is at most its width."""
    n_queries, n = distances.shape
    keys = np.empty((n_queries, k), dtype=np.int64)
    for q in range(n_queries):
        # the heap holds negated keys, so the largest key that is kept is on top
        heap = [-((np.int64(distances[q, i]) << 32) | i) for i in range(k)]
        heapq.heapify(heap)
        worst = -heap[0] >> 32
        for i in range(k, n):
            if distances[q, i] < worst:  # an equal distance in a later row loses
                heapq.heapreplace(heap, -((np.int64(distances[q, i]) << 32) | i))
                worst = -heap[0] >> 32
        keys[q] = np.sort(-np.array(heap))
    return keys
