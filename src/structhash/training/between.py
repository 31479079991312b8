"""Points between rows: they stand for classes that the training rows lack."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import float_type

__all__ = ["points_between"]

_SHARES = (0.3, 0.7)  # of the one row in a point; the other has the rest


def points_between(X: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[Any]:
    """Points between n pairs of rows that are drawn at random.

    A row of a new class is like several known classes at once. So is a point between rows of two classes.
    With c classes of the same size, a share of 1 - 1 / c of the pairs is of two classes. Codes that were also
    learned from such points describe rows of new classes better. See Zhang, Cisse, Dauphin, Lopez-Paz, mixup:
    beyond empirical risk minimization, ICLR 2018, https://doi.org/10.48550/arXiv.1710.09412, where such
    points train a classifier.

    Parameters
    ----------
    X : ndarray (m, d)
        Rows, with m of at least 1.
    n : int
    rng : Generator

    Returns
    -------
    float32 or float64 array (n, d)

    Examples
    --------
    >>> points_between(np.zeros((5, 2)), 3, np.random.default_rng(0))
    array([[0., 0.],
           [0., 0.],
           [0., 0.]])
    """
    first, second = rng.integers(len(X), size=(2, n))
    share = rng.uniform(*_SHARES, size=(n, 1))
    between: NDArray[Any] = share * X[first] + (1 - share) * X[second]
    return between.astype(float_type(X.dtype))
