"""Signed pair weights: the only form in which families of bits get triplets, losses and rankings.

Let W be the symmetric matrix of pair weights and L = D - W its Laplacian. A 0/1 bit h scores

    h'Lh = sum over unordered pairs {i, j} of W_ij [h_i != h_j]                 (eq. cgh-wl, CG-Sub)

so that the new bit's column in the master is one quadratic form.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structhash._numerics.kernels import njit
from structhash._numerics.memory import allocate

__all__ = [
    "Comparisons",
    "PairGraph",
    "PairWeights",
    "laplacian",
    "pair_graph",
    "repeat",
    "score",
    "sum_absolute",
]


class Comparisons(NamedTuple):
    """Which points should be near each of Q query points, and which far from it.

    Query i owns ``near[near_ptr[i]:near_ptr[i+1]]`` and ``far[far_ptr[i]:far_ptr[i+1]]``. All are row numbers
    of one matrix. Every query has at least one near and one far point.
    """

    queries: NDArray[np.int64]
    near: NDArray[np.int32]
    near_ptr: NDArray[np.int64]
    far: NDArray[np.int32]
    far_ptr: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None

    @property
    def query_weights(self) -> NDArray[np.float64]:
        """Weight of each query (Q,), 1 where none are given."""
        return np.ones(len(self.queries)) if self.weights is None else self.weights


class PairWeights(NamedTuple):
    """Signed pair weights W = A + A' (n, n) and the row sums of W. A positive weight pushes two points apart.

    A is stored by rows. Row r belongs to point ``rows[r]``; it holds the partners
    ``indices[indptr[r]:indptr[r+1]]`` and their `values`. Entries that join the same two points, in either
    order, add up.
    """

    rows: NDArray[np.integer]
    indptr: NDArray[np.int64]
    indices: NDArray[np.integer]
    values: NDArray[np.floating]
    degree: NDArray[np.floating]  # (n,), of the dtype of `values`

    @property
    def weights(self) -> csr_array:
        """W as a sparse matrix, computed at each call."""
        rows, n = np.repeat(self.rows, np.diff(self.indptr)), len(self.degree)
        A = csr_array((self.values, (rows, self.indices.astype(np.int32, copy=False))), shape=(n, n))
        return csr_array(A + A.T)


class PairGraph(NamedTuple):
    """Who is compared with whom, built once a fit.

    An *entry* is one (query, partner) pair of `Comparisons`: all near ones, then all far ones. Row r holds the
    entries ``indptr[r]:indptr[r+1]`` of point ``rows[r]``: the near ones of every query, then the far ones.
    """

    rows: NDArray[np.int32]  # (2 Q,)
    indptr: NDArray[np.int64]
    indices: NDArray[np.integer]  # (E,) partner of each entry, uint16 where that is enough
    n_points: int

    def by_entry(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of points (n,) as values of entries (E,): each entry gets that of its query."""
        return repeat(values[self.rows], self.indptr)

    def differ(self, bit: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """1 where the two points of an entry differ in the bit, uint8 (E,)."""
        out = self.by_entry(bit)
        _differ(self.indices, bit, out)
        return out

    def pair_weights(self, entries: NDArray[np.floating], dtype: Any = np.float64) -> PairWeights:
        """Weights of entries (E,) as pair weights of this dtype."""
        values = entries.astype(dtype, copy=False)
        degree = _degrees(self.rows, self.indptr, self.indices, values, self.n_points)
        return PairWeights(self.rows, self.indptr, self.indices, values, degree.astype(dtype, copy=False))


def pair_graph(comparisons: Comparisons, n_points: int) -> PairGraph:
    """The graph of these comparisons over `n_points` points.

    Examples
    --------
    >>> import numpy as np
    >>> from structhash.pair_weights import Comparisons
    >>> one = np.array([0, 1])
    >>> graph = pair_graph(Comparisons(np.array([0]), np.array([1]), one, np.array([2]), one), 3)
    >>> pairs = graph.pair_weights(np.array([-1.0, 1.0]))
    >>> score(pairs, np.array([0, 0, 1]))
    1.0
    """
    queries = comparisons.queries.astype(np.int32)
    indptr = np.concatenate([comparisons.near_ptr, comparisons.far_ptr[1:] + comparisons.near_ptr[-1]])
    parts = comparisons.near, comparisons.far
    indices = allocate(sum(map(len, parts)), np.uint16 if n_points <= 2**16 else np.int32)
    np.concatenate(parts, out=indices, casting="unsafe")
    return PairGraph(np.concatenate([queries, queries]), indptr, indices, n_points)


def laplacian(pairs: PairWeights, S: NDArray[Any]) -> NDArray[Any]:
    """L S = D S - W S for S (n,) or (n, m)."""
    rows, indptr, indices, values, degree = pairs
    out: NDArray[Any] = np.multiply(degree if S.ndim == 1 else degree[:, None], S, order="C")
    subtract = _subtract_product if S.ndim == 1 else _subtract_products
    subtract(rows, indptr, indices, values, np.ascontiguousarray(S, out.dtype), out)
    return out


def score(pairs: PairWeights, bit: NDArray[Any]) -> float:
    """h'Lh of one 0/1 bit (n,): the left side of its dual constraint."""
    rows, indptr, indices, values, _ = pairs
    return float(_sum_parted(rows, indptr, indices, values, np.asarray(bit, np.uint8)))


def repeat(values: NDArray[Any], indptr: NDArray[np.int64]) -> NDArray[Any]:
    """Value r at the entries indptr[r]:indptr[r + 1], (E,)."""
    out = allocate(indptr[-1], values.dtype)
    _fill(values, indptr, out)
    return out


@njit(cache=True, nogil=True)
def _fill(values, indptr, out):
    """out[indptr[r]:indptr[r + 1]] = values[r]."""
    for r in range(len(values)):
        out[indptr[r] : indptr[r + 1]] = values[r]


@njit(cache=True, nogil=True)
def _differ(indices, bit, out):
    """out ^= bit[indices]."""
    for e in range(len(indices)):
        out[e] ^= bit[indices[e]]


@njit(cache=True, nogil=True)
def _degrees(rows, indptr, indices, values, n):
    """Row sums of W, float64 (n,)."""
    out = np.zeros(n)
    for r in range(len(rows)):
        total = 0.0
        for e in range(indptr[r], indptr[r + 1]):
            total += values[e]
            out[indices[e]] += values[e]
        out[rows[r]] += total
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _subtract_product(rows, indptr, indices, values, s, out):
    """out -= W s. Unsigned indices spare the test for negative ones, which costs as much as the sum."""
    for r in range(len(rows)):
        point = np.uint64(np.uint32(rows[r]))
        own, total = s[point], s[point] * 0
        for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
            other, weight = np.uint64(np.uint32(indices[e])), values[e]
            total += weight * s[other]
            out[other] -= weight * own
        out[point] -= total


@njit(cache=True, nogil=True, fastmath={"contract"})
def _subtract_products(rows, indptr, indices, values, S, out):
    """out -= W S, bit by bit what `_subtract_product` gives each column; it too adds up totals in float64."""
    totals = np.empty(S.shape[1], np.float64)
    for r in range(len(rows)):
        point = np.uint64(np.uint32(rows[r]))
        totals[:] = 0
        for e in range(np.uint64(indptr[r]), np.uint64(indptr[r + 1])):
            other, weight = np.uint64(np.uint32(indices[e])), values[e]
            for c in range(len(totals)):
                totals[c] += weight * S[other, c]
            for c in range(len(totals)):
                out[other, c] -= weight * S[point, c]
        for c in range(len(totals)):
            out[point, c] -= totals[c]


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _sum_parted(rows, indptr, indices, values, bit):
    """Sum of the values of entries whose points differ in the bit, in float64."""
    total = 0.0
    for r in range(len(rows)):
        own, part = bit[rows[r]], 0.0
        for e in range(indptr[r], indptr[r + 1]):
            part += values[e] * (own ^ bit[indices[e]])
        total += part
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def sum_absolute(values):
    """Sum of |values|, in float64, without an array of them."""
    total = 0.0
    for e in range(len(values)):
        total += abs(values[e])
    return total
