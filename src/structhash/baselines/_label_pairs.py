"""Pairs of training rows drawn from labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class LabelPairs(NamedTuple):
    """Unordered pairs, each once: rows first < second (int64), and whether they have the same label (bool)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similar: NDArray[np.bool_]


def draw_pairs(
    class_index: NDArray[np.int64], n_similar: int, n_dissimilar: int, rng: np.random.Generator
) -> LabelPairs:
    """Draw pairs for each row, without repetition. A pair that both its rows draw counts once.

    Parameters
    ----------
    class_index : ndarray (n,)
    n_similar, n_dissimilar : int
        Partners of a row in its class and in other classes, or all where there are fewer.
    rng : Generator

    Returns
    -------
    LabelPairs
    """
    n, keys = len(class_index), []
    members = [np.flatnonzero(class_index == c) for c in range(class_index.max() + 1)]
    others = [np.flatnonzero(class_index != c) for c in range(class_index.max() + 1)]
    for i, c in enumerate(class_index):
        for rows, most in ((members[c][members[c] != i], n_similar), (others[c], n_dissimilar)):
            chosen = rows if len(rows) <= most else rng.choice(rows, most, replace=False, shuffle=False)
            keys.append(np.minimum(i, chosen) * n + np.maximum(i, chosen))
    first, second = np.divmod(np.unique(np.concatenate(keys)), n)
    return LabelPairs(first, second, class_index[first] == class_index[second])
