"""The nearest codes of a few queries with one real number a bit, by the 4-bit scan of faiss and a proof.

A code is its own product quantisation: one sub-quantiser for each four bits, whose 16 centroids are the corners
of the unit cube. So the inner product of a query row x with a decoded code is sum_j x_j b_j, and the scan takes
the packed bytes as they are. The scan rounds the 16 products of a sub-quantiser to 8 bits. Its candidates are
summed again exactly. With eps the largest error of a rounded sum, no other code is nearer than the worst
rounded sum among the candidates less eps. Where the k-th exact distance is below this, the answer is proved;
else more candidates are fetched, and at last the exact scan answers.

The exact scan serves many queries at once, and is then faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.codes import unpack
from structhash.search._kept import Kept
from structhash.search._scan import Found, Tabled, in_order, nearest_tabled
from structhash.search._scan_kernels import sum_candidates

__all__ = ["fast_nearest"]

_LEAST_CODES = 20_000  # below, the exact scan takes little
_MOST_QUERIES = 8  # above, the exact scan is faster
_QUERIES_BEFORE = 8  # that search a block by the exact scan; then the index of faiss is worth its memory
_FACTORS = (4, 16)  # candidates a neighbour, at first and where that proves too little
_ASKED, _FAST = Kept(), Kept()


def fast_nearest(faiss: Any, queries: Tabled, codes: NDArray[np.uint8], k: int, n_threads: int) -> Found:
    """`nearest_tabled`, by a scan of faiss where that can be faster.

    Parameters
    ----------
    faiss : module
    queries : Tabled
    codes : uint8 array (n, n_bytes)
        A block, which never changes.
    k : int
        At most n.
    n_threads : int
        For `nearest_tabled`; faiss has its own number.

    Returns
    -------
    distances, rows
        Those of `nearest_tabled`.
    """
    fits = len(queries) <= _MOST_QUERIES and len(codes) >= max(_LEAST_CODES, _FACTORS[-1] * k)
    linear = queries.linear() if fits else None
    if linear is None or not _asked_before(codes, len(queries)):
        return nearest_tabled(queries, codes, k, n_threads)
    index = _FAST.get(codes, lambda block: _fast_index(faiss, block))
    distances, rows = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
    left = np.arange(len(queries))
    for factor in _FACTORS:
        if not len(left):
            break
        base, x = (each[left] for each in linear)
        near, found, proved = _candidates(index, queries[left], base, x, codes, k, factor * k)
        distances[left[proved]], rows[left[proved]] = near[proved], found[proved]
        left = left[~proved]
    if len(left):
        distances[left], rows[left] = nearest_tabled(queries[left], codes, k, n_threads)
    return distances, rows


def _asked_before(codes: NDArray[np.uint8], n_queries: int) -> bool:
    """Whether enough queries searched a block; a part of one that serves a single search has none."""
    counts = _ASKED.get(codes, lambda _: [0])
    counts[0] += n_queries
    return bool(counts[0] > _QUERIES_BEFORE)


def _candidates(
    index: Any,
    queries: Tabled,
    base: NDArray[np.float64],
    x: NDArray[np.float64],
    codes: NDArray[np.uint8],
    k: int,
    n_candidates: int,
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.bool_]]:
    """The k nearest of some candidates of each query, and whether they are proved to be the nearest of all.

    Distances are base (n_queries,) + x (n_queries, n_bits) times the bits of a code.
    """
    largest = np.abs(x).max(axis=1)
    scale = np.ldexp(
        1.0, np.frexp(largest)[1]
    )  # a power of two; faiss then sees no huge and no denormal numbers
    scaled = np.zeros((len(x), index.d), np.float32)
    scaled[:, : x.shape[1]] = -x / scale[:, None]  # the greatest product is the least distance
    products, rows = index.search(scaled, n_candidates)
    distances = np.empty(rows.shape, np.float32)
    sum_candidates(*queries.tables(), codes, rows, distances)
    near, found = in_order(distances, rows)
    eps = scan_error(scaled) * scale + 2.0**-45 * np.abs(base)
    bound = base - products.min(axis=1) * scale - eps
    with np.errstate(over="ignore"):  # a row without a code has the largest float32 as its product
        proved = (rows.min(axis=1) >= 0) & (near[:, k - 1] < bound.astype(np.float32))
    return near[:, :k], found[:, :k], proved


def scan_error(x: NDArray[np.float32]) -> NDArray[np.float64]:
    """Largest error (n_queries,) of the products that the 4-bit scan gives for rows x (n_queries, n_bits).

    It is half a step for each sub-quantiser. The rest bounds the float32 arithmetic of faiss.
    """
    spans = np.abs(x).reshape(len(x), -1, 4).sum(axis=2, dtype=np.float64)
    total, m = spans.sum(axis=1), spans.shape[1]
    steps = np.minimum(255 / np.maximum(spans.max(axis=1), 1e-300), 65535 / np.maximum(total, 1e-300))
    errors: NDArray[np.float64] = m * 0.5 / steps + (m + 16) * 2.0**-22 * total
    return errors


def _fast_index(faiss: Any, codes: NDArray[np.uint8]) -> Any:
    """A faiss index whose 4-bit scan reads these codes; it takes as many bytes as they do."""
    n_bits = 8 * codes.shape[1]
    IndexPQ = faiss.IndexPQ
    coded = IndexPQ(n_bits, n_bits // 4, 4, faiss.METRIC_INNER_PRODUCT)
    corners = unpack(np.arange(16, dtype=np.uint8)[:, None], 4)
    centroids = np.tile(corners.ravel(), n_bits // 4).astype(np.float32)
    faiss.copy_array_to_vector(centroids, coded.pq.centroids)
    coded.is_trained = True
    coded.add_sa_codes(codes)
    return faiss.IndexPQFastScan(coded)
