"""Sums of vectors whose first byte alone says the class of a row.

Where all bytes share the work, each adds a little error to the class probabilities of a row. Rows of one class
then differ in them by chance, and that hides their order inside the class. With a byte of its own, the class
part of a row is one of 256 values, and rows with the same value differ in the other parts alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.codes.sums import SumCoder
from structhash.training.additive import (
    SumTables,
    cluster,
    learn_tables,
    means_of,
    nearest_to,
    squared_length,
)

__all__ = ["learn_with_first_byte"]

_MOST_LEFT = 0.1  # of the squared length of the class part, that a byte of its own may leave over
_LEAST_SHARE = 0.025  # of the squared length of rows, that is worth a byte
_N_ROUNDS = 5  # of k-means, in which values without rows begin again


def learn_with_first_byte(
    Y: NDArray[np.float32],
    n_first: int,
    sizes: NDArray[np.int64],
    beam: int,
    rng: np.random.Generator,
    n_threads: int = 1,
) -> SumTables | None:
    """Learn tables for `structhash.codes.sums.FirstByteCoder`; None where one byte says too little.

    Parameters
    ----------
    Y : float32 array (n, d)
        Centred rows.
    n_first : int
        Numbers of a row, from the first on, that the first byte alone codes.
    sizes, beam, rng, n_threads
        As `structhash.training.additive.learn_tables` takes them.

    Returns
    -------
    SumTables or None
        Only the first table has vectors with other numbers than 0 among the first `n_first`. None where it
        would leave over more than a tenth of their squared length, as with many classes, or where they are
        less than a fortieth of that of the rows, as with few rows of one class among many of another.
    """
    first, rest = np.ascontiguousarray(Y[:, :n_first]), Y[:, n_first:]
    length, length_first = squared_length(Y), squared_length(first)
    if length_first < _LEAST_SHARE * length:
        return None
    centroids = _centroids(first, int(sizes[0]), _MOST_LEFT * length_first, rng)
    if centroids is None:
        return None
    tables, errors = np.zeros((len(sizes), 256, Y.shape[1]), np.float32), np.empty(len(sizes))
    numbers = SumCoder(centroids[None], sizes[:1], beam).code(first, n_threads)[:, 0]
    left_first = squared_length(first - centroids[numbers])
    tables[0] = np.hstack([centroids, means_of(rest, numbers)])
    left = rest - tables[0, numbers, n_first:]
    length_left = squared_length(left)
    errors[:] = (left_first + length_left) / length
    if len(sizes) > 1 and left.any():
        others = learn_tables(left, sizes[1:], beam, rng, n_threads)
        tables[1:, :, n_first:] = others.tables
        errors[1:] = (left_first + length_left * others.errors) / length
    return SumTables(tables, errors)


def _centroids(
    Y: NDArray[np.float32], k: int, most_left: float, rng: np.random.Generator
) -> NDArray[np.float32] | None:
    """Centroids (256, d) of k-means, those from number k on 0; None where more than `most_left` is left over.

    Rows of sure classes are nearly equal, so that many values of `cluster` can have no rows while others share
    several classes. Such a value begins again at a row, drawn by its squared distance to its centroid.
    """
    numbers = cluster(Y, k, rng)
    for _ in range(_N_ROUNDS):
        centroids = means_of(Y, numbers)
        apart = ((Y - centroids[numbers]).astype(np.float64) ** 2).sum(axis=1)
        if apart.sum() <= most_left:
            return centroids
        empty = np.flatnonzero(np.bincount(numbers, minlength=k) == 0)
        centroids[empty] = Y[rng.choice(len(Y), len(empty), p=apart / apart.sum())]
        numbers = nearest_to(Y, centroids[:k])
    return None
