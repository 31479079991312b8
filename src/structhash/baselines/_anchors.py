"""Which training rows a method learns from, and which serve as anchors of a kernel method."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.baselines._shared import mean_of


def some_rows(
    X: NDArray[Any], index: NDArray[np.int64], most: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """At most so many rows of X (n, d) at random, with their classes; ValueError if all are the same."""
    if len(X) > most:
        rows = rng.permutation(len(X))[:most]
        X, index = X[rows], index[rows]
        mean_of(X)
    return X, index


def draw_anchors(X: NDArray[Any], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """`count` rows of X (n, d) at random, no two equal; all distinct rows where there are not more of them.

    Equal anchors would make the matrix of similarities singular.
    """
    anchors = X[rng.permutation(len(X))[:count]]
    distinct = np.unique(anchors, axis=0)
    if len(distinct) == min(count, len(X)):
        return anchors
    distinct = np.unique(X, axis=0)
    return distinct[rng.permutation(len(distinct))[:count]]
