"""Cut rows into blocks and turn each block into floats, so that no matrix is copied as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCK_ROWS",
    "as_floats",
    "float_type",
    "normalize_rows",
    "row_slices",
    "rows_within",
    "sample_rows",
    "spread_rows",
]

BLOCK_ROWS = 1024  # rows of a block that is only read; with 1,000 features it fits into a cache


def float_type(dtype: Any) -> np.dtype[Any]:
    """Return the float type in which numbers of this type are computed.

    It is float32 for float32 and for all types of at most 16 bits, else float64.

    >>> float_type(np.float16), float_type(np.int64)
    (dtype('float32'), dtype('float64'))
    """
    dtype = np.dtype(dtype)
    single = dtype.itemsize <= 2 or (dtype.kind == "f" and dtype.itemsize == 4)
    return np.dtype(np.float32 if single else np.float64)


def as_floats(X: NDArray[Any]) -> NDArray[Any]:
    """Return X in its `float_type` and in C order, without a copy if X is so already.

    Products of the same numbers in another order differ in their last digits.
    """
    return X.astype(float_type(X.dtype), order="C", copy=False)


def row_slices(n: int, rows: int = BLOCK_ROWS) -> Iterator[slice]:
    """Yield the slices that cut n rows into blocks of `rows` rows; the last block may be shorter.

    >>> list(row_slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for first in range(0, n, rows):
        yield slice(first, min(first + rows, n))


def rows_within(n_columns: int, max_elements: int) -> int:
    """Return how many rows of `n_columns` numbers hold at most `max_elements` numbers; at least 1.

    >>> list(row_slices(5, rows_within(n_columns=100, max_elements=250)))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return max(1, max_elements // max(n_columns, 1))


def sample_rows(n: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw row numbers at random without repetition.

    Parameters
    ----------
    n : int
        Number of rows to draw from.
    most : int
        Number of rows to draw. If n is not larger, all rows are taken and `rng` is not used.
    rng : Generator

    Returns
    -------
    int64 array (min(n, most),)
        Sorted row numbers.
    """
    return np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])


def spread_rows(n: int, most: int) -> NDArray[np.int64]:
    """Row numbers from 0 to n - 1, sorted: all, or `most` (at least 1), evenly spread, where there are more.

    >>> spread_rows(3, 5), spread_rows(9, 3)
    (array([0, 1, 2]), array([0, 4, 8]))
    """
    return np.linspace(0, n - 1, max(1, min(n, most))).astype(np.int64)


def normalize_rows(X: NDArray[Any]) -> NDArray[np.float64]:
    """Divide each row of X (n, d) by its Euclidean norm; a row of zeros stays zero."""
    Z = X.astype(np.float64)
    largest = np.abs(Z).max(axis=1, keepdims=True, initial=0)
    Z /= np.where(largest > 0, largest, 1)  # so that no square overflows or underflows
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(norms > 0, norms, 1)
