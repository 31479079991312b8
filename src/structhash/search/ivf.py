"""Search of a few lists of codes, those nearest to the query."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices, rows_within
from structhash.codes import as_words, hamming, table_distances
from structhash.search._list_kernels import nearest_in_lists_by_bits, nearest_in_lists_by_tables
from structhash.search._lists import Lists, make_lists
from structhash.search._scan import Found, Tabled, in_order
from structhash.search._sublinear import SublinearIndex, check_setting

__all__ = ["IVF"]

_DEFAULT_PROBES = 16
_TABLES_AT_ONCE = 1 << 20  # numbers; they take 8 MB


class IVF(SublinearIndex):
    """Index that groups codes into lists, and compares a query with the codes of a few lists.

    Each code is in the list of its nearest centroid. A query probes the `n_probe` lists whose centroids are
    nearest to it, and more where these hold less than k codes. Distances are exact; of the nearest codes some
    may be missed, unless `n_probe` is `n_lists`. `tune` chooses `n_probe` for a wanted recall.
    Weights and prepared queries are served alike: they choose lists by their own distances to the centroids.

    The lists are made at the first search after a change, in about two seconds for 1,000,000 codes. With
    `among`, and by radius, all codes are compared. Lists take 12 bytes a code of 64 bits besides the code.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1.
    weights : float array of shape (n_bits,), optional
        As in `Exact`.
    n_lists : int, optional
        Number of lists, by default the square root of the number of codes.
    n_probe : int, optional
        Number of lists that a query probes, 16 by default.

    Raises
    ------
    TypeError, ValueError
        If a setting is no whole number of its range, or the weights are refused as by `Exact`.

    Examples
    --------
    >>> import numpy as np
    >>> index = IVF(n_bits=32, n_lists=200, n_probe=8)
    >>> index.add(np.random.default_rng(0).integers(0, 256, (20_000, 4), dtype=np.uint8))
    >>> distances, ids = index.search(index.table()[0][:2], k=1)
    >>> distances.ravel(), ids.ravel()
    (array([0, 0], dtype=int32), array([0, 1]))

    References
    ----------
    Sivic and Zisserman (2003), Video Google: a text retrieval approach to object matching in videos,
    doi:10.1109/ICCV.2003.1238663.
    """

    takes_weights: ClassVar[bool] = True
    setting_names: ClassVar[tuple[str, ...]] = ("n_lists", "n_probe")
    tuned_setting: ClassVar[str | None] = "n_probe"

    def __init__(
        self,
        n_bits: int,
        weights: ArrayLike | None = None,
        n_lists: int | None = None,
        n_probe: int | None = None,
    ) -> None:
        super().__init__(n_bits, weights)
        self.n_lists = check_setting("n_lists", n_lists, 1, 1 << 20)
        self.n_probe = check_setting("n_probe", n_probe, 1, 1 << 20)

    def _key(self) -> tuple[Any, ...]:
        return (self.n_lists,)

    def _make(self, codes: NDArray[np.uint8]) -> Lists:
        return make_lists(codes, self.n_lists or round(len(codes) ** 0.5))

    def _found(self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], lists: Lists, k: int) -> Found:
        heap = np.empty((len(queries), k), np.int32), np.empty((len(queries), k), np.int64)
        apart = hamming(queries, lists.centroids)
        order = np.argsort(apart.astype(np.uint16) if self.n_bits < 1 << 16 else apart, kind="stable")
        probed = order, self.n_probe or _DEFAULT_PROBES, lists.starts
        nearest_in_lists_by_bits(as_words(queries, np.uint64), *probed, lists.words, lists.rows, *heap)
        return in_order(*heap)

    def _nearest_tabled(self, queries: Tabled, codes: NDArray[np.uint8], k: int) -> Found:
        if not self._is_large(codes):
            return super()._nearest_tabled(queries, codes, k)
        lists: Lists = self._structure(codes)
        if (plain := queries.plain()) is not None:
            distances, rows = self._found(plain, codes, lists, k)
            return distances.astype(np.float32), rows
        heap = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
        terms, of_centroids = queries.terms(lists.codes), queries.terms(lists.centroids)
        for part in row_slices(len(queries), rows_within(256 * codes.shape[1], _TABLES_AT_ONCE)):
            base, tables = queries[part].tables()
            apart = table_distances(base, tables, lists.centroids, of_centroids if len(of_centroids) else None)
            order = np.argsort(apart, kind="stable")
            probed = order, self.n_probe or _DEFAULT_PROBES, lists.starts
            nearest_in_lists_by_tables(
                base, tables, terms, *probed, lists.codes, lists.rows, heap[0][part], heap[1][part]
            )
        return in_order(*heap)
