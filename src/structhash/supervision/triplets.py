"""Explicit comparisons of three rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import refuse_masked
from structhash.pair_weights import Comparisons
from structhash.supervision.base import Supervision

__all__ = ["Triplets"]


@dataclass(frozen=True)
class Triplets(Supervision):
    """Explicit comparisons: row i is nearer to row j than to row k.

    Parameters
    ----------
    indices : int array (T, 3)
        Row numbers i, j, k of the training matrix.
    weights : float array (T,), optional
        Non-negative weight of each triplet; all the same by default.

    Examples
    --------
    >>> import numpy as np
    >>> r = Triplets(np.array([[0, 1, 2]])).comparisons(np.zeros((3, 1)), np.random.default_rng(0))
    >>> r.queries, r.near, r.far
    (array([0]), array([1], dtype=int32), array([2], dtype=int32))
    """

    indices: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Each triplet as a query with one near and one far point.

        Raises
        ------
        ValueError
            If the triplets are not integers (T, 3), name a row outside X or one row twice, or a weight is not
            allowed.
        """
        refuse_masked("triplets", self.indices)
        triplets = np.asarray(self.indices)
        _check_triplets(triplets, len(X))
        weights = None if self.weights is None else _read_weights(self.weights, len(triplets))
        i, j, k = triplets.astype(np.int32).T
        pointer = np.arange(len(triplets) + 1)
        return Comparisons(i.astype(np.int64), j, pointer, k, pointer, weights)


def _check_triplets(triplets: NDArray[Any], n_rows: int) -> None:
    if triplets.ndim != 2 or triplets.shape[1] != 3 or len(triplets) == 0 or triplets.dtype.kind not in "iu":
        raise ValueError(
            f"triplets are {triplets.dtype} of shape {triplets.shape}; give integers of shape (T, 3), T >= 1"
        )
    least, most = triplets.min(), triplets.max()
    if least < 0 or most >= n_rows:
        raise ValueError(f"triplets name rows {least} to {most}; the matrix has rows 0 to {n_rows - 1}")
    i, j, k = triplets.T
    same = (i == j) | (i == k) | (j == k)
    if same.any():
        first = int(same.argmax())
        raise ValueError(f"triplet {first} is {triplets[first].tolist()}; its three rows must differ")


def _read_weights(weights: Any, n_triplets: int) -> NDArray[np.float64]:
    refuse_masked("triplet weights", weights)
    found = np.asarray(weights)
    number = found.shape == (n_triplets,) and found.dtype.kind in "fiub"
    if not number or not (found >= 0).all() or not 0 < found.max() < 1e300 / n_triplets:
        raise ValueError(
            f"triplet weights must be {n_triplets} finite numbers >= 0, not all 0 and not huge; "
            f"got shape {found.shape} of {found.dtype}"
        )
    return found.astype(np.float64)
