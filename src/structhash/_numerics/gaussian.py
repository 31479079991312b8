"""Compute Gaussian similarities in steps that hold one matrix at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["inverse_root", "similarities", "similarities_to", "squared_distances"]


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


def similarities_to(anchors: NDArray[Any], sigma: Any) -> Callable[[NDArray[Any]], NDArray[np.float64]]:
    """Return the function from rows Z (n, d) to exp(-||z - a||^2 / (2 sigma^2)), float64 (n, m).

    One matrix product gives the exponents: that of (z, -|z|^2 / 2 sigma^2, 1) with (a / sigma^2, 1, -|a|^2 / 2
    sigma^2). What depends on the anchors is computed once.

    Parameters
    ----------
    anchors : ndarray (m, d)
    sigma : float
        Bandwidth.

    Returns
    -------
    callable
    """
    scale = 1 / float(sigma) ** 2

    def halved_norms(A: NDArray[np.float64]) -> NDArray[np.float64]:
        norms: NDArray[np.float64] = np.einsum("ij,ij->i", A, A) * (-0.5 * scale)
        return norms

    A = anchors.astype(np.float64)
    right = np.column_stack([A * scale, np.ones(len(A)), halved_norms(A)]).T.copy()

    def of_rows(Z: NDArray[Any]) -> NDArray[np.float64]:
        Z = Z.astype(np.float64)
        K: NDArray[np.float64] = np.column_stack([Z, halved_norms(Z), np.ones(len(Z))]) @ right
        np.minimum(K, 0, out=K)  # no distance is negative
        return np.exp(K, out=K)

    return of_rows


def inverse_root(K: NDArray[Any]) -> NDArray[Any]:
    """Return K^(-1/2) of a positive semidefinite matrix K (m, m).

    Eigenvalues below a millionth of the largest eigenvalue are raised to that value.
    """
    values, vectors = np.linalg.eigh(K)
    root: NDArray[Any] = vectors / np.sqrt(np.maximum(values, 1e-6 * values[-1])) @ vectors.T
    return root
