"""Rows some at a time, as floats, whatever numbers they are: no copy of a whole matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS = 1024  # rows taken at a time; of 1,000 features they fit into a cache


def float_type(dtype: Any) -> np.dtype[Any]:
    """What numbers are computed in: float32 for themselves and all of at most 16 bits, else float64.

    >>> float_type(np.float16), float_type(np.int64)
    (dtype('float32'), dtype('float64'))
    """
    dtype = np.dtype(dtype)
    single = dtype.itemsize <= 2 or (dtype.kind == "f" and dtype.itemsize == 4)
    return np.dtype(np.float32 if single else np.float64)


def as_floats(X: NDArray[Any]) -> NDArray[Any]:
    """X in its `float_type`; itself where it is that already."""
    return X.astype(float_type(X.dtype), copy=False)


def row_slices(n: int, rows: int = ROWS) -> Iterator[slice]:
    """Slices that cut n rows into runs of `rows`, the last one shorter.

    >>> list(row_slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for first in range(0, n, rows):
        yield slice(first, min(first + rows, n))


def sample_rows(n: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of n rows, sorted: all of them, or `most` drawn at random where they are more."""
    return np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])


def normalize_rows(X: NDArray[Any]) -> NDArray[np.float64]:
    """Rows x / ||x|| (n, d), float64; rows of zeros stay so."""
    Z = X.astype(np.float64)
    largest = np.abs(Z).max(axis=1, keepdims=True, initial=0)
    Z /= np.where(largest > 0, largest, 1)  # so that squares neither overflow nor vanish
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(norms > 0, norms, 1)
