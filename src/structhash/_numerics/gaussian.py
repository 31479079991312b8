"""Compute Gaussian similarities in steps that hold one matrix at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["inverse_root", "similarities", "squared_distances"]


def squared_distances(Z: NDArray[Any], anchors: NDArray[Any]) -> NDArray[Any]:
    """Return ||z - a||^2, float64 (n, m), of centred rows (n, d) and centred anchors (m, d)."""
    Z, anchors = Z.astype(np.float64), anchors.astype(np.float64)  # float32 bits would depend on the batch
    D: NDArray[Any] = Z @ anchors.T
    D *= -2
    D += np.einsum("ij,ij->i", Z, Z)[:, None]
    D += (anchors**2).sum(axis=1)
    np.maximum(D, 0, out=D)
    return D


def similarities(D: NDArray[Any], sigma: NDArray[Any]) -> NDArray[Any]:
    """Overwrite squared distances D with exp(-D / (2 sigma^2)) and return D."""
    D *= -0.5 / float(sigma) ** 2
    np.exp(D, out=D)
    return D


def inverse_root(K: NDArray[Any]) -> NDArray[Any]:
    """Return K^(-1/2) of a positive semidefinite matrix K (m, m).

    Eigenvalues below a millionth of the largest eigenvalue are raised to that value.
    """
    values, vectors = np.linalg.eigh(K)
    root: NDArray[Any] = vectors / np.sqrt(np.maximum(values, 1e-6 * values[-1])) @ vectors.T
    return root
