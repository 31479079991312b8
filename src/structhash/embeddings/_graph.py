"""A graph of nearest neighbours, and the diffusion along it as inner products of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

SCALE_NEIGHBOUR = 7  # the neighbour whose distance is a node's unit of length
DENSE_GRAPH_NODES = 512  # larger graphs get their eigenvectors from a sparse solver
MIN_GRAPH_EIGENVALUE = 0.05  # smaller eigenvalues are left out, because vectors are divided by them


def local_scale(apart: NDArray[Any]) -> NDArray[np.float64]:
    """Unit of length (n,) of each node, from 1 - cosine (n, k) of its neighbours."""
    if apart.shape[1] == 0:
        return np.ones(len(apart))
    place = min(SCALE_NEIGHBOUR, apart.shape[1]) - 1
    return np.sqrt(np.partition(apart, place, axis=1)[:, place].astype(np.float64)) + np.finfo(np.float32).tiny


def scaled_distances(apart: NDArray[Any], own: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """1 - cosine (n, k) in units of both ends' local scales; an edge weighs exp of minus this."""
    return apart / (own[:, None] * others)


def diffusion(
    near: NDArray[np.int64], w: NDArray[np.float64], alpha: float, count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Vectors (m, <= count) of the m nodes of a graph: see `structhash.embeddings.manifold`.

    Parameters
    ----------
    near, w : (m, k)
        Neighbours of each node and the weights of these edges, which count in both directions.
    alpha : float
        Probability that the walk goes on, in (0, 1).
    count : int
        Eigenvectors, at most.

    Returns
    -------
    array
        V diag(sqrt((1 - alpha) / (1 - alpha s)) / s), V being the right eigenvectors of the walk D^-1 W for its
        largest eigenvalues s, without the constant one. A node's vector without the division by s is the mean
        of its neighbours' vectors, weighted by its edges.
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
    kept = values > MIN_GRAPH_EIGENVALUE
    values, vectors = np.minimum(values[kept], 1), vectors[:, kept]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(len(values))])  # solvers return either sign
    return inverse[:, None] * vectors * (signs * np.sqrt((1 - alpha) / (1 - alpha * values)) / values)


def leading(
    product: Any, m: int, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The `count` largest eigenvalues of a symmetric matrix (m, m), given by its product with a vector."""
    if m > DENSE_GRAPH_NODES:
        try:
            operator = LinearOperator((m, m), matvec=product, dtype=np.float64)
            return eigsh(operator, count, which="LA", v0=rng.normal(size=m))
        except ArpackNoConvergence:  # a graph in many pieces has one eigenvalue many times
            pass
    full = np.column_stack([product(column) for column in np.eye(m)])
    return eigh((full + full.T) / 2, subset_by_index=[m - count, m - 1])
