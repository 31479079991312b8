"""Exhaustive search, exact and in a fixed order."""

from __future__ import annotations

import heapq
import threading

import numpy as np
from numba import njit

from structhash.codes import byte_tables, check_codes, check_n_bits, hamming, weighted_hamming
from structhash.io import container as files
from structhash.search._checks import FAR, check_ids, check_k, check_radius, load_table

__all__ = ["Exact"]

QUERIES, CODES = 16, 1 << 16  # distances are computed in blocks of this shape: 4 MB


class Exact:
    """Index that compares every query with every code.

    Results are ordered by (distance, id), so that ties fall out the same on every machine.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1.
    weights : float array of shape (n_bits,), optional
        Finite and non-negative; distances are then d_w(q, b) = sum_j w_j |q_j - b_j|, as float32.

    Raises
    ------
    TypeError, ValueError
        If `n_bits` is no whole number above 0, or the weights are of another shape, negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> index = Exact(n_bits=8)
    >>> index.add(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8))
    >>> distances, ids = index.search(np.array([[0b1]], dtype=np.uint8), k=2)
    >>> distances, ids
    (array([[0, 1]], dtype=int32), array([[2, 0]]))
    """

    def __init__(self, n_bits, weights=None):
        self.n_bits = check_n_bits(n_bits)
        self.source = None  # fingerprint of the model that made the codes, where known; kept in the file
        self.weights = None if weights is None else _check_weights(weights, self.n_bits)
        self._blocks: list = []  # (codes, ids or None) of each add, rows ascending by id
        self._lock = threading.Lock()  # search merges the blocks while another thread may add

    def add(self, codes, ids=None):
        """Add codes; where it raises, the index is as before.

        Parameters
        ----------
        codes : uint8 array of shape (n, ceil(n_bits / 8))
            Copied.
        ids : int64 array of shape (n,), optional
            Non-negative and unique. Without them codes have running numbers. The first codes decide which of
            the two an index has; it never has both.

        Raises
        ------
        TypeError, ValueError
            If the codes are not codes of `n_bits` bits, or the ids break a rule above.
        """
        codes = check_codes(codes, self.n_bits)
        with self._lock:
            own = bool(self._blocks) and self._blocks[0][1] is not None
            ids = check_ids(ids, len(codes), own, self.ntotal, lambda: [ids for _, ids in self._blocks])
            if len(codes):
                order = slice(None) if ids is None else np.argsort(ids)
                self._blocks.append((codes[order].copy(), None if ids is None else ids[order]))

    def search(self, codes, k):
        """The `k` nearest codes of each query.

        Parameters
        ----------
        codes : uint8 array of shape (n_queries, ceil(n_bits / 8))
        k : int, at least 1

        Returns
        -------
        distances : int32 (float32 with weights) array of shape (n_queries, k)
            Ascending.
        ids : int64 array of shape (n_queries, k)
            Ascending among equal distances.

        Where the index has fewer than k codes, or none, the places at the end of each row are missing: there
        the id is -1 and the distance 2**31 - 1, or infinity with weights. ``ids >= 0`` tells the others.

        Raises
        ------
        TypeError, ValueError
            If the queries are not codes of `n_bits` bits, or k is no whole number above 0.

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
        database, own = self._table()
        distances = np.full((len(queries), k), *self._far())
        ids = np.full((len(queries), k), -1, dtype=np.int64)
        for first in range(0, len(queries), QUERIES):
            block = slice(first, first + QUERIES)
            keys = np.empty((len(queries[block]), 0), dtype=np.int64)
            for row, found in self._distances(queries[block], database):
                new = _smallest(found.view(np.int32), min(k, found.shape[1])) + row
                keys = np.sort(np.concatenate([keys, new], axis=1), axis=1)[:, :k]
            found, rows = self._decode(keys)
            distances[block, : keys.shape[1]] = found
            ids[block, : keys.shape[1]] = rows if own is None else own[rows]
        return distances, ids

    def radius(self, codes, r):
        """All codes within distance `r` of each query, those at `r` itself included.

        Parameters
        ----------
        codes : uint8 array of shape (n_queries, ceil(n_bits / 8))
        r : float, at least 0

        Returns
        -------
        lims : int64 array of shape (n_queries + 1,)
            Query i owns ``distances[lims[i]:lims[i + 1]]`` and the ids there.
        distances : int32 (float32 with weights) array
        ids : int64 array
            Ordered by (distance, id) within each query; a query without such codes owns nothing.

        Raises
        ------
        TypeError, ValueError
            If the queries are not codes of `n_bits` bits, or r is no number from 0 on.
        """
        queries, r = check_codes(codes, self.n_bits, "queries"), check_radius(r)
        database, own = self._table()
        lims, parts = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for first in range(0, len(queries), QUERIES):
            block = queries[first : first + QUERIES]
            hits = [np.empty((2, 0), dtype=np.int64)]  # (query, key)
            for row, found in self._distances(block, database):
                query, column = np.nonzero(found <= r)
                keys = _keys(found.view(np.int32)[query, column], column + row)
                hits.append(np.stack([query, keys]))
            query, keys = np.concatenate(hits, axis=1)
            parts.append(keys[np.lexsort([keys, query])])
            lims.append(np.bincount(query, minlength=len(block)))
        distances, rows = self._decode(np.concatenate(parts))
        return np.cumsum(np.concatenate(lims)), distances, rows if own is None else own[rows]

    @property
    def ntotal(self):
        """Number of codes in the index."""
        return sum(len(codes) for codes, _ in self._blocks)

    def __len__(self):
        return self.ntotal

    def __repr__(self):
        weights = "" if self.weights is None else "weights=..., "
        return f"Exact(n_bits={self.n_bits}, {weights}ntotal={self.ntotal})"

    def __getstate__(self):
        """Without the lock, which cannot be pickled."""
        return {**vars(self), "_lock": None}

    def __setstate__(self, state):
        """With a lock of its own."""
        vars(self).update(state, _lock=threading.Lock())

    def save(self, path):
        """Save the index as one file, codes in the order of their ids."""
        codes, ids = self._table()
        arrays = {"codes": codes, "ids": ids, "weights": self.weights}
        present = {name: array for name, array in arrays.items() if array is not None}
        files.save(path, present, {"n_bits": self.n_bits, "source": self.source}, kind="index.exact")

    @classmethod
    def load(cls, path):
        """Load what `save` wrote; FileNotFoundError if it is missing, ValueError if it is damaged."""
        n_bits, codes, ids, weights = load_table(path, "index.exact")
        try:
            index = cls(n_bits, weights)
        except ValueError as error:
            raise ValueError(f"cannot read {path}: {error}") from None
        index.add(codes, ids)
        index.source = files.header(path).get("source")
        return index

    def _table(self):
        """All codes and ids (None for running numbers), rows ascending by id, as one block."""
        with self._lock:
            if not self._blocks:
                return np.empty((0, -(-self.n_bits // 8)), dtype=np.uint8), None
            if len(self._blocks) > 1:
                codes = np.concatenate([codes for codes, _ in self._blocks])
                ids = None
                if self._blocks[0][1] is not None:
                    ids = np.concatenate([ids for _, ids in self._blocks])
                    order = np.argsort(ids)
                    codes, ids = codes[order], ids[order]
                self._blocks = [(codes, ids)]
            return self._blocks[0]

    def _distances(self, queries, database):
        """Yield (first row, distances) for one block of codes after another."""
        for row in range(0, len(database), CODES):
            block = database[row : row + CODES]
            if self.weights is None:
                yield row, hamming(queries, block)
            else:
                yield row, weighted_hamming(queries, block, self.weights)

    def _far(self):
        """Distance and dtype of "no such code"."""
        return (FAR, np.int32) if self.weights is None else (np.inf, np.float32)

    def _decode(self, keys):
        """Distances and rows of keys."""
        return (keys >> 32).astype(np.int32).view(self._far()[1]), keys & 0xFFFFFFFF


def _check_weights(weights, n_bits):
    weights = np.array(weights, dtype=np.float64) + 0.0  # a copy, without -0.0
    if weights.shape != (n_bits,):
        raise ValueError(f"weights must have shape ({n_bits},), one for each bit, got {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"weights must be finite and at least 0, got {weights.min()} to {weights.max()}")
    byte_tables(weights)  # refuses a sum beyond float32
    return weights


def _keys(distances, rows):
    """One int64 each that sorts by (distance, row); a float32 from 0 on sorts as the int32 of its bits."""
    return (distances.astype(np.int64) << 32) | rows


@njit(cache=True, nogil=True)
def _smallest(distances, k):
    """The k smallest keys of each row of an int32 matrix (k at most its width), ascending."""
    n_queries, n = distances.shape
    keys = np.empty((n_queries, k), dtype=np.int64)
    for q in range(n_queries):
        heap = [
            -((np.int64(distances[q, i]) << 32) | i) for i in range(k)
        ]  # the largest key kept, negated, on top
        heapq.heapify(heap)
        worst = -heap[0] >> 32
        for i in range(k, n):
            if distances[q, i] < worst:  # an equal distance further down the list loses
                heapq.heapreplace(heap, -((np.int64(distances[q, i]) << 32) | i))
                worst = -heap[0] >> 32
        keys[q] = np.sort(-np.array(heap))
    return keys
