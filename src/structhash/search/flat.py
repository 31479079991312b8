"""Exhaustive search by faiss, with the results of `Exact`."""

from __future__ import annotations

import os
from typing import Any

import faiss
import numpy as np

from structhash.codes import check_codes, check_n_bits
from structhash.io import container as files
from structhash.search._checks import FAR, check_ids, check_k, check_radius, load_table

__all__ = ["Flat"]

QUERIES = 256  # queries a block: bounds what one range search can return
TAGS = (b"IBxF", b"IBMp", b"IBM2")  # first bytes of a flat index, and of one with ids


class Flat:
    """`faiss.IndexBinaryFlat`, in an `IndexBinaryIDMap2` where codes have ids of their own.

    Distances are plain Hamming. Results are those of `Exact`, in the same order: faiss breaks ties at the
    k-th distance in its own way, so one neighbour more is fetched, and a query whose (k+1)-th distance equals
    the k-th takes all codes within that distance (a range search); the k first by (distance, id) stay.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1. faiss stores whole bytes; pad bits are zero and count nothing.

    Examples
    --------
    >>> import numpy as np
    >>> index = Flat(n_bits=8)
    >>> index.add(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8), ids=[30, 20, 10])
    >>> index.search(np.array([[0b1]], dtype=np.uint8), k=2)
    (array([[0, 1]], dtype=int32), array([[10, 30]]))
    """

    def __init__(self, n_bits):
        self.n_bits = check_n_bits(n_bits)
        self.source = None  # as in `Exact`
        self._index: Any = faiss.IndexBinaryFlat(-(-self.n_bits // 8) * 8)

    def add(self, codes, ids=None):
        """Add codes; parameters and errors as `Exact.add`."""
        codes = check_codes(codes, self.n_bits)
        ids = check_ids(ids, len(codes), _has_ids(self._index), self.ntotal, lambda: [_ids(self._index)])
        if not len(codes):
            return
        if not self.ntotal and _has_ids(self._index) != (ids is not None):
            flat = faiss.IndexBinaryFlat(self._index.d)
            self._index = flat if ids is None else faiss.IndexBinaryIDMap2(flat)
        if ids is None:
            self._index.add(codes)
        else:
            self._index.add_with_ids(codes, ids)

    def search(self, codes, k):
        """The `k` nearest codes of each query; parameters, returns and errors as `Exact.search`.

        Missing places at the end of a row, where the index has fewer than k codes or none, have id -1 and
        distance 2**31 - 1.
        """
        queries, k = check_codes(codes, self.n_bits, "queries"), check_k(k)
        distances = np.full((len(queries), k), FAR, dtype=np.int32)
        ids = np.full((len(queries), k), -1, dtype=np.int64)
        kept = min(k, self.ntotal)
        for first in range(0, len(queries) if kept else 0, QUERIES):
            block = slice(first, first + QUERIES)
            distances[block, :kept], ids[block, :kept] = self._nearest(queries[block], kept)
        return distances, ids

    def _nearest(self, queries, k):
        distances, ids = self._index.search(queries, min(k + 1, self.ntotal))
        tied = distances[:, k] == distances[:, k - 1] if k < self.ntotal else np.zeros(len(queries), dtype=bool)
        distances, ids = distances[:, :k], ids[:, :k]
        order = np.lexsort([ids, distances])
        distances, ids = np.take_along_axis(distances, order, 1), np.take_along_axis(ids, order, 1)
        for r in np.unique(distances[tied, -1]):
            rows = np.flatnonzero(tied & (distances[:, -1] == r))
            lims, near, near_ids = self._within(queries[rows], int(r))
            first = lims[:-1, None] + np.arange(k)
            distances[rows], ids[rows] = near[first], near_ids[first]
        return distances, ids

    def radius(self, codes, r):
        """All codes within distance `r`, `r` included; parameters, returns and errors as `Exact.radius`."""
        queries, r = check_codes(codes, self.n_bits, "queries"), check_radius(r)
        return self._within(queries, int(min(r, self.n_bits)))

    def _within(self, queries, r):
        """Codes within `r`; faiss has them strictly within."""
        lims, distances, ids = self._index.range_search(queries, r + 1)
        lims, distances = lims.astype(np.int64), distances.astype(np.int32)
        order = np.lexsort([ids, distances, np.repeat(np.arange(len(queries)), np.diff(lims))])
        return lims, distances[order], ids[order]

    @property
    def ntotal(self):
        """Number of codes in the index."""
        return self._index.ntotal

    def __len__(self):
        return self.ntotal

    def __repr__(self):
        return f"Flat(n_bits={self.n_bits}, ntotal={self.ntotal})"

    def save(self, path):
        """Save the index as a structhash file, codes in the order of their ids."""
        codes, ids = _codes(self._index), _ids(self._index)
        arrays = {"codes": codes}
        if _has_ids(self._index):
            order = np.argsort(ids)
            arrays = {"codes": codes[order], "ids": ids[order]}
        files.save(path, arrays, {"n_bits": self.n_bits, "source": self.source}, kind="index.flat")

    @classmethod
    def load(cls, path):
        """Load what `save` wrote; FileNotFoundError if it is missing, ValueError if it is damaged."""
        n_bits, codes, ids, _ = load_table(path, "index.flat")
        index = cls(n_bits)
        index.add(codes, ids)
        index.source = files.header(path).get("source")
        return index

    def to_faiss(self):
        """The faiss index itself, not a copy: IndexBinaryFlat, or IndexBinaryIDMap2 over one."""
        return self._index

    @classmethod
    def from_faiss(cls, index, n_bits=None):
        """Wrap a faiss index without copying it.

        Parameters
        ----------
        index : faiss.IndexBinaryFlat, or faiss.IndexBinaryIDMap or IndexBinaryIDMap2 over one
        n_bits : int, optional
            Length of the codes; ``index.d`` if not given. For codes that do not fill their last byte.

        Raises
        ------
        TypeError
            If it is another kind of index.
        ValueError
            If `n_bits` does not fit its width, a pad bit is set, or its ids are negative or not unique.
        """
        flat = _flat(index)
        if not isinstance(flat, faiss.IndexBinaryFlat):
            raise TypeError(f"need a flat binary faiss index, got {type(flat).__name__}")
        wrapped = cls(index.d if n_bits is None else n_bits)
        if wrapped._index.d != index.d:
            raise ValueError(f"the faiss index has {index.d} bits, which do not hold codes of {n_bits} bits")
        check_codes(_codes(index), wrapped.n_bits)
        if _has_ids(index):
            check_ids(_ids(index), index.ntotal, own=True, ntotal=0, known=list)
        wrapped._index = index
        return wrapped

    def write_faiss(self, path):
        """Write a plain faiss file, atomically; `faiss.read_index_binary` opens it."""
        with files.atomic(path) as temporary:
            faiss.write_index_binary(self._index, str(temporary))

    @classmethod
    def read_faiss(cls, path, n_bits=None):
        """Open a faiss file of a flat binary index, with or without ids.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is damaged or of another kind, or `from_faiss` refuses it.
        """
        if not os.path.exists(path):
            raise FileNotFoundError(f"no such file: {path}")
        if not os.path.isfile(path):
            raise ValueError(f"cannot read {path}: it is not a file")
        with open(path, "rb") as file:
            tag = file.read(4)
        if tag not in TAGS:
            raise ValueError(f"cannot read {path}: it is no faiss file of a flat binary index")
        try:
            return cls.from_faiss(_read(os.fspath(path)), n_bits)
        except (RuntimeError, MemoryError, TypeError, ValueError) as error:
            reason = str(error).rsplit("Error: ", 1)[-1]
            raise ValueError(f"cannot read {path}: it is damaged or of another kind ({reason})") from None


def _read(path):
    """Let faiss read a file, none of whose vectors may claim more bytes than the file has."""
    if not hasattr(faiss, "get_deserialization_vector_byte_limit"):  # an older faiss
        return faiss.read_index_binary(path)
    limit = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(os.path.getsize(path) + 1)
    try:
        return faiss.read_index_binary(path)
    finally:
        faiss.set_deserialization_vector_byte_limit(limit)


def _has_ids(index):
    return isinstance(index, faiss.IndexBinaryIDMap)  # IndexBinaryIDMap2 is one too


def _flat(index):
    return faiss.downcast_IndexBinary(index.index) if _has_ids(index) else index


def _ids(index):
    return faiss.vector_to_array(index.id_map) if _has_ids(index) else np.empty(0, dtype=np.int64)


def _codes(index):
    return faiss.vector_to_array(_flat(index).xb).reshape(index.ntotal, index.d // 8)
