"""Centred rows, compared by their cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.program import Program
from structhash._numerics.scaling import float_blocks, mean_and_scale
from structhash.embeddings.base import Affine, Embedded, Embedding
from structhash.families.linear import Linear
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

__all__ = ["Centered"]


@dataclass(frozen=True)
class Centered(Embedding):
    """Centred rows, compared by their cosine. It needs no labels.

    The mean is taken off the rows as they are given, so that the norms of rows count. Where only the directions
    of rows should count, scale each row to norm 1 first.

    References
    ----------
    van der Maaten, Hinton, Visualizing data using t-SNE, JMLR 2008,
    https://www.jmlr.org/papers/v9/vandermaaten08a.html: how the temperature of the targets is set.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> state, vectors, _ = Centered().fit(X, None, None, np.arange(20), np.random.default_rng(0))
    >>> bool(abs(vectors.mean(axis=0)).max() < 1e-12)
    True
    """

    takes_several_labels: ClassVar[bool] = True  # it ignores labels
    state_fields: ClassVar[Fields | None] = (Field("mean", ("n_features",)), Field("scale", positive=True))
    n_points: int = 10_000
    n_partners: int = 4096
    n_nearest: int = 64

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """The mean of the rows that are searched and the scale of X; see `Embedding.fit`."""
        state, rows = Linear().prepare(X, rng), X
        if unlabeled is not None:
            mean, _ = mean_and_scale(lambda: float_blocks(unlabeled))
            state["mean"], rows = mean.astype(state["mean"].dtype), unlabeled
        return Embedded(state, self.embed(rows[points], state))

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Centred and scaled rows (n, d)."""
        return Linear().features(X, state)

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`."""
        return program.step("divide", program.step("subtract", X, state["mean"]), state["scale"])

    def affine(self, state: Params) -> Affine:
        """Centring and scaling."""
        return Affine(state["mean"].astype(np.float64), np.eye(len(state["mean"])), float(state["scale"]))
