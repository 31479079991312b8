"""Exhaustive search, exact and in a fixed order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices
from structhash.codes import check_codes, hamming, weighted_hamming
from structhash.search._checks import NO_CODE_DISTANCE, check_ids, check_k, check_radius
from structhash.search._keys import make_keys, smallest_keys, split_keys
from structhash.search.base import Index

__all__ = ["Exact"]

_QUERIES_A_BLOCK, _CODES_A_BLOCK = 16, 1 << 16  # distances of one block take 4 MB


class Exact(Index):
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

    def __init__(self, n_bits: int, weights: ArrayLike | None = None) -> None:
        super().__init__(n_bits, weights)
        # codes, and ids or None, of each add; rows ascending by id
        self._blocks: list[tuple[NDArray[np.uint8], NDArray[np.int64] | None]] = []
        self._lock = threading.Lock()  # search merges the blocks while another thread may add

    def add(self, codes: NDArray[np.uint8], ids: ArrayLike | None = None) -> None:
        """Add codes; parameters and errors as `Index.add`."""
        codes = check_codes(codes, self.n_bits)
        with self._lock:
            known = [own for _, own in self._blocks if own is not None]
            ids = check_ids(ids, len(codes), bool(known), self.ntotal, lambda: known)
            if len(codes):
                order = slice(None) if ids is None else np.argsort(ids)
                self._blocks.append((codes[order].copy(), None if ids is None else ids[order]))

    def search(self, codes: NDArray[np.uint8], k: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Find the `k` nearest codes of each query; parameters, returns and errors as `Index.search`.

        Examples
        --------
        >>> index, query = Exact(n_bits=8), np.array([[0b1]], dtype=np.uint8)
        >>> index.search(query, k=2)
        (array([[2147483647, 2147483647]], dtype=int32), array([[-1, -1]]))
        >>> index.add(query)
        >>> index.search(query, k=2)
        (array([[         0, 2147483647]], dtype=int32), array([[ 0, -1]]))
        """
        queries, k = check_codes(codes, self.n_bits, "queries"), check_k(k)
        database, own = self.table()
        dtype, empty = self._distance_type()
        distances = np.full((len(queries), k), empty, dtype)
        ids = np.full((len(queries), k), -1, dtype=np.int64)
        for block in row_slices(len(queries), _QUERIES_A_BLOCK):
            keys = np.empty((len(queries[block]), 0), dtype=np.int64)
            for row, found in self._distances(queries[block], database):
                new = smallest_keys(found.view(np.int32), min(k, found.shape[1])) + row
                keys = np.sort(np.concatenate([keys, new], axis=1), axis=1)[:, :k]
            distances[block, : keys.shape[1]], rows = split_keys(keys, dtype)
            ids[block, : keys.shape[1]] = rows if own is None else own[rows]
        return distances, ids

    def radius(
        self, codes: NDArray[np.uint8], r: float
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int64]]:
        """Find all codes within distance `r`; parameters, returns and errors as `Index.radius`.

        Memory grows with the number of codes found, not with the size of the index.
        """
        queries, r = check_codes(codes, self.n_bits, "queries"), check_radius(r)
        database, own = self.table()
        lims, parts = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for rows_of_block in row_slices(len(queries), _QUERIES_A_BLOCK):
            block = queries[rows_of_block]
            hits = [np.empty((2, 0), dtype=np.int64)]  # (query, key)
            for row, found in self._distances(block, database):
                query, column = np.nonzero(found <= r)
                keys = make_keys(found.view(np.int32)[query, column], column + row)
                hits.append(np.stack([query, keys]))
            query, keys = np.concatenate(hits, axis=1)
            parts.append(keys[np.lexsort([keys, query])])
            lims.append(np.bincount(query, minlength=len(block)))
        distances, rows = split_keys(np.concatenate(parts), self._distance_type()[0])
        return np.cumsum(np.concatenate(lims)), distances, rows if own is None else own[rows]

    @property
    def ntotal(self) -> int:
        """Number of codes in the index."""
        return sum(len(codes) for codes, _ in self._blocks)

    def table(self) -> tuple[NDArray[np.uint8], NDArray[np.int64] | None]:
        """Return codes and ids as `Index.table`; the blocks of earlier adds are merged into one."""
        with self._lock:
            if not self._blocks:
                return np.empty((0, -(-self.n_bits // 8)), dtype=np.uint8), None
            if len(self._blocks) > 1:
                codes = np.concatenate([codes for codes, _ in self._blocks])
                own = [ids for _, ids in self._blocks if ids is not None]
                ids = None
                if own:
                    ids = np.concatenate(own)
                    order = np.argsort(ids)
                    codes, ids = codes[order], ids[order]
                self._blocks = [(codes, ids)]
            return self._blocks[0]

    def __getstate__(self) -> dict[str, Any]:
        """State without the lock, which cannot be pickled."""
        return {**vars(self), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state with a new lock."""
        vars(self).update(state, _lock=threading.Lock())

    def _distances(
        self, queries: NDArray[np.uint8], database: NDArray[np.uint8]
    ) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the first row and the distances of each block of codes."""
        for row in range(0, len(database), _CODES_A_BLOCK):
            block = database[row : row + _CODES_A_BLOCK]
            if self.weights is None:
                yield row, hamming(queries, block)
            else:
                yield row, weighted_hamming(queries, block, self.weights)

    def _distance_type(self) -> tuple[type[Any], float]:
        """Dtype of distances, and the distance in an empty place."""
        return (np.int32, NO_CODE_DISTANCE) if self.weights is None else (np.float32, np.inf)
