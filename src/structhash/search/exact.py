"""Exhaustive search, exact and in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash.codes import hamming, weighted_hamming
from structhash.search._keys import make_keys, merge_keys, split_keys
from structhash.search._stored import StoredIndex

__all__ = ["Exact"]

_QUERIES_A_BLOCK, _CODES_A_BLOCK = 16, 1 << 16  # distances of one block take 4 MB


class Exact(StoredIndex):
    """Index that compares every query with every code.

    Results are ordered by (distance, id), so that ties come out the same on every machine.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1.
    weights : float array of shape (n_bits,), optional
        Finite and non-negative. Distances are then d_w(q, b) = sum_j w_j |q_j - b_j|, as float32.

    Raises
    ------
    TypeError
        If `n_bits` is not an integer.
    ValueError
        If `n_bits` is below 1, or the weights have another shape, are negative or are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> index = Exact(n_bits=8)
    >>> index.add(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8))
    >>> distances, ids = index.search(np.array([[0b1]], dtype=np.uint8), k=2)
    >>> distances, ids
    (array([[0, 1]], dtype=int32), array([[2, 0]]))
    """

    kind: ClassVar[str] = "index.exact"
    takes_weights: ClassVar[bool] = True

    def _nearest(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], k: int
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        every = np.empty((len(queries), k), dtype=np.int64)
        for part in row_slices(len(queries), _QUERIES_A_BLOCK):
            keys = np.empty((len(queries[part]), 0), dtype=np.int64)
            for row, found in self._distances(queries[part], codes):
                keys = merge_keys(keys, found.view(np.int32), row, k)
            every[part] = keys
        return split_keys(every, self._distance_type)

    def _within(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], r: float
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        lims, parts = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for part in row_slices(len(queries), _QUERIES_A_BLOCK):
            hits = [np.empty((2, 0), dtype=np.int64)]  # (query, key)
            for row, found in self._distances(queries[part], codes):
                query, column = np.nonzero(found <= r)
                keys = make_keys(found.view(np.int32)[query, column], column + row)
                hits.append(np.stack([query, keys]))
            query, keys = np.concatenate(hits, axis=1)
            parts.append(keys[np.lexsort([keys, query])])
            lims.append(np.bincount(query, minlength=len(queries[part])))
        return np.cumsum(np.concatenate(lims)), *split_keys(np.concatenate(parts), self._distance_type)

    def _distances(
        self, queries: NDArray[np.uint8], database: NDArray[np.uint8]
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the first row and the distances of each block of codes.

        The first blocks are small, so that few codes of later blocks are nearer than those found so far.
        """
        row, size = 0, 1 + _CODES_A_BLOCK // 64
        while row < len(database):
            block = database[row : row + size]
            if self.weights is None:
                yield row, hamming(queries, block)
            else:
                yield row, weighted_hamming(queries, block, self.weights)
            row, size = row + size, min(4 * size, _CODES_A_BLOCK)
