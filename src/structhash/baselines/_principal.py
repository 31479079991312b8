"""Principal directions of many rows, without a copy of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices

PROJECTED_ROWS = 4096  # rows taken at a time
VARIANCE_NOISE = 1e-12  # share of the largest variance below which a principal direction is rounding error


def principal_axes(X: NDArray[Any], mean: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The leading principal directions of rows X (n, d), orthonormal rows, float64 (k, d).

    k is `count`, or the number of directions of nonzero variance where that is less. The largest entry of each
    direction is positive.
    """
    # divided by it, no number has a square that overflows
    scale = max(np.abs(X[run] - mean).max() for run in row_slices(len(X), PROJECTED_ROWS))
    if len(X) < X.shape[1]:
        _, spread, axes = np.linalg.svd((X - mean) / scale, full_matrices=False)
        variances = spread**2
    else:
        covariance = np.zeros((X.shape[1], X.shape[1]))
        for run in row_slices(len(X), PROJECTED_ROWS):
            Z = (X[run] - mean) / scale
            covariance += Z.T @ Z
        variances, vectors = np.linalg.eigh(covariance)
        variances, axes = variances[::-1], vectors.T[::-1]
    axes = axes[: min(count, int((variances > VARIANCE_NOISE * variances[0]).sum()))]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return np.ascontiguousarray(axes * np.sign(largest))


def project(X: NDArray[Any], center: NDArray[np.float64], axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates (n, k) of rows X along axes (k, d), from the centre."""
    V = np.empty((len(X), len(axes)))
    for run in row_slices(len(X), PROJECTED_ROWS):
        V[run] = (X[run] - center) @ axes.T
    return V
