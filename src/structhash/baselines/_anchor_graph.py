"""The graph through anchors that `AGH` is made of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from structhash._numerics.blocks import row_slices
from structhash._numerics.gaussian import squared_distances
from structhash.baselines._principal import PROJECTED_ROWS

ROWS_PER_ANCHOR = 64  # rows that k-means runs on, at most, for each anchor
KMEANS_ITER = 20
TIE_UNIT = 1e-9  # squared distances are rounded to it, in mean squared norms of the anchors
TRIVIAL_GAP = 1e-3  # an eigenvalue above 1 - gap belongs to a vector that is constant on pieces of the graph
EIGENVALUE_NOISE = 1e-9  # an eigenvalue below this is rounding error
EIGENVECTOR_NOISE = 1e-9  # an eigenvector exceeds its cut by more than this, in standard deviations, for a 1


def k_means(
    X: NDArray[Any], center: NDArray[np.float64], count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """At most `count` distinct centres (m, d) of clusters of rows X (n, d) minus `center` (d,)."""
    Z = X[rng.permutation(len(X))[: ROWS_PER_ANCHOR * count]] - center
    scale = np.abs(Z).max() or 1.0
    seed = int(rng.integers(2**31))
    model = KMeans(min(count, len(Z)), n_init=1, max_iter=KMEANS_ITER, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
        labels = model.fit_predict((Z / scale).astype(np.float32))
    centres: NDArray[np.float64] = model.cluster_centers_[np.unique(labels)].astype(np.float64) * scale
    return centres


def nearest(
    X: NDArray[Any], center: NDArray[np.float64], anchors: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest anchors of each row, and how far they are.

    Parameters
    ----------
    X : ndarray (n, d)
    center : ndarray (d,)
    anchors : ndarray (m, d)
        Anchors minus the centre.
    count : int

    Returns
    -------
    near : ndarray (n, min(count, m)) int64
        Numbers of the anchors, nearest first. Of anchors equally near, up to rounding, the lower number comes
        first.
    apart : ndarray (n, min(count, m)) float64
        The squared distances.
    """
    count = min(count, len(anchors))
    near, apart = np.empty((len(X), count), np.int64), np.empty((len(X), count))
    unit = TIE_UNIT * np.mean((anchors**2).sum(axis=1)) + np.finfo(float).tiny
    for run in row_slices(len(X), PROJECTED_ROWS):
        D = np.rint(squared_distances(X[run] - center, anchors) / unit)
        rows = np.arange(len(D))
        for k in range(count):
            near[run, k] = best = D.argmin(axis=1)
            apart[run, k] = D[rows, best] * unit
            D[rows, best] = np.inf
    return near, apart


def similar(apart: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """exp(-apart / sigma^2), each row (n, s) divided by its sum; apart rises along rows."""
    weights = np.exp(-(apart - apart[:, :1]) / sigma**2)  # rows far from all anchors have weights, too
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def graph(near: NDArray[np.int64], weights: NDArray[np.float64], m: int) -> csr_array:
    """Z (n, m), sparse."""
    n, s = near.shape
    return csr_array((weights.ravel(), near.ravel(), np.arange(0, n * s + 1, s)), shape=(n, m))


def spectrum(Z: csr_array, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """w (m, count) such that Y = Zw are the leading eigenvectors of A, Y'Y = n I, and the eigenvalues (count,).

    Nontrivial eigenvalues come first, falling; then trivial ones without the constant; then zeros.
    """
    n, m = Z.shape
    mass = np.asarray(Z.sum(axis=0)).ravel()
    root = np.where(mass > 0, 1 / np.sqrt(np.where(mass > 0, mass, 1)), 0)
    values, vectors = np.linalg.eigh(root[:, None] * (Z.T @ Z).toarray() * root)
    constant = np.sqrt(mass / n)
    pieces = np.flatnonzero(values >= 1 - TRIVIAL_GAP)
    inner, _ = np.linalg.qr(np.column_stack([vectors[:, pieces].T @ constant, np.eye(len(pieces))]))
    vectors[:, pieces] = vectors[:, pieces] @ inner  # the constant comes first
    order = np.concatenate(
        [np.flatnonzero((values > EIGENVALUE_NOISE) & (values < 1 - TRIVIAL_GAP))[::-1], pieces[1:]]
    )
    order = order[:count]
    w, kept = np.zeros((m, count)), np.zeros(count)
    kept[: len(order)] = values[order]
    w[:, : len(order)] = root[:, None] * vectors[:, order] * np.sqrt(n / values[order])
    return w, kept


def second_cuts(Z: csr_array, Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """b+ and b-, (2, k), of the second layer of `AGH`, for eigenvectors Y (n, k).

    1'z = 0 leaves the sum q = b+ + b- free, and as (I - A)1 = 0 the objective is that of |y| - q [y > 0].
    """
    n = len(Y)
    up = (Y > EIGENVECTOR_NOISE).astype(np.float64)
    mass = np.asarray(Z.sum(axis=0)).ravel()
    inverse = np.where(mass > 0, 1 / np.where(mass > 0, mass, 1), 0)[:, None]
    left = Z.T @ up
    total = (up * Y).sum(axis=0)
    slope = total - (left * inverse * (Z.T @ np.abs(Y))).sum(axis=0)
    curve = up.sum(axis=0) - (left * inverse * left).sum(axis=0)
    q = np.where(curve > TRIVIAL_GAP * TRIVIAL_GAP * n, slope / np.where(curve > 0, curve, 1), 0.0)
    n_up = up.sum(axis=0)
    return np.stack([(2 * total + (n - n_up) * q) / n, (n_up * q - 2 * total) / n])
