"""Exact search by the values of parts of the codes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash.codes import as_words
from structhash.search._chunk_kernels import nearest_by_chunks
from structhash.search._chunks import Chunks, make_chunks, pairs_within
from structhash.search._scan import Found, Within, nearest
from structhash.search._sublinear import SublinearIndex

__all__ = ["MultiHash"]


class MultiHash(SublinearIndex):
    """Index that looks up codes by parts of them: exact, and fast where near codes are very near.

    Codes are cut into m chunks of about log2(n) bits, and sorted by each. A code within r bits of a query
    differs from it in at most floor(r / m) bits of some chunk. So all codes within r are found by looking up
    the values of chunks that are so near. Results are those of `Exact`, for k nearest and by radius. A query
    for which more than a twentieth of the codes would have to be looked at is compared with all codes.

    A radius of few bits takes a small part of the time of `Exact`; a large one, or many neighbours, takes up to
    twice that time. Distances are plain Hamming. Chunks take 4 to 8 bytes a chunk and code besides the code.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1.

    Raises
    ------
    TypeError
        If `n_bits` is not an integer.
    ValueError
        If `n_bits` is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> index = MultiHash(n_bits=32)
    >>> index.add(np.random.default_rng(0).integers(0, 256, (20_000, 4), dtype=np.uint8))
    >>> index.radius(index.table()[0][:2], r=1)
    (array([0, 1, 2]), array([0, 0], dtype=int32), array([0, 1]))

    References
    ----------
    Norouzi, Punjani and Fleet (2014), Fast exact search in Hamming space with multi-index hashing,
    doi:10.1109/TPAMI.2013.231.
    """

    takes_prepared: ClassVar[bool] = False

    def __init__(self, n_bits: int) -> None:
        super().__init__(n_bits)

    def _key(self) -> tuple[Any, ...]:
        return ()

    def _make(self, codes: NDArray[np.uint8]) -> Chunks:
        return make_chunks(codes, self.n_bits)

    def _found(self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], chunks: Chunks, k: int) -> Found:
        distances, rows = np.empty((len(queries), k), np.int32), np.empty((len(queries), k), np.int64)
        is_found = np.zeros(len(queries), bool)
        nearest_by_chunks(as_words(queries, np.uint64), *chunks, distances, rows, is_found)
        if not is_found.all():
            distances[~is_found], rows[~is_found] = nearest(queries[~is_found], codes, k)
        return distances, rows

    def _within(self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], r: float) -> Within:
        if not self._is_large(codes):
            return super()._within(queries, codes, r)
        chunks: Chunks = self._structure(codes)
        lims, near, rows = [np.zeros(1, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
        for own_lims, distances, found in pairs_within(chunks, queries, r):
            lims.append(np.diff(own_lims))
            near.append(distances)
            rows.append(found)
        return np.cumsum(np.concatenate(lims)), np.concatenate(near), np.concatenate(rows)
