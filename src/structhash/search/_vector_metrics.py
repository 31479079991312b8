"""Distances of vectors, for two-stage search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import normalize_rows, row_slices, rows_within
from structhash._numerics.validation import describe, refuse_masked

__all__ = ["METRICS", "all_distances", "as_vectors", "own_distances", "to_int8"]

METRICS = ("cosine", "inner_product", "euclidean")
_NUMBERS_AT_ONCE = 1 << 20


def as_vectors(name: str, values: ArrayLike) -> NDArray[Any]:
    """Vectors (n, d) of any real dtype, not copied; errors if they are something else."""
    refuse_masked(name, values)
    vectors = np.asanyarray(values)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
        raise ValueError(f"{name}={describe(values)}: give a matrix of real numbers, a vector a row")
    return vectors


def own_distances(
    metric: str, queries: NDArray[np.float64], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The distances (m, c) of each query (m, d) to vectors of its own (m, c, d).

    They are 1 - cos(q, x), -q'x, or the Euclidean distance. The cosine of a zero vector is 0.
    """
    if metric == "euclidean":
        apart = vectors - queries[:, None]
        return np.sqrt(np.einsum("mcd,mcd->mc", apart, apart))
    if metric == "cosine":
        queries = normalize_rows(queries)
        vectors = normalize_rows(vectors.reshape(-1, vectors.shape[2])).reshape(vectors.shape)
        return 1 - np.einsum("md,mcd->mc", queries, vectors)
    return -np.einsum("md,mcd->mc", queries, vectors)


def all_distances(
    metric: str, queries: NDArray[np.float64], vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Numbers (m, n) that order all vectors (n, d) as `own_distances` does, except for rounding."""
    if metric == "cosine":
        queries, vectors = normalize_rows(queries), normalize_rows(vectors)
    products: NDArray[np.float64] = -(queries @ vectors.T)
    if metric == "euclidean":
        products += 0.5 * np.einsum("nd,nd->n", vectors, vectors)
    return products


def to_int8(vectors: ArrayLike) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Round vectors to one byte a number.

    Parameters
    ----------
    vectors : array of shape (n, d)
        May be mapped: rows are read some at a time.

    Returns
    -------
    rounded : int8 array of shape (n, d)
    scale : float64 array of shape (d,)
        ``rounded * scale`` is the vectors, each number within half a `scale` of its column.

    Raises
    ------
    ValueError
        If they are no matrix of finite numbers.

    Examples
    --------
    >>> to_int8([[1.0, 0.0], [-0.5, 0.0]])
    (array([[127,   0],
           [-64,   0]], dtype=int8), array([0.00787402, 0.        ]))
    """
    given = as_vectors("vectors", vectors)
    parts = list(row_slices(len(given), rows_within(given.shape[1], _NUMBERS_AT_ONCE)))
    largest = np.zeros(given.shape[1])
    for part in parts:
        block = given[part].astype(np.float64)
        if not np.isfinite(block).all():
            raise ValueError("vectors hold NaN or infinity; give finite numbers")
        largest = np.maximum(largest, np.abs(block).max(axis=0, initial=0))
    rounded, scale = np.empty(given.shape, np.int8), largest / 127
    for part in parts:
        rounded[part] = np.rint(given[part] / np.where(scale > 0, scale, 1))
    return rounded, scale
