"""Training rows as several baselines prepare them: mean, scale, a random part of them, anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.scaling import check_rows_differ

SAME_LABELS = "every two of the rows drawn share a label, or no two do; give labels that rows differ by"


def mean_of(X: NDArray[Any]) -> NDArray[np.float64]:
    """Mean (d,) of rows X (n, d); ValueError if all are the same."""
    check_rows_differ(X)
    mean: NDArray[np.float64] = X.mean(axis=0, dtype=np.float64)
    return mean


def scaled_rows(X: NDArray[Any], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows (n, d) minus their mean, divided by one number: their root mean squared norm is 1."""
    Z = X - mean
    Z /= np.abs(Z).max()  # so that squares neither overflow nor vanish
    scaled: NDArray[np.float64] = Z * (np.sqrt(len(Z)) / np.linalg.norm(Z))
    return scaled


def check_finite(learned: NDArray[Any]) -> None:
    """ValueError where what was learned holds NaN or infinity."""
    if not np.isfinite(learned).all():
        raise ValueError(
            "learning diverged: give a smaller learning rate, or rows divided by their largest number"
        )


def draw_rows(
    X: NDArray[Any], numbers: NDArray[np.int64], max_rows: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """At most `max_rows` random rows of X (n, d) and their numbers (n,), such as classes.

    Raises ValueError if all rows drawn are the same.
    """
    if len(X) > max_rows:
        drawn = rng.permutation(len(X))[:max_rows]
        X, numbers = X[drawn], numbers[drawn]
        mean_of(X)
    return X, numbers


def draw_anchors(X: NDArray[Any], n_anchors: int, rng: np.random.Generator) -> NDArray[Any]:
    """`n_anchors` random rows of X (n, d), no two equal; all distinct rows where there are fewer.

    Equal anchors would make the matrix of similarities singular.
    """
    anchors = X[rng.permutation(len(X))[:n_anchors]]
    distinct = np.unique(anchors, axis=0)
    if len(distinct) == min(n_anchors, len(X)):
        return anchors
    distinct = np.unique(X, axis=0)
    return distinct[rng.permutation(len(distinct))[:n_anchors]]
