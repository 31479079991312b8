"""The Gaussian kernel in steps that need no more than one matrix at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def squared_distances(Z: NDArray[Any], anchors: NDArray[Any]) -> NDArray[Any]:
    """||z - a||^2 of rows (n, d) and anchors (m, d), both centred: float64 (n, m)."""
    Z, anchors = Z.astype(np.float64), anchors.astype(np.float64)  # else a row's bits depend on its batch
    D = Z @ anchors.T
    D *= -2
    D += np.einsum("ij,ij->i", Z, Z)[:, None]
    D += (anchors**2).sum(axis=1)
    return np.maximum(D, 0, out=D)


def similarities(D: NDArray[Any], sigma: NDArray[Any]) -> NDArray[Any]:
    """exp(-D / (2 sigma^2)), in the place of D."""
    D *= -0.5 / float(sigma) ** 2
    return np.exp(D, out=D)


def inverse_root(K: NDArray[Any]) -> NDArray[Any]:
    """K^(-1/2) of a positive semidefinite matrix, eigenvalues below a millionth of the largest raised to it."""
    values, vectors = np.linalg.eigh(K)
    return vectors / np.sqrt(np.maximum(values, 1e-6 * values[-1])) @ vectors.T
