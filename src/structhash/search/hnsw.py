"""Search along a graph of near codes, by faiss."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash.search._faiss import import_faiss
from structhash.search._scan import Found, in_order, nearest
from structhash.search._sublinear import SublinearIndex, check_setting

__all__ = ["HNSW"]

_DEFAULT_LINKS, _DEFAULT_EF = 16, 64
_LARGEST_K = 1 << 12  # the time of a walk grows with the square of ef


class HNSW(SublinearIndex):
    """Index that walks a graph of near codes towards the query; needs faiss.

    Distances are plain Hamming and exact; of the nearest codes some may be missed: `structhash.search.tune`
    chooses `ef` for a wanted recall. A query for which the walk finds less than k codes is compared with all
    codes, and so is every query where k is above 4,096.

    The graph is made at the first search after a change, in about a minute for 1,000,000 codes, by as many
    threads as OpenMP has: with more than one, two graphs of the same codes may differ. Files hold no graph.
    With `among`, and by radius, all codes are compared. A graph takes about 8 bytes times `n_links` a code.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1.
    n_links : int, optional
        Links of a code in each layer of the graph, and twice as many in the lowest; 16 by default.
    ef : int, optional
        Number of codes that a walk keeps; 64 by default, and never less than k.

    Raises
    ------
    ImportError
        If faiss is not installed: ``pip install '.[faiss]'``.
    TypeError, ValueError
        If a setting is no whole number of its range.

    Examples
    --------
    >>> import numpy as np
    >>> index = HNSW(n_bits=32, ef=20)
    >>> index.add(np.random.default_rng(0).integers(0, 256, (10_000, 4), dtype=np.uint8))
    >>> index.search(index.table()[0][:2], k=1)[0]
    array([[0],
           [0]], dtype=int32)

    References
    ----------
    Malkov and Yashunin (2020), Efficient and robust approximate nearest neighbor search using hierarchical
    navigable small world graphs, doi:10.1109/TPAMI.2018.2889473.
    """

    setting_names: ClassVar[tuple[str, ...]] = ("n_links", "ef")
    tuned_setting: ClassVar[str | None] = "ef"
    takes_prepared: ClassVar[bool] = False

    def __init__(self, n_bits: int, n_links: int | None = None, ef: int | None = None) -> None:
        super().__init__(n_bits)
        self.n_links = check_setting("n_links", n_links, 2, 256)
        self.ef = check_setting("ef", ef, 1, 1 << 14)
        import_faiss("HNSW")

    def _nearest(self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], k: int) -> Found:
        return nearest(queries, codes, k) if k > _LARGEST_K else super()._nearest(queries, codes, k)

    def _key(self) -> tuple[Any, ...]:
        return (self.n_links,)

    def _make(self, codes: NDArray[np.uint8]) -> Any:
        graph = import_faiss("HNSW").IndexBinaryHNSW(8 * codes.shape[1], self.n_links or _DEFAULT_LINKS)
        graph.add(codes)
        return graph

    def _found(self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], graph: Any, k: int) -> Found:
        settings = import_faiss("HNSW").SearchParametersHNSW(efSearch=max(self.ef or _DEFAULT_EF, k))
        distances, rows = in_order(*graph.search(queries, k, params=settings))
        fewer = (rows < 0).any(axis=1)
        if fewer.any():
            distances[fewer], rows[fewer] = nearest(queries[fewer], codes, k)
        return distances, rows
