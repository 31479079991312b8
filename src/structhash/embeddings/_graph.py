"""A graph of nearest neighbours, and the diffusion along it as inner products of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from structhash._numerics.blocks import row_slices

BLOCK = 512  # rows whose products are held at a time
DIGITS = 9  # of cosines, so that equal ones are not told apart by how they were rounded
REACH = 7  # the neighbour whose distance is a point's unit of length
SMALL = 512  # points of a graph whose eigenvectors are all found
LEAST = 0.05  # eigenvalues below are left out: vectors are divided by them


def nearest(
    U: NDArray[Any], V: NDArray[Any], count: int, own: bool = True
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """For rows U (n, d), of unit norm as are V (m, d): the `count` nearest of V, in any order, and 1 - cosine.

    Without `own`, V being U, no row is among its own.
    """
    near, apart = np.empty((len(U), count), np.int64), np.empty((len(U), count), U.dtype)
    for run in row_slices(len(U) if count else 0, BLOCK):
        D = -np.round(U[run] @ V.T, DIGITS)
        if not own:
            D[np.arange(len(D)), np.arange(run.start, run.stop)] = np.inf
        near[run] = np.argpartition(D, count - 1, axis=1)[:, :count]
        apart[run] = np.maximum(1 + np.take_along_axis(D, near[run], axis=1), 0)
    return near, apart


def reach(apart: NDArray[Any]) -> NDArray[np.float64]:
    """Unit of length (n,) of points whose neighbours' 1 - cosine are given (n, k)."""
    if apart.shape[1] == 0:
        return np.ones(len(apart))
    place = min(REACH, apart.shape[1]) - 1
    return np.sqrt(np.partition(apart, place, axis=1)[:, place].astype(np.float64)) + np.finfo(np.float32).tiny


def steps(apart: NDArray[Any], own: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """1 - cosine (n, k) in units of both ends' reach, (n,) and (n, k): an edge weighs exp(-steps)."""
    return apart / (own[:, None] * others)


def diffusion(
    near: NDArray[np.int64], w: NDArray[np.float64], alpha: float, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Vectors (m, <= count) of the m points of a graph: see `structhash.embeddings.manifold`.

    Parameters
    ----------
    near, w : (m, k)
        Neighbours of each point and the weights of these edges, which count in both directions.
    alpha : float
        Chance to walk on, in (0, 1).
    count : int
        Eigenvectors, at most.

    Returns
    -------
    array
        V diag(sqrt((1 - alpha) / (1 - alpha s)) / s), V being the right eigenvectors of the walk D^-1 W for
        its largest eigenvalues s, but for the constant. A mean over a point's neighbours by the weights of its
        edges is the vector itself without the division by s.
    """
    m, k = near.shape
    if m < 2:
        return np.zeros((m, 0))
    W = csr_array((w.ravel(), near.ravel(), np.arange(0, m * k + 1, k)), shape=(m, m))
    W = W.maximum(W.T)
    root = np.sqrt(W.sum(axis=1))
    inverse = np.where(root > 0, 1 / np.where(root > 0, root, 1), 0)
    constant = root / np.linalg.norm(root)

    def walk(x: NDArray[Any]) -> NDArray[Any]:
        x = x.ravel()
        return inverse * (W @ (inverse * x)) - constant * (constant @ x)

    values, vectors = leading(walk, m, min(count, m - 1), rng)
    values, vectors = np.minimum(values[values > LEAST], 1), vectors[:, values > LEAST]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(len(values))])  # else they are the solver's whim
    return inverse[:, None] * vectors * (signs * np.sqrt((1 - alpha) / (1 - alpha * values)) / values)


def leading(
    product: Any, m: int, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The `count` largest eigenvalues of a symmetric matrix (m, m), given by its product with a vector."""
    if m > SMALL:
        try:
            operator = LinearOperator((m, m), matvec=product, dtype=np.float64)
            return eigsh(operator, count, which="LA", v0=rng.normal(size=m))
        except ArpackNoConvergence:  # one value many times over, where the graph is in many pieces
            pass
    full = np.column_stack([product(column) for column in np.eye(m)])
    return eigh((full + full.T) / 2, subset_by_index=[m - count, m - 1])
