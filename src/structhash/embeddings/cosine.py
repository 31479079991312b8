"""Rows as they are, near where their cosine is large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.scaling import float_blocks, mean_and_scale
from structhash.embeddings._targets import by_cosine
from structhash.families.linear import Linear
from structhash.pieces import Params


@dataclass(frozen=True)
class Cosine:
    """Centred rows, compared by their cosine: needs no labels.

    References
    ----------
    van der Maaten, Hinton, Visualizing data using t-SNE, JMLR 2008,
    https://www.jmlr.org/papers/v9/vandermaaten08a.html: how sharp the targets are.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> state, Z = Cosine().fit(X, None, None, np.arange(20), np.random.default_rng(0))
    >>> bool(abs(Z.mean(axis=0)).max() < 1e-12)
    True
    """

    labelled: ClassVar[bool] = False
    pull: ClassVar[float] = 0.0
    nearest: ClassVar[int] = 64
    sample: ClassVar[tuple[int, int]] = (10_000, 4096)

    def fit(
        self, X: NDArray[Any], y: Any, others: Any, points: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Params, NDArray[Any]]:
        """State, and the vectors (k, d) of the rows `points` of `others` (m, d), or of X (n, d); y is not used.

        State is the mean of these rows, and the scale of X.

        Raises
        ------
        ValueError
            If all rows are the same.
        """
        state, rows = Linear().prepare(X, rng), X
        if others is not None:
            state["mean"] = mean_and_scale(lambda: float_blocks(others))[0].astype(state["mean"].dtype)
            rows = others
        return state, self.embed(rows[points], state)

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Centred and scaled rows (n, d)."""
        return Linear().features(X, state)

    def targets(
        self, Z: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any], counts: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Chances (q, m) of the partners (q, m) of each query (q,), all row numbers of Z: see `by_cosine`."""
        return by_cosine(Z, queries, partners, counts)

    def linear(self, state: Params) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Centre (d,), matrix (d, k) and scale of the embedding as (x - centre)'matrix / scale."""
        return state["mean"].astype(np.float64), np.eye(len(state["mean"])), float(state["scale"])
