"""What the vectors of `AdditiveHash` are learned from: rows, or what an embedding knows of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import rows_within, sample_rows
from structhash.embeddings.base import FactoredEmbedding
from structhash.embeddings.class_directions import ClassDirections
from structhash.embeddings.mixture import Mixture
from structhash.embeddings.multilabel import Multilabel
from structhash.pieces import Params
from structhash.training.distillation import embed_points
from structhash.training.normal_rows import normal_rows

__all__ = ["STATE", "SUM_EMBEDDINGS", "SumPoints", "find_embedding"]

STATE = "embedding_state_"
_MAX_ROWS = 50_000
_MAX_POINTS = 10_000  # rows to learn from where there are labels: each is embedded
_LEAST_NORMAL = 2000  # random rows to learn from beside the rows of X, if these are fewer
_MAX_NUMBERS = 1 << 26  # of the rows that are learned from, unless these are very wide

SUM_EMBEDDINGS: dict[str, type[FactoredEmbedding]] = {
    "mixture": Mixture,
    "class_directions": ClassDirections,
    "multilabel": Multilabel,
}


def find_embedding(name: str, n_points: int = _MAX_POINTS) -> FactoredEmbedding:
    """The embedding with this name; ValueError if there is none."""
    if name not in SUM_EMBEDDINGS:
        given = "is missing, as in models of earlier versions" if not name else f"is {name!r}"
        raise ValueError(f"'embedding_name_' {given}; fit the model again")
    return SUM_EMBEDDINGS[name](n_points=n_points)


class SumPoints(NamedTuple):
    """What tables are learned from: vectors (n, m), and the state of the embedding that gave them."""

    vectors: NDArray[Any]
    state: Params | None = None
    embedding: str = ""

    def fitted(self, has_class_byte: bool) -> dict[str, Any]:
        """Fitted attributes about the labels; none without labels."""
        if self.state is None:
            return {}
        return {STATE: self.state, "embedding_name_": self.embedding, "has_class_byte_": has_class_byte}

    def n_class_numbers(self) -> int:
        """See `FactoredEmbedding.n_class_numbers`."""
        return 0 if self.state is None else find_embedding(self.embedding).n_class_numbers(self.state)

    @classmethod
    def from_rows(cls, X: NDArray[Any], rng: np.random.Generator) -> SumPoints:
        """Of rows (n, d) themselves."""
        return cls(X[sample_rows(len(X), min(_MAX_ROWS, rows_within(X.shape[1], _MAX_NUMBERS)), rng)])

    @classmethod
    def from_labels(
        cls,
        X: NDArray[Any],
        labels: NDArray[Any],
        unlabeled: NDArray[Any] | None,
        rng: np.random.Generator,
    ) -> SumPoints:
        """Factors of `unlabeled`, and of X where it has few known rows; without it, of X and random rows."""
        n_points = min(_MAX_POINTS, rows_within(3 * X.shape[1], _MAX_NUMBERS))
        name = _name_of_embedding(labels, unlabeled)
        embedding = find_embedding(name, n_points)
        state, vectors, left_out = embed_points(embedding, X, labels, unlabeled, rng).embedded
        if unlabeled is not None and len(unlabeled) * embedding.known_share(vectors, state) < len(X):
            drawn = sample_rows(len(X), n_points, rng)
            labelled = embedding.embed(X[drawn], state) if left_out is None else left_out.vectors
            vectors = np.vstack([vectors, labelled])
        factors = embedding.factors(vectors, state)
        if name == "class_directions":
            factors = np.vstack([factors, normal_rows(factors, max(len(factors), _LEAST_NORMAL), rng)])
        return cls(factors, state, name)


def _name_of_embedding(labels: NDArray[Any], unlabeled: NDArray[Any] | None) -> str:
    """The embedding that serves such labels, a name each or indicators, with or without the database."""
    if labels.ndim == 2:
        return "multilabel"
    return "class_directions" if unlabeled is None else "mixture"
