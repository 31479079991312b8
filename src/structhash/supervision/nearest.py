"""Nearest rows by L2, some rows at a time: never a matrix of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAIRS = 4_000_000  # distances held at a time
EDGE = 3e-5  # more than single precision can err, in units of the largest squared norm


def blocks(n: int) -> Iterator[slice]:
    """Runs of rows whose pairs with all n rows are held at a time."""
    step = max(1, PAIRS // max(n, 1))
    for first in range(0, n, step):
        yield slice(first, min(first + step, n))


def scaled(X: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """X centred and divided by its largest norm, float32, and the squared norms of its rows."""
    Z = X - X.mean(axis=0, dtype=np.float64)
    Z /= max(np.abs(Z).max(), np.finfo(np.float64).tiny)
    Z /= max(np.sqrt((Z**2).sum(axis=1).max()), 1.0)
    Z = Z.astype(np.float32)
    return Z, (Z**2).sum(axis=1)


def distances(space: tuple[NDArray[np.float32], NDArray[np.float32]], rows: slice) -> NDArray[np.float32]:
    """Squared distances (rows, n) of some rows of a `scaled` space to all."""
    Z, norms = space
    apart = Z[rows] @ Z.T
    apart *= -2
    apart += norms
    apart += norms[rows, None]
    return apart


def kth(apart: NDArray[np.float32], k: int) -> NDArray[np.float32]:
    """The k-th smallest of each row."""
    return np.partition(apart, k - 1, axis=1)[:, k - 1]


def closest(X: NDArray[Any], i: int, apart: NDArray[np.float32], edge: np.float32, k: int) -> NDArray[np.int64]:
    """The k rows nearest to row i, in order of row number; those at an infinite distance never.

    Where single precision cannot tell which rows are inside, the distances are computed anew in double
    precision; equal ones go by row number.

    Parameters
    ----------
    X : ndarray (n, d)
    i : int
    apart : float32 (n,)
        Distances of row i, from `distances`.
    edge : float
        Their `kth`.
    k : int
    """
    inside = np.flatnonzero((apart <= edge + EDGE) & np.isfinite(apart))
    if len(inside) <= k:
        return inside
    sure = apart[inside] < edge - EDGE
    unsure = inside[~sure]
    exact = ((X[unsure].astype(np.float64) - X[i].astype(np.float64)) ** 2).sum(axis=1)
    chosen = unsure[np.argsort(exact, kind="stable")[: k - int(sure.sum())]]
    return np.sort(np.concatenate([inside[sure], chosen]))
