"""Rows by how much they are like each known class, for classes that the training rows lack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import float_type, normalize_rows
from structhash._numerics.program import Program
from structhash.embeddings._evidence import sharp_classes, trust_in_labels
from structhash.embeddings._targets import sharpen, targets_by_cosine
from structhash.embeddings.base import Embedded, FactoredEmbedding
from structhash.embeddings.centered import Centered
from structhash.embeddings.posterior import Posterior
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

__all__ = ["ClassDirections"]

_LENGTH_IN_ROWS = 0.3  # of the centred part; so a code describes that of classes best


@dataclass(frozen=True)
class ClassDirections(FactoredEmbedding):
    """Directions of softened class probabilities, and centred rows. No row of a new class is needed.

    A row of a new class is like several known classes at once, and so are other rows of its class. So rows are
    compared by the whole profile of their class probabilities, not by their likeliest class. These are those of
    `Posterior` at temperature 16. The mean of their square roots at temperature 8 is taken off their square
    roots, and the rest, soft, is scaled to length 1. So rows of which `Posterior` is unsure lie to one side and
    are alike, too. That finds more rows of new classes. Where classes are uneven, it finds fewer of known ones.
    The inner product of a query and a row is

        r soft'soft' + 0.3 centred'centred',

    where r is the trust in the labels: the mean of n_c / (n_c + 5) over the class probabilities of the query,
    n_c being the labelled rows of class c.

    Parameters
    ----------
    n_points, n_partners, n_nearest, self_weight
        As in `Embedding`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> known = np.flatnonzero(y < 7)[::3]
    >>> state, _, _ = ClassDirections().fit(X[known], y[known], None, np.arange(1), np.random.default_rng(0))
    >>> embed = lambda rows: ClassDirections().embed(rows, state)
    >>> rows, queries = (ClassDirections().factors(embed(X), state, queries=each) for each in (False, True))
    >>> new = np.flatnonzero(y >= 7)
    >>> nearest = np.argsort(-queries[new] @ rows.T)[:, 1:11]
    >>> bool((y[nearest] == y[new, None]).mean() > 0.8)
    True
    """

    labelled: ClassVar[bool] = True
    state_fields: ClassVar[Fields | None] = (
        *(Posterior.state_fields or ()),
        *(Centered.state_fields or ()),
        Field("trust", ("n_classes",), least=0, most=1),
        Field("profile", ("n_classes",)),
    )
    n_nearest: int = 32
    self_weight: float = 16.0

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """Class probabilities, their mean, and the mean row; see `Embedding.fit`."""
        if labels is None:
            raise ValueError("the embedding 'class_directions' learns from labels; give labels")
        posterior = Posterior().fit(X, labels, unlabeled, points, rng)
        assert posterior.left_out is not None
        exponent = Posterior().max_row_temperature / Posterior().temperature
        state = {
            **posterior.state,
            **Centered().fit(X, None, unlabeled, points[:1], rng).state,
            "trust": trust_in_labels(labels),
            "profile": np.sqrt(sharpen(posterior.left_out.vectors, exponent)).mean(axis=0),
        }
        state = {name: np.asarray(array, float_type(X.dtype), order="C") for name, array in state.items()}
        rows = X if unlabeled is None else unlabeled
        return Embedded(state, _vectors(posterior.vectors, rows[points], state))

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, 1 + c + d) of rows X (n, d): the trust, and the parts for classes and of centred rows."""
        return _vectors(Posterior().embed(X, state), X, state)

    def targets(
        self,
        vectors: NDArray[Any],
        queries: NDArray[Any],
        partners: NDArray[Any],
        multiplicities: NDArray[Any],
        state: Params,
    ) -> NDArray[np.float64]:
        """By the cosine of the vectors that bits take; see `targets_by_cosine`."""
        return targets_by_cosine(self.at_temperature(vectors, 1.0, state), queries, partners, multiplicities)

    def at_temperature(self, vectors: NDArray[Any], temperature: float, state: Params) -> NDArray[Any]:
        """Both parts, the centred one shortened; see `Embedding`."""
        return self.factors(vectors, state).astype(vectors.dtype)

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`."""
        P = Posterior().express(program, X, Posterior().max_row_temperature, state)
        soft = program.normalized(program.step("subtract", program.step("sqrt", P), state["profile"]))
        centred = program.normalized(Centered().express(program, X, temperature, state))
        return program.step("concatenate", soft, program.step("multiply", centred, _LENGTH_IN_ROWS))

    def factors(self, vectors: NDArray[Any], state: Params, queries: bool = False) -> NDArray[np.float64]:
        """See `FactoredEmbedding.factors`."""
        after = 1 + len(state["profile"])
        trust, soft, centred = np.split(vectors.astype(np.float64), [1, after], axis=1)
        return np.hstack([trust * soft, centred] if queries else [soft, _LENGTH_IN_ROWS * centred])

    def most_alike(self, state: Params) -> float:
        """See `FactoredEmbedding.most_alike`: well above the largest product, 1.3."""
        return 4.0

    def n_row_numbers(self, state: Params) -> int:
        """See `FactoredEmbedding.n_row_numbers`."""
        return len(state["mean"])

    def new_class_share(self, X: NDArray[Any], state: Params) -> float:
        """See `Posterior.new_class_share`."""
        return Posterior().new_class_share(X, state)


def _vectors(P: NDArray[Any], X: NDArray[Any], state: Params) -> NDArray[Any]:
    """Vectors of rows X (n, d) with class probabilities P (n, c)."""
    trust = sharp_classes(P) @ state["trust"]
    soft = normalize_rows(np.sqrt(P) - state["profile"])
    centred = normalize_rows(Centered().embed(X, state))
    return np.hstack([trust[:, None], soft, centred]).astype(P.dtype)
