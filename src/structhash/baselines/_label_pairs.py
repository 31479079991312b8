"""Pairs of training rows drawn from labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class LabelPairs(NamedTuple):
    """Unordered pairs, each once: rows first < second (int64) and whether they have one label (bool)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similar: NDArray[np.bool_]


def draw_pairs(
    index: NDArray[np.int64], n_similar: int, n_dissimilar: int, rng: np.random.Generator
) -> LabelPairs:
    """For each row up to n_similar others of its class and n_dissimilar of other classes, without repetition.

    index (n,) is the class number of each row. A pair that both its rows draw is there once.
    """
    n, keys = len(index), []
    members = [np.flatnonzero(index == c) for c in range(index.max() + 1)]
    others = [np.flatnonzero(index != c) for c in range(index.max() + 1)]
    for i, c in enumerate(index):
        for rows, most in ((members[c][members[c] != i], n_similar), (others[c], n_dissimilar)):
            chosen = rows if len(rows) <= most else rng.choice(rows, most, replace=False, shuffle=False)
            keys.append(np.minimum(i, chosen) * n + np.maximum(i, chosen))
    first, second = np.divmod(np.unique(np.concatenate(keys)), n)
    return LabelPairs(first, second, index[first] == index[second])
