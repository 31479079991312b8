"""Vectors whose sums are near to rows: each byte of a code picks one of 256.

This is column generation whose columns are bytes. A new byte clusters what the bytes so far leave over. Then
all vectors are fitted again by least squares, as a totally corrective master does, and all rows are coded
again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix

from structhash.codes.sums import SumCoder, sums_of

__all__ = ["SumTables", "cluster", "fit_sums", "learn_tables", "means_of", "nearest_to", "squared_length"]

_RIDGE = 0.5  # rows, by which a vector is drawn to 0: few rows would be learned by heart
_N_SWEEPS = 2  # of least squares over the bytes, before rows are coded again and after
_N_CODINGS = 8  # least number of times that all rows are coded again, if there are as many bytes
_N_ROUNDS = 2  # of k-means, with each number of axes
_AXES = (8, 16, 32, 64, 128, 512)  # principal axes of what is left over, few before many


class SumTables(NamedTuple):
    """What was learned.

    Attributes
    ----------
    tables : float32 (n_bytes, 256, d)
        The vectors of each byte; those that a byte has no values for are 0.
    errors : float64 (n_bytes,)
        Share of the squared length of the rows that the first m + 1 bytes left over when byte m was learned.
    """

    tables: NDArray[np.float32]
    errors: NDArray[np.float64]


def learn_tables(
    Y: NDArray[np.float32],
    sizes: NDArray[np.int64],
    beam: int,
    rng: np.random.Generator,
    n_threads: int = 1,
) -> SumTables:
    """Learn tables with small sum_i ||y_i - sum_m tables[m, b_im]||^2, for codes b_i that a beam search finds.

    Parameters
    ----------
    Y : float32 array (n, d)
        Centred rows, not all 0.
    sizes : int array (n_bytes,)
        Number of vectors of each byte, at most 256.
    beam : int
        See `SumCoder`.
    rng : Generator
        Draws the first centroids.
    n_threads : int
        Of `SumCoder.code`; the tables do not depend on it.

    Returns
    -------
    SumTables
    """
    n, n_bytes = len(Y), len(sizes)
    tables, codes = np.zeros((n_bytes, 256, Y.shape[1]), np.float32), np.zeros((n, n_bytes), np.uint8)
    axes, length, left = _principal(Y, _AXES[-1]), squared_length(Y), Y
    errors = np.empty(n_bytes)
    every = max(1, n_bytes // _N_CODINGS)
    for m in range(n_bytes):
        codes[:, m] = cluster(left @ axes, int(sizes[m]), rng)
        tables[m] = means_of(left, codes[:, m])
        so_far = slice(m + 1)
        if (m + 1) % every == 0 or m + 1 == n_bytes:
            fitted = fit_sums(tables[so_far], codes[:, so_far], Y, _RIDGE, _N_SWEEPS)
            codes[:, so_far] = _nearer(Y, codes[:, so_far], fitted, sizes[so_far], beam, n_threads)
            tables[so_far] = fit_sums(fitted, codes[:, so_far], Y, _RIDGE, _N_SWEEPS)
        left = Y - sums_of(codes[:, so_far], tables[so_far])
        errors[m] = squared_length(left) / length
    return SumTables(tables, errors)


def squared_length(Y: NDArray[np.float32]) -> float:
    """Sum of the squared lengths of rows."""
    return float((Y.astype(np.float64) ** 2).sum())


def _principal(Y: NDArray[np.float32], n_axes: int) -> NDArray[np.float32]:
    """The first principal axes (d, n_axes) of centred rows, in falling order of variance."""
    d = Y.shape[1]
    _, axes = eigh(Y.T @ Y, subset_by_index=(max(0, d - n_axes), d - 1))
    return np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)


def cluster(Y: NDArray[np.float32], k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Find clusters by k-means on few principal axes first, then on more.

    In many dimensions at once, most of the first centroids would keep the row that they began with.

    Parameters
    ----------
    Y : float32 array (n, d)
        Centred rows.
    k : int
        Most clusters, at most 256. Some may have no rows.
    rng : Generator

    Returns
    -------
    int64 array (n,)
        The number of the cluster of each row.
    """
    n = len(Y)
    Y = Y @ _principal(Y, Y.shape[1])
    numbers = rng.permutation(n) if n <= k else None
    for n_axes in [each for each in _AXES if each < Y.shape[1]] + [Y.shape[1]]:
        part = np.ascontiguousarray(Y[:, :n_axes])
        for _ in range(_N_ROUNDS):
            if numbers is None:
                centroids = part[rng.choice(n, k, replace=False)]
            else:
                centroids = means_of(part, numbers)[: min(n, k)]
                _split_largest(centroids, numbers)
            numbers = nearest_to(part, centroids)
    assert numbers is not None
    return numbers


def nearest_to(Y: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.int64]:
    """The number of the nearest centroid (k, d) of each row of Y (n, d)."""
    return ((centroids**2).sum(axis=1) - 2 * Y @ centroids.T).argmin(axis=1)


def _split_largest(centroids: NDArray[np.float32], numbers: NDArray[np.int64]) -> None:
    """Put centroids without rows beside those with most rows; both then stand a little apart."""
    counts = np.bincount(numbers, minlength=len(centroids))
    empty = np.flatnonzero(counts == 0)
    largest = np.argsort(-counts, kind="stable")[: len(empty)]
    centroids[empty] = centroids[largest] * np.float32(1.001)
    centroids[largest] *= np.float32(0.999)


def _indicators(numbers: NDArray[Any], dtype: Any) -> csr_matrix:
    """0/1 matrix (256, n) of which row has which number."""
    n = len(numbers)
    return csr_matrix((np.ones(n, dtype), (numbers, np.arange(n))), (256, n))


def means_of(Y: NDArray[np.float32], numbers: NDArray[Any]) -> NDArray[np.float32]:
    """Means (256, d) of the rows with each number; 0 where there are none."""
    counts = np.bincount(numbers, minlength=256).astype(np.float32)
    means: NDArray[np.float32] = (_indicators(numbers, Y.dtype) @ Y) / np.maximum(counts, 1)[:, None]
    return means


def fit_sums(
    tables: NDArray[Any],
    codes: NDArray[np.uint8],
    Y: NDArray[Any],
    ridge: float,
    n_sweeps: int,
    toward: Any = 0,
) -> NDArray[Any]:
    """Fit tables to rows by ridge regression, one table after the other; no step adds to the loss.

    Minimises sum_i ||y_i - sum_m tables[m, b_im]||^2 + ridge sum_m,v ||tables[m, v] - toward[m, v]||^2.

    Parameters
    ----------
    tables : float array (n_bytes, 256, d)
        Where the fit begins. It is not changed.
    codes : uint8 array (n, n_bytes)
    Y : float array (n, d)
        Of the type of the tables.
    ridge : float
        Rows, by which a vector is drawn to `toward`.
    n_sweeps : int
        Times that all tables are fitted.
    toward : float array (n_bytes, 256, d) or 0

    Returns
    -------
    float array (n_bytes, 256, d)
    """
    n_bytes, tables = codes.shape[1], tables.copy()
    sums = [
        _indicators(codes[:, m], Y.dtype) @ Y for m in range(n_bytes)
    ]  # of the rows with each value of a byte
    counts = [np.bincount(codes[:, m], minlength=256).astype(Y.dtype)[:, None] for m in range(n_bytes)]
    drawn = np.broadcast_to(np.asarray(ridge * toward, Y.dtype), tables.shape)
    for _ in range(n_sweeps):
        for m in range(n_bytes):
            wanted = sums[m] + drawn[m]
            for j in range(n_bytes):  # what the other bytes of these rows add already
                if j != m:
                    wanted -= _counts(codes[:, m], codes[:, j], Y.dtype) @ tables[j]
            tables[m] = wanted / (counts[m] + ridge)
    return tables


def _counts(first: NDArray[np.uint8], second: NDArray[np.uint8], dtype: Any) -> NDArray[Any]:
    """How many rows (256, 256) have each value of one byte with each of another, as floats."""
    pairs = np.bincount(256 * first.astype(np.int64) + second, minlength=1 << 16)
    return pairs.reshape(256, 256).astype(dtype)


def _nearer(
    Y: NDArray[np.float32],
    codes: NDArray[np.uint8],
    tables: NDArray[np.float32],
    sizes: NDArray[np.int64],
    beam: int,
    n_threads: int,
) -> NDArray[np.uint8]:
    """The codes that a beam search finds, where they are nearer to the rows than those given."""
    found = SumCoder(tables, sizes, beam).code(Y, n_threads)
    old, new = (((Y - sums_of(each, tables)) ** 2).sum(axis=1) for each in (codes, found))
    return np.where((new < old)[:, None], found, codes)
