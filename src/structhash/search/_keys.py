"""Keys that sort by (distance, row), and the smallest of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["make_keys", "merge_keys", "split_keys"]

_FEW_NEARER = 16  # up to one distance in 16 is merged by itself; from there on a partition is faster
_SHORT = 1024  # rows that are partitioned at once


def make_keys(distances: NDArray[np.int32], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make one int64 from each distance and row. A non-negative float32 sorts as the int32 of its bits."""
    return (distances.astype(np.int64) << 32) | rows


def split_keys(keys: NDArray[np.int64], dtype: type[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Split keys into distances, int32 or float32, and rows."""
    return (keys >> 32).astype(np.int32).view(dtype), keys & 0xFFFFFFFF


def merge_keys(keys: NDArray[np.int64], distances: NDArray[np.int32], row: int, k: int) -> NDArray[np.int64]:
    """Merge the smallest keys of each query with the distances of later rows.

    Parameters
    ----------
    keys : int64 array (n_queries, at most k)
        Smallest keys of the rows below `row`, ascending.
    distances : int32 array (n_queries, n)
        Distances of the rows from `row` on.
    row : int
    k : int
        Number of keys that each query keeps.

    Returns
    -------
    int64 array (n_queries, at most k)
        Smallest keys of all rows so far, ascending.
    """
    n = distances.shape[1]
    if keys.shape[1] == k:
        nearer = distances < (keys[:, -1:] >> 32).astype(np.int32)  # an equal distance in a later row loses
        if np.count_nonzero(nearer) <= distances.size // _FEW_NEARER:
            return _merge_few(keys, distances, row, nearer)
        if n > _SHORT:  # the first half may leave few nearer ones in the second
            half = n // 2
            keys = merge_keys(keys, distances[:, :half], row, k)
            return merge_keys(keys, distances[:, half:], row + half, k)
    every = np.concatenate([keys, make_keys(distances, np.arange(row, row + n))], axis=1)
    if k < every.shape[1]:
        every = np.partition(every, k - 1, axis=1)[:, :k]
    return np.sort(every, axis=1)


def _merge_few(
    keys: NDArray[np.int64], distances: NDArray[np.int32], row: int, nearer: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Merge k keys of each query (n_queries, k) with the distances that `nearer` selects."""
    places = np.flatnonzero(nearer)  # faster than nonzero
    if not places.size:
        return keys
    n_queries, k = keys.shape
    query, column = np.divmod(places, distances.shape[1])
    every = np.concatenate([keys.ravel(), make_keys(distances[query, column], column + row)])
    owner = np.concatenate([np.repeat(np.arange(n_queries), k), query])
    order = np.lexsort([every, owner])
    sizes = k + np.bincount(query, minlength=n_queries)
    first = np.cumsum(sizes) - sizes
    return every[order[first[:, None] + np.arange(k)]]
