"""Known classes, new classes and single rows in one embedding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import float_type, normalize_rows, sample_rows
from structhash._numerics.program import Program
from structhash._numerics.validation import check_nonnegative
from structhash.embeddings import _factors
from structhash.embeddings._evidence import (
    GRAPH_ARRAYS,
    Evidence,
    Parts,
    sharp_classes,
    trust_in_labels,
    walk_graph,
    with_searched,
)
from structhash.embeddings._kernel_logits import MAX_LEFT_OUT
from structhash.embeddings._known_classes import (
    chance_of_known_class,
    constant_chance,
    express_chance,
)
from structhash.embeddings._targets import dot_products, sharpen, targets_by_cosine
from structhash.embeddings._walk_classes import (
    express_joined_walk,
    join_walk,
    without_walk,
)
from structhash.embeddings.base import Embedded, FactoredEmbedding, LeftOut, Temperatures
from structhash.embeddings.centered import Centered
from structhash.embeddings.manifold import Manifold
from structhash.embeddings.posterior import Posterior
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

__all__ = ["Mixture"]

INSTANCE_PERPLEXITY = 20.0  # rows that count as alike a row beyond its class, as a smooth count
SHARP_QUERIES = (4.0, 2.0, 1.0)  # temperatures of queries, the preferred one first


@dataclass(frozen=True)
class Mixture(FactoredEmbedding):
    """Known classes as in `Posterior`, new classes as in `Manifold`, and order inside both.

    Let k be the chance that a row is of a class that has labels. It is calibrated on the rows that are searched
    (`structhash.embeddings._known_classes`). Two rows are alike with probability

        k k' (r sum_c p(c | x) p(c | x') + (1 - r) m(x, x')) + (1 - k) (1 - k') m(x, x'),

    where p are class probabilities and m is the nearness of `Manifold`. The trust in labels, r, is the mean of
    n_c / (n_c + 5) over p(c | x), n_c being the labelled rows of class c. The probabilities are those of
    `Posterior`; where labels are few or uneven, the random walk of `Manifold` helps
    (`structhash.embeddings._walk_classes`). One labelled row a class is enough. As long as there are fewer
    labelled rows than features and classes together, the walk has a graph of its own, that of `Centered`,
    because `Metric` learns so few labels by heart. A share of the target goes to those of the alike rows that
    are nearest by the cosine of `Centered`, so that codes keep an order inside a class.

    The vectors of a row are its class probabilities, k, its vectors of `Manifold` and its centred row. Bits are
    planes among these, where k multiplies the probabilities: for a row of a new class they say nothing.

    Parameters
    ----------
    n_points, n_partners, n_nearest, self_weight
        As in `Embedding`.
    class_weight : float
        Root mean squared length of the class probabilities in a vector. Each other part has length 1.
    instance_share : float
        Share of the target that goes to the nearest of the alike rows, 0 to 1, where the class is sure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> known, points = np.flatnonzero(y < 7)[::3], np.arange(len(X))
    >>> found = Mixture().fit(X[known], y[known], X, points, np.random.default_rng(0))
    >>> chance = found.vectors[:, 7]
    >>> bool(chance[y < 7].mean() > 0.9 > 0.2 > chance[y >= 7].mean())
    True
    """

    labelled: ClassVar[bool] = True
    wants_unlabeled: ClassVar[bool] = True
    takes_single_rows: ClassVar[bool] = True
    state_fields: ClassVar[Fields | None] = (
        *(Posterior.state_fields or ()),
        *(replace(each, optional=False) for each in Manifold.state_fields or ()),  # there are always labels
        Field("trust", ("n_classes",), least=0, most=1),
        Field("row_weight", positive=True),
        Field("walk_nodes", ("n_walk_nodes_or_0", "n_features")),
        Field("walk_local_scale", ("n_walk_nodes_or_0",), positive=True),
        Field("walk_vectors", ("n_walk_nodes_or_0", "n_walk_vectors")),
        Field("walk_coef", ("n_walk_vectors", "n_classes")),
        Field("walk_offset", ("n_classes",)),
        Field("sure_mean", ("n_sure",)),
        Field("sure_scale", ("n_sure",), positive=True),
        Field("known_mean", ("n_known",)),
        Field("known_coef", ("n_known",)),
        Field("known_scores", ("n_steps",)),
        Field("known_chances", ("n_steps",), least=0, most=1),
        Field("profile", ("n_classes",)),
        Field("profile_scale", positive=True),
    )
    n_nearest: int = 32
    self_weight: float = 16.0
    class_weight: float = 0.3
    instance_share: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_nonnegative("class_weight", self.class_weight)
        check_nonnegative("instance_share", self.instance_share)
        if self.instance_share > 1:
            raise ValueError(f"instance_share={self.instance_share}: give a number of at most 1")

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """Both embeddings, and the chance of a known class; see `Embedding.fit`."""
        if labels is None:
            raise ValueError("the embedding 'mixture' learns from labels; give labels")
        left_out = points if unlabeled is None else sample_rows(len(X), MAX_LEFT_OUT, rng)
        posterior = Posterior().fit(X, labels, None, left_out, rng)
        sizes = np.bincount(labels)
        few = unlabeled is not None and len(X) < X.shape[1] + len(sizes)  # `Metric` learns all by heart
        graph = Manifold().fit(X, labels, unlabeled, points[:1], rng).state
        walked = Manifold().fit(X, None, unlabeled, points[:1], rng).state if few else graph
        own = {f"walk_{name}": walked[name] if few else walked[name][:0] for name in GRAPH_ARRAYS}
        state = {**posterior.state, **graph, **own, "trust": trust_in_labels(labels)}
        labelled = Evidence(Parts.of(X[left_out], state), posterior.vectors, np.ones(len(left_out)))
        if unlabeled is None:
            of_points, n_vectors = labelled, labelled.parts.walk.shape[1]
            state |= {**constant_chance(n_vectors), **without_walk(n_vectors, len(sizes))}
        else:
            labelled, of_points, learned = with_searched(
                X, labels, left_out, labelled, unlabeled[points], state, not few
            )
            state |= learned
        points_at = self.temperatures(labels).points
        roots = _roots(_at_temperature(of_points.P, of_points.known, points_at))
        profile = roots.mean(axis=0)
        state |= {"profile": profile, "profile_scale": np.sqrt(((roots - profile) ** 2).sum(axis=1).mean())}
        state = {name: np.asarray(array, float_type(X.dtype), order="C") for name, array in state.items()}
        return Embedded(state, of_points.vectors(), LeftOut(left_out, labelled.vectors()))

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, m) of rows X (n, d): class probabilities, k, and the parts of the graph."""
        parts, P = Parts.of(X, state), Posterior().embed(X, state)
        known = chance_of_known_class(parts.walk, sharp_classes(P), state)
        return Evidence(parts, join_walk(P, parts.walk, state).astype(P.dtype), known).vectors()

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`."""
        near = walk = Manifold().express(program, X, temperature, state)
        if len(state["walk_nodes"]):
            walk = Manifold().express(program, X, temperature, walk_graph(state))
        walk = program.step("columns", walk, np.arange(state["walk_vectors"].shape[1]))
        softest = Posterior().max_row_temperature
        P = Posterior().express(program, X, softest, state)
        known = express_chance(program, walk, program.sharpened(P, softest), state)
        P = express_joined_walk(program, P, walk, state)
        P = program.sharpened(P, program.step("power", softest / temperature, known))
        roots = program.step("subtract", program.step("sqrt", P), state["profile"])
        length = self.class_weight / float(state["profile_scale"])
        classes = program.step("multiply", roots, program.step("multiply", known, length))
        centred = program.normalized(Centered().express(program, X, temperature, state))
        return program.step("concatenate", classes, program.normalized(near), centred)

    def targets(
        self,
        vectors: NDArray[Any],
        queries: NDArray[Any],
        partners: NDArray[Any],
        multiplicities: NDArray[Any],
        state: Params,
    ) -> NDArray[np.float64]:
        """The mixture of the class docstring, scaled to sum to 1 for each query."""
        P, chances, near, centred = self._split(vectors, state)
        k, at = chances.astype(np.float64), (queries, partners, multiplicities)
        P, tiny = sharp_classes(P), np.finfo(np.float32).tiny
        share = self.instance_share * (k * (P**2).sum(axis=1) + 1 - k)[queries, None]
        known, trust = k[queries, None], (P @ state["trust"])[queries, None]
        P = (P * k[:, None]).astype(np.float32)
        near = targets_by_cosine(near, *at)
        of_class = _scaled((dot_products(P, queries, partners) + tiny) * multiplicities)
        of_known, of_new = (_scaled(near * each + tiny) for each in (k[partners], 1 - k[partners]))
        alike = known * (trust * of_class + (1 - trust) * of_known) + (1 - known) * of_new
        nearest = alike / multiplicities * targets_by_cosine(centred, *at, INSTANCE_PERPLEXITY)
        nearest += np.finfo(np.float32).tiny
        return (1 - share) * alike + share * _scaled(nearest)

    def temperatures(self, labels: NDArray[Any] | None) -> Temperatures:
        """Those of `Posterior` for points and rows; for queries, sharp ones are preferred.

        A query of a new class has a small k, which keeps it from being sharpened (`at_temperature`). Where no
        class has two rows, nothing can judge candidates, and queries are coded as rows.
        """
        found = Posterior().temperatures(labels)
        single = labels is not None and np.bincount(labels).max() == 1
        return found._replace(queries=() if single else (*SHARP_QUERIES, found.rows))

    def at_temperature(self, vectors: NDArray[Any], temperature: float, state: Params) -> NDArray[Any]:
        """Probabilities around their mean, times k, beside the other parts; see `Embedding`.

        The temperature changes the probabilities of a row to the power k, so that a query of a new class is not
        sharpened towards a known one.
        """
        P, known, near, centred = self._split(vectors, state)
        soft = _soft_classes(P, known, temperature, state)
        length = self.class_weight / state["profile_scale"]
        return np.hstack([length * known[:, None] * soft, near, centred]).astype(vectors.dtype)

    def factors(self, vectors: NDArray[Any], state: Params, queries: bool = False) -> NDArray[np.float64]:
        """See `FactoredEmbedding.factors`; the formula is that of `_factors`."""
        P, known, near, centred = self._split(vectors, state)
        soft = normalize_rows(_soft_classes(P, known, Posterior().temperature, state))
        parts = _factors.FactorParts(sharp_classes(P), known, soft, near, centred)
        return _factors.query_factors(parts, state["trust"]) if queries else _factors.row_factors(parts)

    def most_alike(self, state: Params) -> float:
        """See `FactoredEmbedding.most_alike`."""
        return _factors.MOST_ALIKE

    def n_class_numbers(self, state: Params) -> int:
        """See `FactoredEmbedding.n_class_numbers`: the class probabilities, and the chance of a new class."""
        return len(state["trust"]) + 1

    def n_row_numbers(self, state: Params) -> int:
        """See `FactoredEmbedding.n_row_numbers`."""
        return len(state["mean"])

    def label_trust(self, vectors: NDArray[Any], state: Params) -> float:
        """Share of the target that labels decide where classes are known, on average of vectors (n, m)."""
        return float((sharp_classes(self._split(vectors, state)[0]) @ state["trust"]).mean())

    def known_share(self, vectors: NDArray[Any], state: Params) -> float:
        """See `FactoredEmbedding.known_share`."""
        return float(self._split(vectors, state)[1].mean())

    def new_class_share(self, X: NDArray[Any], state: Params) -> float:
        """That of `Posterior` where every row counts as known; else 0, because k tells which rows are new."""
        everything_known = (state["known_chances"] == 1).all()
        return Posterior().new_class_share(X, state) if everything_known else 0.0

    def _split(self, vectors: NDArray[Any], state: Params) -> tuple[NDArray[Any], ...]:
        """Class probabilities (n, c), k (n,), graph vectors and centred rows."""
        c = len(state["prior"])
        end = c + 1 + state["vectors"].shape[1] + state["nodes"].shape[1]
        return vectors[:, :c], vectors[:, c], vectors[:, c + 1 : end], vectors[:, end:]


def _roots(P: NDArray[Any]) -> NDArray[Any]:
    """Square roots of probabilities (n, c): vectors of length 1."""
    return np.sqrt(P / P.sum(axis=1, keepdims=True))


def _soft_classes(
    P: NDArray[Any], known: NDArray[Any], temperature: float, state: Params
) -> NDArray[np.float64]:
    """Roots of class probabilities (n, c) at a temperature, around their mean."""
    soft: NDArray[np.float64] = _roots(_at_temperature(P, known, temperature)) - state["profile"]
    return soft


def _at_temperature(P: NDArray[Any], known: NDArray[Any], temperature: float) -> NDArray[np.float64]:
    """Class probabilities (n, c) at a temperature, by how likely the class of each row is known (n,)."""
    return sharpen(P, (Posterior().max_row_temperature / temperature) ** known[:, None])


def _scaled(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of numbers, each scaled to sum to 1."""
    scaled: NDArray[np.float64] = chances / chances.sum(axis=1, keepdims=True)
    return scaled
