"""Locality-sensitive hashing by random planes."""

from __future__ import annotations

from typing import Any, Self

from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count
from structhash.baselines._shared import keep_planes, mean_of, planes_of
from structhash.codes.planes import Planes
from structhash.estimators.base import HashEncoder, whole


class LSH(HashEncoder):
    """Locality-sensitive hashing by random planes: h_j(x) = [g_j'(x - mean) > 0], g_j ~ N(0, I).

    The chance that a bit differs between two points is their angle, seen from the mean of the training rows,
    divided by pi. The published method has its planes through the origin; here they go through the mean,
    since rows that all lie to one side of the origin would get nearly constant bits. So it is in the code that
    it was compared with, willard-yuan/hashing-baseline-for-image-retrieval, which centres first.

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

    def __init__(self, n_bits: int = 64, *, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the mean of X (n, d) and draw the planes; y is not looked at.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or all rows are the same.
        """
        check_count("n_bits", self.n_bits)
        X = self._check(X)
        mean = mean_of(X)
        planes = generator(self.random_state).standard_normal((self.n_bits, X.shape[1]))
        keep_planes(self, X, mean, planes)
        return self

    def _planes(self) -> Planes:
        return planes_of(self)
