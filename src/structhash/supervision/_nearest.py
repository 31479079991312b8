"""Nearest rows by L2, a block of rows at a time: all pairs are never in memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices, rows_within

MAX_DISTANCES_IN_MEMORY = 4_000_000
ROUNDING = 3e-5  # bounds the error of single precision, in units of the largest squared norm

Space = tuple[NDArray[np.float32], NDArray[np.float32]]


def query_slices(n: int) -> Iterator[slice]:
    """Runs of rows; the distances from one run to all n rows are in memory at a time."""
    return row_slices(n, rows_within(n, MAX_DISTANCES_IN_MEMORY))


def scale_rows(X: NDArray[Any]) -> Space:
    """X centred and divided by its largest norm, float32 (n, d), and the squared norms of its rows (n,)."""
    Z = X - X.mean(axis=0, dtype=np.float64)
    Z /= max(np.abs(Z).max(), np.finfo(np.float64).tiny)
    Z /= max(np.sqrt((Z**2).sum(axis=1).max()), 1.0)
    Z = Z.astype(np.float32)
    return Z, (Z**2).sum(axis=1)


def squared_distances(space: Space, rows: slice) -> NDArray[np.float32]:
    """Squared distances, float32 (rows, n), from a run of rows of a `scale_rows` space to all."""
    Z, norms = space
    D: NDArray[np.float32] = Z[rows] @ Z.T
    D *= -2
    D += norms
    D += norms[rows, None]
    return D


def kth_smallest(D: NDArray[np.float32], k: int) -> NDArray[np.float32]:
    """The k-th smallest value of each row of D."""
    smallest: NDArray[np.float32] = np.partition(D, k - 1, axis=1)[:, k - 1]
    return smallest


def nearest_rows(
    X: NDArray[Any], i: int, distances: NDArray[np.float32], edge: np.float32, k: int
) -> NDArray[np.int64]:
    """The k rows nearest to row i, by row number; rows at an infinite distance are never among them.

    Where single precision cannot tell which rows belong, their distances are computed in double precision. Of
    equal distances the lower row number comes first.

    Parameters
    ----------
    X : ndarray (n, d)
    i : int
    distances : float32 (n,)
        From row i to all rows, by `squared_distances`.
    edge : float
        The `kth_smallest` of them.
    k : int

    Returns
    -------
    int64 array of at most k row numbers, ascending
    """
    inside = np.flatnonzero((distances <= edge + ROUNDING) & np.isfinite(distances))
    if len(inside) <= k:
        return inside
    sure = distances[inside] < edge - ROUNDING
    unsure = inside[~sure]
    exact = ((X[unsure].astype(np.float64) - X[i].astype(np.float64)) ** 2).sum(axis=1)
    chosen = unsure[np.argsort(exact, kind="stable")[: k - int(sure.sum())]]
    return np.sort(np.concatenate([inside[sure], chosen]))
