"""Signed pair weights: all that a family of bits hears of triplets, losses and rankings.

With W the symmetric matrix of pair weights and L = D - W its Laplacian, a 0/1 bit h scores

    h'Lh = sum over unordered pairs {i, j} of W_ij [h_i != h_j]                 (eq. cgh-wl, CG-Sub)

so that the new bit's column in the master is one quadratic form.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structhash.pieces import Pairs, Rankings


class PairGraph(NamedTuple):
    """Who meets whom, built once a fit; `weigh` only refreshes the values.

    An *entry* is one (query, partner) pair of a `Rankings`, all near ones first, then all far ones. Entries
    that join the same two points, in either order, share one unordered pair.
    """

    query: NDArray[np.int64]  # (E,) row number of each entry's query
    partner: NDArray[np.int64]  # (E,)
    pair: NDArray[np.int64]  # (E,) unordered pair of each entry
    slot: NDArray[np.int64]  # (nnz,) unordered pair of each stored element of W
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]

    @property
    def n_points(self) -> int:
        return len(self.indptr) - 1

    def differ(self, bit: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """1 where an entry's two points differ in the bit, uint8 (E,)."""
        return bit[self.query] ^ bit[self.partner]

    def weigh(self, entries: NDArray[np.float64], dtype: Any = np.float64) -> Pairs:
        """Scatter entry weights (E,) into W; entries of one pair add up."""
        value = np.bincount(self.pair, weights=entries, minlength=int(self.slot.max(initial=-1)) + 1)
        n = self.n_points
        W = csr_array((value[self.slot].astype(dtype), self.indices, self.indptr), shape=(n, n))
        return Pairs(W, W.sum(axis=1, dtype=np.float64).astype(dtype))


def pair_graph(rankings: Rankings, n_points: int) -> PairGraph:
    """Structure of W for these rankings over `n_points` points.

    Examples
    --------
    >>> import numpy as np
    >>> from structhash.pieces import Rankings
    >>> one = np.array([0, 1])
    >>> graph = pair_graph(Rankings(np.array([0]), np.array([1]), one, np.array([2]), one), 3)
    >>> pairs = graph.weigh(np.array([-1.0, 1.0]))
    >>> score(pairs, np.array([0, 0, 1]))
    1.0
    """
    query = np.concatenate(
        [
            np.repeat(rankings.queries, np.diff(rankings.near_ptr)),
            np.repeat(rankings.queries, np.diff(rankings.far_ptr)),
        ]
    )
    partner = np.concatenate([rankings.near, rankings.far])
    low, high = np.minimum(query, partner), np.maximum(query, partner)
    keys, pair = np.unique(low * n_points + high, return_inverse=True)
    low, high = keys // n_points, keys % n_points
    both = np.arange(len(keys))
    structure = csr_array(
        (np.concatenate([both, both]), (np.concatenate([low, high]), np.concatenate([high, low]))),
        shape=(n_points, n_points),
    )
    return PairGraph(query, partner, pair, structure.data, structure.indices, structure.indptr)


def laplacian(pairs: Pairs, S: NDArray[Any]) -> NDArray[Any]:
    """L S = D S - W S for S (n,) or (n, m)."""
    degree = pairs.degree if S.ndim == 1 else pairs.degree[:, None]
    return degree * S - pairs.weights @ S


def score(pairs: Pairs, bit: NDArray[Any]) -> float:
    """h'Lh of one 0/1 bit (n,): the left side of its dual constraint."""
    h = bit.astype(pairs.degree.dtype)
    return float(np.dot(h.astype(np.float64), laplacian(pairs, h).astype(np.float64)))
