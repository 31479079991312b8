"""Random rows in place of those of classes that the training rows lack."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["normal_rows"]


def normal_rows(rows: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw n rows from the normal distribution that has the mean and the covariance of given rows.

    Rows of known classes lie in clusters. Rows of a new class lie elsewhere, and nothing says where. The normal
    distribution has the same directions and lengths, and of all such distributions it assumes least. Codes that
    were also learned from its rows describe rows of new classes better.

    Each row is a random sum of the given rows around their mean, so the covariance itself is not needed.

    Parameters
    ----------
    rows : ndarray (m, d)
        With m of at least 1.
    n : int
    rng : Generator

    Returns
    -------
    float64 array (n, d)

    Examples
    --------
    >>> normal_rows(np.ones((5, 2)), 3, np.random.default_rng(0))
    array([[1., 1.],
           [1., 1.],
           [1., 1.]])
    """
    mean = rows.mean(axis=0, dtype=np.float64)
    drawn: NDArray[np.float64] = mean + rng.normal(size=(n, len(rows))) @ (rows - mean) / np.sqrt(len(rows))
    return drawn
