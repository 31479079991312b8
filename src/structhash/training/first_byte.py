"""Sums of vectors whose first byte alone says the class of a row.

Where all bytes share the work, each adds a little error to the class probabilities of a row. Rows of one class
then differ in them by chance, and that hides their order inside the class. With a byte of its own, the class
part of a row is one of 256 values, and rows with the same value differ in the other parts alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.codes.sums import SumCoder
from structhash.training.additive import SumTables, cluster, learn_tables, means_of, squared_length

__all__ = ["learn_with_first_byte"]

_MOST_LEFT = 0.1  # of the squared length of the first part, that a byte of its own may leave over


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
        would leave over more than a tenth of their squared length, as with many classes.
    """
    first, rest = np.ascontiguousarray(Y[:, :n_first]), Y[:, n_first:]
    length, length_first = squared_length(Y), squared_length(first)
    tables, errors = np.zeros((len(sizes), 256, Y.shape[1]), np.float32), np.empty(len(sizes))
    centroids = means_of(first, cluster(first, int(sizes[0]), rng))
    numbers = SumCoder(centroids[None], sizes[:1], beam).code(first, n_threads)[:, 0]
    left_first = squared_length(first - centroids[numbers])
    if left_first > _MOST_LEFT * length_first:
        return None
    tables[0] = np.hstack([centroids, means_of(rest, numbers)])
    left = rest - tables[0, numbers, n_first:]
    errors[:] = (left_first + squared_length(left)) / length
    if len(sizes) > 1 and left.any():
        others = learn_tables(left, sizes[1:], beam, rng, n_threads)
        tables[1:, :, n_first:] = others.tables
        errors[1:] = (left_first + squared_length(left) * others.errors) / length
    return SumTables(tables, errors)
