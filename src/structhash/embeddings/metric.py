"""A linear metric learned from classes, for classes that the training rows lack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import float_type
from structhash._numerics.program import Program
from structhash.embeddings import _metric
from structhash.embeddings.base import Affine, Embedded, Embedding
from structhash.embeddings.centered import Centered
from structhash.families.linear import Linear
from structhash.io.fields import Field, Fields
from structhash.pieces import Params

__all__ = ["Metric"]


@dataclass(frozen=True)
class Metric(Embedding):
    """Rows whitened within classes and stretched between them, compared by their cosine.

    Let S be the covariance of rows around their class means, z = (S + ridge I)^(-1/2) (x - mean), and b the
    variances of the class means of z along the principal directions of these means. Each of these directions
    is scaled by sqrt((b + 1) / (b + 2)). So the directions in which the known classes differ count most, and
    the others still count, because they may separate new classes.

    Cross-validation over classes chooses the ridge, and whether to leave the rows as they are. The criterion is
    the share of the ten nearest rows that are of the same class, among rows of held-out classes. With fewer
    than four classes no class can be held out, and rows stay as they are. Above 1,024 features the metric works
    in the leading 1,024 principal directions of the rows of X and of the unlabeled rows.

    References
    ----------
    Ioffe, Probabilistic linear discriminant analysis, ECCV 2006, https://doi.org/10.1007/11744085_41: the
    scaling sqrt(b / (b + 1)) is that of its similarity; here each b is raised by 1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> Metric().fit(X[:300], y[:300], None, np.arange(300), np.random.default_rng(0)).vectors.shape
    (300, 64)
    """

    labelled: ClassVar[bool] = True
    state_fields: ClassVar[Fields | None] = (
        Field("mean", ("n_features",)),
        Field("scale", positive=True),
        Field("matrix", ("n_features", "n_directions")),
    )
    self_weight: float = 8.0

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """The mean of the rows that are searched, the scale and the matrix; see `Embedding.fit`."""
        if labels is None:
            raise ValueError("the embedding 'metric' learns from labels; give labels")
        state, Z, _ = Centered().fit(X, None, None, np.arange(len(X)), rng)
        if unlabeled is None:
            chosen = Z[points]
        else:
            state, chosen, _ = Centered().fit(X, None, unlabeled, points, rng)
        if Z.shape[1] <= _metric.MAX_DIRECTIONS:
            matrix = _metric.choose_matrix(Z, labels, rng)
        else:
            sample = Z[:0]
            if unlabeled is not None:
                step = 1 + len(unlabeled) // _metric.SAMPLED_ROWS
                sample = Centered().embed(unlabeled[::step], state)
            lead = _metric.leading_directions(np.vstack([Z, sample]), rng)
            matrix = lead @ _metric.choose_matrix(Z @ lead, labels, rng)
        state["matrix"] = matrix.astype(float_type(X.dtype))
        return Embedded(state, chosen @ state["matrix"])

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, d) of rows X (n, d)."""
        return Linear().features(X, state) @ state["matrix"]

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """See `Embedding.express`."""
        return program.step("matmul", Centered().express(program, X, temperature, state), state["matrix"])

    def affine(self, state: Params) -> Affine:
        """Centring, scaling and the matrix."""
        return Affine(
            state["mean"].astype(np.float64), state["matrix"].astype(np.float64), float(state["scale"])
        )
