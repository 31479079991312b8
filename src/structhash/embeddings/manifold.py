"""Nearness along the rows that are searched: a diffusion on the graph of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import float_type, normalize_rows, row_slices
from structhash._numerics.scaling import ROWS
from structhash._numerics.validation import check_count
from structhash.embeddings import _graph
from structhash.embeddings._targets import by_cosine
from structhash.embeddings.cosine import Cosine
from structhash.embeddings.metric import Metric
from structhash.pieces import Params

NEIGHBOURS = 10  # of a point in the graph
ALPHA = 0.99  # chance that the walk goes on
VECTORS = 128  # eigenvectors, at most
SHORTEST = 0.1  # reach of a point at least, in medians: among near copies it would have no neighbour but them
DIRECT = 0.5  # share of the cosine itself, beside 1 of the diffusion's


@dataclass(frozen=True)
class Manifold:
    """Rows near by steps from neighbour to neighbour, so that what lies along a curve is alike.

    With W the weights of a graph of each point's ten nearest by the cosine of `Metric` (of `Cosine` where there
    are no labels), D its degrees and S = D^(-1/2) W D^(-1/2), two points are alike as far as
    D^(-1/2) (1 - a) (I - a S)^(-1) D^(-1/2), a = 0.99, says, less what is the same for all points: as far as a
    random walk from the one comes by the other. Its leading eigenvectors turn that into inner products of
    vectors, which are brought to unit length; the cosine itself is added at half its size. A row has the mean
    of its nearest points in the graph, one of which it may be itself. An edge weighs
    exp(-(1 - cosine) / (r_i r_j)), r being the root of that of the seventh neighbour.

    The graph has points of the rows to be searched: `unlabeled` where these are given, else those of X.

    Parameters
    ----------
    points : int
        Rows in the graph, >= 2, drawn at random; all where there are fewer.

    References
    ----------
    Zhou, Weston, Gretton, Bousquet, Schoelkopf, Ranking on data manifolds, NIPS 2003,
    https://papers.nips.cc/paper/2447-ranking-on-data-manifolds: the diffusion, and a.
    Iscen, Avrithis, Tolias, Furon, Chum, Fast spectral ranking for similarity search, CVPR 2018,
    https://doi.org/10.1109/CVPR.2018.00796: by eigenvectors.
    Zelnik-Manor, Perona, Self-tuning spectral clustering, NIPS 2004: r.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> state, Z = Manifold().fit(X[:300], None, None, np.arange(300), np.random.default_rng(0))
    >>> bool(np.allclose((Z**2).sum(axis=1), 1.5))
    True
    """

    labelled: ClassVar[bool] = False
    pull: ClassVar[float] = 4.0
    nearest: ClassVar[int] = 0
    sample: ClassVar[tuple[int, int]] = (4000, 512)
    points: int = 4000

    def __post_init__(self) -> None:
        check_count("points", self.points, 2)

    def fit(
        self, X: NDArray[Any], y: Any, others: Any, points: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Params, NDArray[Any]]:
        """State, learned from rows X (n, d) with labels y (n,) or None, and vectors (k, m) of rows `points`.

        They, and the graph, are rows of `others` (m, d), or of X where it is None.

        Raises
        ------
        ValueError
            If all rows are the same.
        """
        rows = X if others is None else others
        base = Cosine() if y is None else Metric()
        state, _ = base.fit(X, y, others, points[:1], rng)
        U = normalize_rows(base.embed(rows[np.sort(rng.permutation(len(rows))[: self.points])], state))
        U = np.unique(U.astype(float_type(X.dtype)), axis=0)
        near, apart = _graph.nearest(U, U, min(NEIGHBOURS, len(U) - 1), own=False)
        reach = _graph.reach(apart)
        reach = np.maximum(reach, SHORTEST * np.median(reach))
        w = np.exp(-_graph.steps(apart, reach, reach[near]))
        vectors = _graph.diffusion(near, w, ALPHA, VECTORS, rng)
        state |= {"points": U, "reach": reach.astype(U.dtype), "vectors": vectors.astype(U.dtype)}
        return state, self.embed(rows[points], state)

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, m) of rows X (n, d)."""
        base = Metric() if "matrix" in state else Cosine()
        points, reach, vectors = (state[name].astype(np.float64) for name in ("points", "reach", "vectors"))
        shortest = SHORTEST * np.median(reach)
        out = np.empty((len(X), vectors.shape[1] + points.shape[1]), float_type(X.dtype))
        for run in row_slices(len(X), ROWS):
            U = normalize_rows(base.embed(X[run], state))
            near, apart = _graph.nearest(U, points, min(NEIGHBOURS, len(points)))
            own = np.maximum(_graph.reach(apart), shortest)
            steps = _graph.steps(apart, own, reach[near])
            w = np.exp(steps.min(axis=1, keepdims=True) - steps)  # their unit does not matter: see below
            diffused = np.einsum("ik,ikm->im", w, vectors[near])
            out[run] = np.hstack([normalize_rows(diffused), np.sqrt(DIRECT) * U])
        return out

    def targets(
        self, Z: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any], counts: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Chances (q, m) of the partners (q, m) of each query (q,), all row numbers of Z: see `by_cosine`."""
        return by_cosine(Z, queries, partners, counts)
