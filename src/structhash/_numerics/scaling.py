"""Compute the mean and the scale of rows block by block, without a second matrix of their size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats, row_slices

__all__ = [
    "FEATURE_BLOCK_ROWS",
    "check_rows_differ",
    "column_statistics",
    "float_blocks",
    "mean_and_scale",
]

FEATURE_BLOCK_ROWS = 256  # rows of a block whose features are computed


def float_blocks(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the rows of X (n, d), of any number type, as float blocks."""
    for run in row_slices(len(X), FEATURE_BLOCK_ROWS):
        yield as_floats(X[run])


def check_rows_differ(X: NDArray[Any]) -> None:
    """Raise ValueError if all rows of X (n, d) are the same; the first block with another row ends the test.

    >>> check_rows_differ(np.ones((3, 2)))
    Traceback (most recent call last):
    ...
    ValueError: all 3 training rows are the same; give rows that differ
    """
    if all((X[run] == X[0]).all() for run in row_slices(len(X), FEATURE_BLOCK_ROWS)):
        raise ValueError(f"all {len(X)} training rows are the same; give rows that differ")


def column_statistics(parts: Iterable[NDArray[Any]]) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Return the mean (float64), the lowest and the highest value of each column, each (d,).

    `parts` gives the rows in blocks (any number, d).
    """
    n, total = 0, np.zeros(())
    low: Any = np.inf
    high: Any = -np.inf
    for part in parts:
        n, total = n + len(part), total + part.sum(axis=0, dtype=np.float64)
        low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
    return total / n, low, high


def mean_and_scale(parts: Callable[[], Iterable[NDArray[Any]]]) -> tuple[NDArray[np.float64], float]:
    """Return the mean (d,) of the rows and the root mean squared norm of the centred rows.

    `parts` is called twice; each call gives the rows in blocks (any number, d). The scale is exactly 0 if all
    rows are the same.
    """
    mean, low, high = column_statistics(parts())
    if (low == high).all():
        return mean, 0.0
    largest = np.maximum(high - mean, mean - low).max()  # divided out: no square overflows or underflows

    def norms(part: NDArray[Any]) -> NDArray[np.float64]:
        away = part - mean
        away /= largest
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", away, away)
        return squares

    return mean, float(largest * np.sqrt(np.mean(np.concatenate([norms(part) for part in parts()]))))
