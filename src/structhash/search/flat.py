"""Exhaustive search by faiss, with the results of `Exact`."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices
from structhash.codes import check_codes
from structhash.io import container as files
from structhash.search._checks import NO_CODE_DISTANCE, check_ids, check_k, check_radius
from structhash.search.base import Index

__all__ = ["Flat"]

_QUERIES_A_SEARCH = 256  # bounds what one range search can return
_FAISS_TAGS = (b"IBxF", b"IBMp", b"IBM2")  # first bytes of a flat index, and of one with ids


class Flat(Index):
    """Index of faiss: `faiss.IndexBinaryFlat`, in an `IndexBinaryIDMap2` where codes have ids of their own.

    Distances are plain Hamming. Results are those of `Exact`, in the same order. faiss breaks ties at the k-th
    distance in its own way, so one more neighbour is fetched. If the (k+1)-th distance of a query equals the
    k-th, a range search fetches all codes within that distance, and the first k by (distance, id) stay.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1. faiss stores whole bytes; pad bits are zero and do not count.

    Raises
    ------
    ImportError
        If faiss is not installed: ``pip install structhash[faiss]``.
    TypeError
        If `n_bits` is not an integer.
    ValueError
        If `n_bits` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> index = Flat(n_bits=8)
    >>> index.add(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8), ids=[30, 20, 10])
    >>> index.search(np.array([[0b1]], dtype=np.uint8), k=2)
    (array([[0, 1]], dtype=int32), array([[10, 30]]))
    """

    kind: ClassVar[str] = "index.flat"

    def __init__(self, n_bits: int) -> None:
        super().__init__(n_bits)
        self._index: Any = _faiss().IndexBinaryFlat(-(-self.n_bits // 8) * 8)

    def add(self, codes: NDArray[np.uint8], ids: ArrayLike | None = None) -> None:
        """Add codes; parameters and errors as `Index.add`."""
        codes = check_codes(codes, self.n_bits)
        ids = check_ids(ids, len(codes), _has_ids(self._index), self.ntotal, lambda: [_ids(self._index)])
        if not len(codes):
            return
        if not self.ntotal and _has_ids(self._index) != (ids is not None):
            flat = _faiss().IndexBinaryFlat(self._index.d)
            self._index = flat if ids is None else _faiss().IndexBinaryIDMap2(flat)
        if ids is None:
            self._index.add(codes)
        else:
            self._index.add_with_ids(codes, ids)

    def search(self, codes: NDArray[np.uint8], k: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Find the `k` nearest codes of each query; parameters, returns and errors as `Index.search`."""
        queries, k = check_codes(codes, self.n_bits, "queries"), check_k(k)
        distances = np.full((len(queries), k), NO_CODE_DISTANCE, dtype=np.int32)
        ids = np.full((len(queries), k), -1, dtype=np.int64)
        kept = min(k, self.ntotal)
        for block in row_slices(len(queries) if kept else 0, _QUERIES_A_SEARCH):
            distances[block, :kept], ids[block, :kept] = self._nearest(queries[block], kept)
        return distances, ids

    def _nearest(self, queries: NDArray[np.uint8], k: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Search for at most `ntotal` neighbours, with ties in the order of ids."""
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

    def radius(
        self, codes: NDArray[np.uint8], r: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Find all codes within distance `r`; parameters, returns and errors as `Index.radius`."""
        queries, r = check_codes(codes, self.n_bits, "queries"), check_radius(r)
        return self._within(queries, int(min(r, self.n_bits)))

    def _within(
        self, queries: NDArray[np.uint8], r: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Find codes within `r`, which is strictly within r + 1 for faiss."""
        lims, distances, ids = self._index.range_search(queries, r + 1)
        lims, distances = lims.astype(np.int64), distances.astype(np.int32)
        order = np.lexsort([ids, distances, np.repeat(np.arange(len(queries)), np.diff(lims))])
        return lims, distances[order], ids[order]

    @property
    def ntotal(self) -> int:
        """Number of codes in the index."""
        return int(self._index.ntotal)

    def table(self) -> tuple[NDArray[np.uint8], NDArray[np.int64] | None]:
        """Return codes and ids as `Index.table`."""
        codes, ids = _codes(self._index), _ids(self._index)
        if not _has_ids(self._index):
            return codes, None
        order = np.argsort(ids)
        return codes[order], ids[order]

    def to_faiss(self) -> Any:
        """Return the faiss index itself, not a copy: IndexBinaryFlat, or IndexBinaryIDMap2 over one."""
        return self._index

    @classmethod
    def from_faiss(cls, index: Any, n_bits: int | None = None) -> Self:
        """Wrap a faiss index without copying it.

        Parameters
        ----------
        index : faiss.IndexBinaryFlat, or faiss.IndexBinaryIDMap or IndexBinaryIDMap2 over one
        n_bits : int, optional
            Length of the codes, ``index.d`` by default. Give it for codes that do not fill their last byte.

        Returns
        -------
        index : Flat

        Raises
        ------
        TypeError
            If it is another kind of index.
        ValueError
            If `n_bits` does not fit its width, a pad bit is set, or its ids are negative or not unique.
        """
        flat = _flat(index)
        if not isinstance(flat, _faiss().IndexBinaryFlat):
            raise TypeError(f"need a flat binary faiss index, got {type(flat).__name__}")
        wrapped = cls(index.d if n_bits is None else n_bits)
        if wrapped._index.d != index.d:
            raise ValueError(f"the faiss index has {index.d} bits, which do not hold codes of {n_bits} bits")
        check_codes(_codes(index), wrapped.n_bits)
        if _has_ids(index):
            check_ids(_ids(index), index.ntotal, own=True, ntotal=0, known=tuple)
        wrapped._index = index
        return wrapped

    def write_faiss(self, path: str | os.PathLike[str]) -> None:
        """Write a plain faiss file, atomically; `faiss.read_index_binary` opens it."""
        with files.atomic(path) as temporary:
            _faiss().write_index_binary(self._index, str(temporary))

    @classmethod
    def read_faiss(cls, path: str | os.PathLike[str], n_bits: int | None = None) -> Self:
        """Open a faiss file of a flat binary index, with or without ids.

        Parameters
        ----------
        path : str or path
        n_bits : int, optional
            As in `from_faiss`.

        Returns
        -------
        index : Flat

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is damaged, holds another kind of index, or `from_faiss` refuses it.
        """
        if not os.path.exists(path):
            raise FileNotFoundError(f"no such file: {path}")
        if not os.path.isfile(path):
            raise ValueError(f"cannot read {path}: it is not a file")
        with open(path, "rb") as file:
            tag = file.read(4)
        if tag not in _FAISS_TAGS:
            raise ValueError(f"cannot read {path}: it is not a faiss file of a flat binary index")
        try:
            return cls.from_faiss(_read(os.fspath(path)), n_bits)
        except (RuntimeError, MemoryError, TypeError, ValueError) as error:
            reason = str(error).rsplit("Error: ", 1)[-1]
            raise ValueError(f"cannot read {path}: it is damaged or of another kind ({reason})") from None


def _faiss() -> Any:
    """Import faiss when it is needed, since it is optional."""
    try:
        import faiss
    except ImportError as error:
        raise ImportError("Flat needs faiss, which is not installed; pip install structhash[faiss]") from error
    return faiss


def _read(path: str) -> Any:
    """Let faiss read a file. No vector in it may claim more bytes than the file has."""
    faiss = _faiss()
    if not hasattr(faiss, "get_deserialization_vector_byte_limit"):  # an older faiss
        return faiss.read_index_binary(path)
    limit = faiss.get_deserialization_vector_byte_limit()
    faiss.set_deserialization_vector_byte_limit(os.path.getsize(path) + 1)
    try:
        return faiss.read_index_binary(path)
    finally:
        faiss.set_deserialization_vector_byte_limit(limit)


def _has_ids(index: Any) -> bool:
    """Whether a faiss index has ids of its own; an IndexBinaryIDMap2 is an IndexBinaryIDMap too."""
    return isinstance(index, _faiss().IndexBinaryIDMap)


def _flat(index: Any) -> Any:
    """The faiss index that holds the codes."""
    return _faiss().downcast_IndexBinary(index.index) if _has_ids(index) else index


def _ids(index: Any) -> NDArray[np.int64]:
    """Own ids of a faiss index, in the order of its codes; none where it has running numbers."""
    found: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    return _faiss().vector_to_array(index.id_map) if _has_ids(index) else found


def _codes(index: Any) -> NDArray[np.uint8]:
    """Codes of a faiss index, in its order."""
    codes: NDArray[np.uint8] = _faiss().vector_to_array(_flat(index).xb)
    return codes.reshape(index.ntotal, index.d // 8)
