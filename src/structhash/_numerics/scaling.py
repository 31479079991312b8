"""Mean and scale of rows that come in blocks, so that no second matrix of their size is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats, row_slices

ROWS = 256  # rows whose features are computed at a time


def float_blocks(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Rows of X (n, d) of any number type as floats, some at a time."""
    for run in row_slices(len(X), ROWS):
        yield as_floats(X[run])


def column_statistics(parts: Iterable[NDArray[Any]]) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Mean (d,), lowest and highest value of each column of rows given in blocks."""
    n, total = 0, np.zeros(())
    low: Any = np.inf
    high: Any = -np.inf
    for part in parts:
        n, total = n + len(part), total + part.sum(axis=0, dtype=np.float64)
        low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
    return total / n, low, high


def mean_and_scale(parts: Callable[[], Iterable[NDArray[Any]]]) -> tuple[NDArray[np.float64], float]:
    """Mean (d,) of rows and their root mean squared norm around it; 0 where all are the same.

    Parameters
    ----------
    parts : function
        Gives the rows in blocks; called twice.
    """
    mean, low, high = column_statistics(parts())
    if (low == high).all():
        return mean, 0.0
    largest = np.maximum(high - mean, mean - low).max()  # divided out, so that no square overflows or vanishes

    def norms(part: NDArray[Any]) -> NDArray[np.float64]:
        away = part - mean
        away /= largest
        return np.einsum("ij,ij->i", away, away)

    return mean, float(largest * np.sqrt(np.mean(np.concatenate([norms(part) for part in parts()]))))
