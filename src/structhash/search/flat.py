"""Exhaustive search by faiss, with the results of `Exact`."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash.io import container as files
from structhash.search._faiss import import_faiss
from structhash.search._faiss_file import read_flat_file
from structhash.search._stored import StoredIndex
from structhash.search._text_ids import is_text

__all__ = ["Flat"]


class Flat(StoredIndex):
    """Index that exchanges codes with faiss, and searches on as many threads as faiss does.

    Results are those of `Exact`, in the same order.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1. Pad bits are zero and do not count.
    weights : float array of shape (n_bits,), optional
        Finite and non-negative. Distances are then d_w(q, b) = sum_j w_j |q_j - b_j|, as float32.

    Raises
    ------
    ImportError
        If faiss is not installed: ``pip install '.[faiss]'``.
    TypeError
        If `n_bits` is not an integer.
    ValueError
        If `n_bits` is below 1, or the weights have another shape, are negative or are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> index = Flat(n_bits=8)
    >>> index.add(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8), ids=[30, 20, 10])
    >>> index.search(np.array([[0b1]], dtype=np.uint8), k=2)
    (array([[0, 1]], dtype=int32), array([[10, 30]]))
    """

    kind: ClassVar[str] = "index.flat"
    takes_weights: ClassVar[bool] = True

    def __init__(self, n_bits: int, weights: ArrayLike | None = None) -> None:
        super().__init__(n_bits, weights)
        _faiss()

    def _n_threads(self) -> int:
        return int(_faiss().omp_get_max_threads())

    def _within(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], r: float
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        faiss, n = _faiss(), len(queries)
        found = faiss.RangeSearchResult(n)
        pointers = faiss.swig_ptr(queries), faiss.swig_ptr(codes)
        above = int(min(r, self.n_bits)) + 1  # faiss finds what is strictly within it
        faiss.hamming_range_search(*pointers, n, len(codes), above, codes.shape[1], found)
        lims = faiss.rev_swig_ptr(found.lims, n + 1).astype(np.int64)
        size = int(lims[-1])
        distances = faiss.rev_swig_ptr(found.distances, size).astype(np.int32)
        rows = faiss.rev_swig_ptr(found.labels, size).copy()
        order = np.lexsort([rows, distances, np.repeat(np.arange(n), np.diff(lims))])
        return lims, distances[order], rows[order]

    def to_faiss(self) -> Any:
        """Return a faiss index of these codes: IndexBinaryFlat, or IndexBinaryIDMap2 over one.

        It is a copy: later changes of one do not reach the other. ValueError if ids are text, or the index has
        weights.
        """
        if self.weights is not None:
            raise ValueError("a binary index of faiss has no weights; save this index by save")
        faiss, (codes, ids) = _faiss(), self._merged()
        if is_text(ids):
            raise ValueError("ids of a faiss index are whole numbers, those of this one are text; use `save`")
        index = faiss.IndexBinaryFlat(-(-self.n_bits // 8) * 8)
        if ids is None:
            index.add(codes)
            return index
        mapped = faiss.IndexBinaryIDMap2(index)
        mapped.add_with_ids(codes, ids)
        return mapped

    @classmethod
    def from_faiss(cls, index: Any, n_bits: int | None = None) -> Self:
        """Make an index of the codes and ids of a faiss index; they are copied.

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
        faiss = _faiss()
        mapped = isinstance(index, faiss.IndexBinaryIDMap)  # an IndexBinaryIDMap2 is one too
        flat = faiss.downcast_IndexBinary(index.index) if mapped else index
        if not isinstance(flat, faiss.IndexBinaryFlat):
            raise TypeError(f"need a flat binary faiss index, got {type(flat).__name__}")
        codes: NDArray[np.uint8] = faiss.vector_to_array(flat.xb).reshape(-1, index.d // 8)
        ids = faiss.vector_to_array(index.id_map) if mapped else None
        return cls._of_bytes(index.d, codes, ids, n_bits)

    @classmethod
    def _of_bytes(
        cls, width: int, codes: NDArray[np.uint8], ids: NDArray[np.int64] | None, n_bits: int | None
    ) -> Self:
        """Make an index of codes of `width` bits, of which the first `n_bits` count."""
        made = cls(width if n_bits is None else n_bits)
        if width != -(-made.n_bits // 8) * 8:
            raise ValueError(f"the faiss index has {width} bits, which do not hold codes of {n_bits} bits")
        made.add(codes, ids)
        return made

    def write_faiss(self, path: str | os.PathLike[str]) -> None:
        """Write a plain faiss file, atomically; `faiss.read_index_binary` opens it.

        A structhash file, such as one that `save` wrote, is not replaced: FileExistsError.
        """
        files.check_replaced(path)
        with files.atomic(path) as temporary:
            _faiss().write_index_binary(self.to_faiss(), str(temporary))

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
        found = read_flat_file(path)
        try:
            return cls._of_bytes(*found, n_bits)
        except (TypeError, ValueError) as error:
            raise ValueError(f"cannot read {path}: {error}") from None


def _faiss() -> Any:
    """The module faiss."""
    return import_faiss("Flat")
