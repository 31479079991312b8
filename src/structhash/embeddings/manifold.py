"""Nearness along the rows that are searched: a diffusion on the graph of their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import float_type, normalize_rows, row_slices
from structhash._numerics.neighbours import nearest_by_cosine
from structhash._numerics.program import Program
from structhash._numerics.scaling import FEATURE_BLOCK_ROWS
from structhash._numerics.validation import check_count
from structhash.embeddings import _graph
from structhash.embeddings.base import Embedded, Embedding
from structhash.embeddings.centered import Centered
from structhash.embeddings.metric import Metric
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

__all__ = ["Manifold"]

N_NEIGHBOURS = 10  # of a node in the graph
WALK_ON = 0.99  # chance that the random walk goes on
N_VECTORS = 128  # eigenvectors, at most
MIN_SCALE = 0.1  # least local scale of a node, in medians: else near copies are joined only to each other
_TOO_FAR = 1e30  # a distance at which the weight of an edge is 0
COSINE_SHARE = 0.5  # weight of the cosine itself, where the diffusion has weight 1


@dataclass(frozen=True)
class Manifold(Embedding):
    """Rows are near if a walk from neighbour to neighbour joins them, so that rows along a curve are alike.

    The graph joins each node to its ten nearest nodes by the cosine of `Metric` (of `Centered` where there are
    no labels). An edge weighs exp(-(1 - cosine) / (r_i r_j)), where r is the root of 1 - cosine of the seventh
    neighbour. Let W be these weights, D the degrees and S = D^(-1/2) W D^(-1/2). The similarity of two nodes is
    D^(-1/2) (1 - a) (I - a S)^(-1) D^(-1/2), a = 0.99, minus its constant part. It measures how often a random
    walk from the one visits the other. The leading eigenvectors turn it into inner products of vectors, which
    are scaled to unit length. The cosine itself is added at half the weight. A row that is not a node gets the
    weighted mean of its nearest nodes.

    The nodes are rows like those to be searched: `unlabeled` where it is given, else X.

    Parameters
    ----------
    n_points, n_partners, n_nearest, self_weight
        As in `Embedding`.
    n_nodes : int
        Nodes of the graph, at least 2, drawn at random; all rows where there are fewer.

    References
    ----------
    Zhou, Weston, Gretton, Bousquet, Schoelkopf, Ranking on data manifolds, NIPS 2003,
    https://papers.nips.cc/paper/2447-ranking-on-data-manifolds: the diffusion, and a.
    Iscen, Avrithis, Tolias, Furon, Chum, Fast spectral ranking for similarity search, CVPR 2018,
    https://doi.org/10.1109/CVPR.2018.00796: its computation by eigenvectors.
    Zelnik-Manor, Perona, Self-tuning spectral clustering, NIPS 2004: r.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> found = Manifold().fit(X[:300], None, None, np.arange(300), np.random.default_rng(0))
    >>> bool(np.allclose((found.vectors**2).sum(axis=1), 1.5))
    True
    """

    wants_unlabeled: ClassVar[bool] = True
    state_fields: ClassVar[Fields | None] = (
        Field("mean", ("n_features",)),
        Field("scale", positive=True),
        Field("matrix", ("n_features", "n_directions"), optional=True),
        Field("nodes", ("n_nodes", "n_directions")),
        Field("local_scale", ("n_nodes",), positive=True),
        Field("vectors", ("n_nodes", "n_vectors")),
    )
    self_weight: float = 4.0
    n_nodes: int = 4000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("n_nodes", self.n_nodes, 2)

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """The graph and its vectors; see `Embedding.fit`."""
        rows = X if unlabeled is None else unlabeled
        base = Centered() if labels is None else Metric()
        state, _, _ = base.fit(X, labels, unlabeled, points[:1], rng)
        U = normalize_rows(base.embed(rows[np.sort(rng.permutation(len(rows))[: self.n_nodes])], state))
        U = np.unique(U.astype(float_type(X.dtype)), axis=0)
        near, apart = nearest_by_cosine(U, U, min(N_NEIGHBOURS, len(U) - 1), own=False)
        scale = _graph.local_scale(apart)
        scale = np.maximum(scale, MIN_SCALE * np.median(scale))
        w = np.exp(-_graph.scaled_distances(apart, scale, scale[near]))
        vectors = _graph.diffusion(near, w, WALK_ON, N_VECTORS, rng)
        state |= {
            "nodes": U,
            "local_scale": scale.astype(U.dtype),
            "vectors": vectors.astype(U.dtype, order="C"),
        }
        return Embedded(state, self.embed(rows[points], state))

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, m) of rows X (n, d)."""
        base = Metric() if "matrix" in state else Centered()
        nodes, scale, vectors = (state[name].astype(np.float64) for name in ("nodes", "local_scale", "vectors"))
        least = MIN_SCALE * np.median(scale)
        out = np.empty((len(X), vectors.shape[1] + nodes.shape[1]), float_type(X.dtype))
        for block in row_slices(len(X), FEATURE_BLOCK_ROWS):
            U = normalize_rows(base.embed(X[block], state))
            near, apart = nearest_by_cosine(U, nodes, min(N_NEIGHBOURS, len(nodes)))
            own = np.maximum(_graph.local_scale(apart), least)
            steps = _graph.scaled_distances(apart, own, scale[near])
            w = np.exp(steps.min(axis=1, keepdims=True) - steps)  # a common factor does not matter: see below
            diffused = np.einsum("ik,ikm->im", w, vectors[near])
            out[block] = np.hstack([normalize_rows(diffused), np.sqrt(COSINE_SHARE) * U])
        return out

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`. A node that is no neighbour has weight 0."""
        base, nodes = Metric() if "matrix" in state else Centered(), state["nodes"]
        count, scale = min(N_NEIGHBOURS, len(nodes)), state["local_scale"].astype(np.float64)
        U = program.normalized(base.express(program, X, temperature, state))
        cosines = program.step("matmul", U, nodes.T)
        apart = program.step("maximum", program.step("subtract", 1.0, cosines), 0.0)
        seventh = program.step("kth_largest", cosines, min(_graph.SCALE_NEIGHBOUR, count))
        seventh = program.step("maximum", program.step("subtract", 1.0, seventh), 0.0)
        own = program.step("maximum", program.step("sqrt", seventh), MIN_SCALE * np.median(scale))
        least = program.step("kth_largest", cosines, count)
        too_far = program.step("multiply", program.step("greater", least, cosines), _TOO_FAR)
        steps = program.step(
            "add", program.step("divide", apart, program.step("multiply", own, scale)), too_far
        )
        negative = program.step("multiply", steps, -1.0)
        w = program.step("exp", program.step("subtract", negative, program.step("row_max", negative)))
        diffused = program.normalized(program.step("matmul", w, state["vectors"]))
        return program.step("concatenate", diffused, program.step("multiply", U, np.sqrt(COSINE_SHARE)))
