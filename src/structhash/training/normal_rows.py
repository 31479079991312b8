"""Random rows in place of those that the training rows lack."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices

__all__ = ["normal_rows"]

_BLOCK_ROWS = 512  # drawn at once: each is made from one random number a given row


def normal_rows(rows: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw n rows from the normal distribution that has the mean and the covariance of given rows.

    Rows of known classes lie in clusters. Rows of a new class lie elsewhere, and nothing says where. Of all
    distributions with this mean and covariance, the normal one assumes least (it has the most entropy). Codes
    that were also learned from its rows describe rows of new classes better.

    Each row is a random sum of the given rows around their mean.

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
    around, out = (rows - mean) / np.sqrt(len(rows)), np.empty((n, rows.shape[1]))
    for block in row_slices(n, _BLOCK_ROWS):
        out[block] = mean + rng.normal(size=(block.stop - block.start, len(rows))) @ around
    return out
