"""Explicit comparisons of three rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.pair_weights import Comparisons


@dataclass(frozen=True)
class Triplets:
    """Explicit comparisons: row i is nearer to row j than to row k.

    Parameters
    ----------
    indices : int array (T, 3)
        Row numbers i, j, k of the training matrix.
    weights : float array (T,), optional
        Non-negative importance of each triplet; all alike by default.

    Examples
    --------
    >>> import numpy as np
    >>> r = Triplets(np.array([[0, 1, 2]])).comparisons(np.zeros((3, 1)), np.random.default_rng(0))
    >>> r.queries, r.near, r.far
    (array([0]), array([1], dtype=int32), array([2], dtype=int32))
    """

    indices: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """The triplets (T, 3) int32 and weights, checked against the rows of X.

        Raises
        ------
        ValueError
            On a wrong shape or dtype, a row number outside X, equal rows in a triplet, or bad weights.
        """
        t = np.asarray(self.indices)
        if t.ndim != 2 or t.shape[1] != 3 or len(t) == 0 or not np.issubdtype(t.dtype, np.integer):
            raise ValueError(
                f"triplets are {t.dtype} of shape {t.shape}; give integers of shape (T, 3), T >= 1"
            )
        if t.min() < 0 or t.max() >= len(X):
            raise ValueError(
                f"triplets name rows {t.min()} to {t.max()}; the matrix has rows 0 to {len(X) - 1}"
            )
        same = (t[:, 0] == t[:, 1]) | (t[:, 0] == t[:, 2]) | (t[:, 1] == t[:, 2])
        if same.any():
            first = int(same.argmax())
            raise ValueError(f"triplet {first} is {t[first].tolist()}; its three rows must differ")
        weights = None if self.weights is None else np.asarray(self.weights, np.float64)
        if weights is not None and (
            weights.shape != (len(t),) or not (weights >= 0).all() or not 0 < weights.max() < 1e300 / len(t)
        ):
            raise ValueError(
                f"triplet weights must be {len(t)} finite numbers >= 0, not all 0 and not huge; "
                f"got shape {weights.shape}"
            )
        return t.astype(np.int32), weights

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Each triplet as a query with one near and one far point."""
        t, weights = self.triplets(X, rng)
        i, j, k = t.T
        pointer = np.arange(len(t) + 1)
        return Comparisons(i.astype(np.int64), j, pointer, k, pointer, weights)
