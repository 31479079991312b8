"""Locality-sensitive hashing by random planes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.baselines.base import PLANE_FIELDS, Baseline, TrainingRows, planes_through, through_mean
from structhash.codes.planes import Planes

__all__ = ["LSH"]


class LSH(Baseline):
    """Locality-sensitive hashing by random planes: h_j(x) = [g_j'(x - mean) > 0], g_j ~ N(0, I).

    Two rows differ in a bit with probability angle / pi, where the angle is seen from the mean of the training
    rows. The published planes go through the origin. Here they go through the mean: rows on one side of the
    origin would get nearly constant bits. The code in willard-yuan/hashing-baseline-for-image-retrieval, which
    this method was compared with, centres the rows too.

    Parameters
    ----------
    n_bits : int
        Length of the code. With the same integer seed a shorter code is the prefix of a longer one.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Mean of the training rows.
    planes_ : ndarray (n_bits, d)
        One normal vector a bit.

    References
    ----------
    Charikar (2002), Similarity estimation techniques from rounding algorithms,
    https://doi.org/10.1145/509907.509965; Gionis, Indyk, Motwani (1999), Similarity search in high dimensions
    via hashing, VLDB.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> LSH(n_bits=32, random_state=0).fit(X).encode(X).shape
    (1797, 4)
    """

    source = "Charikar 2002"
    original = "willard-yuan/hashing-baseline-for-image-retrieval"
    settings_from = "planes through the mean of the rows, not the origin"
    fitted_fields = PLANE_FIELDS

    mean_: NDArray[Any]
    planes_: NDArray[Any]

    def __init__(self, n_bits: int = 64, *, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        planes = rng.standard_normal((self.n_bits, rows.X.shape[1]))
        return planes_through(rows.mean, planes, rows.X.dtype)

    def _planes(self) -> Planes:
        return through_mean(self.mean_, self.planes_)
