"""Multidimensional spectral hashing: eigenfunctions of the affinity, and a kernel distance of codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.gaussian import squared_distances
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count, check_positive
from structhash.baselines._eigenfunctions import Eigenfunctions, choose, one_dimensional
from structhash.baselines._principal import principal_axes, project
from structhash.baselines._shared import keep_bits, mean_of
from structhash.estimators.base import MODERATE, HashEncoder, whole

ZERO = 1e-9  # an eigenfunction that exceeds its threshold by less is taken to equal it, however it was rounded
SAMPLE = 1000  # rows whose mean distance gives sigma
AXES = 64  # principal components worked on at a time


class MDSH(HashEncoder):
    """Multidimensional spectral hashing: h(x) = [phi(v) > t], v a principal component of x.

    Codes shall give back the affinity of points: sum_k w_k b_k(x) b_k(y), b in {-1, 1}, near
    exp(-||x - y||^2 / (2 sigma^2)). The best real-valued b are eigenvectors of the affinity; where components
    are independent, these are products over components of eigenfunctions phi of the one-dimensional affinities,
    and so are their eigenvalues. Bits are thresholded one-dimensional eigenfunctions, those of largest
    eigenvalue w of the normalised affinity. `weights_` are the w, divided by the largest.

    The products need no bits of their own: with d running over components, and k over the bits of one of them,
    prod_d (1 + sum_k w_k b_k(x) b_k(y)) - 1 is the sum of w b b over the bits and all their products. This
    affinity, negative, is the distance of its own, ``"affinity"``; the weighted Hamming distance is its
    first order.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    sigma : float, optional
        Width of the affinity, in the units of X. By default a quarter of the mean distance between training
        rows, as in the authors' demonstration.
    min_weight : float
        Eigenfunctions of less weight are not used. If there are fewer than n_bits of them, they are used
        several times with several thresholds.
    random_state : int, RandomState, Generator or None
        Draws the 1,000 rows whose mean distance gives sigma, where there are more.

    Attributes
    ----------
    n_bits_, history_ : see `HashEncoder`
    weights_ : ndarray (n_bits,)
        Eigenvalue of each bit, the largest being 1.
    sigma_ : float
    center_ : ndarray (d,)
        Mean of the training rows.
    axes_ : ndarray (k, d)
        Principal directions that bits use.
    axis_ : ndarray (n_bits,) of int
        Which of them each bit uses.
    knots_, values_ : ndarrays (n_bits, m)
        The eigenfunction of each bit, linear between knots and constant beyond.
    thresholds_ : ndarray (n_bits,)

    Notes
    -----
    This follows the authors' code in what the text leaves open: eigenfunctions are computed on min(n/10, 50)
    bins of the range between the 2.5th and the 97.5th percentile, beyond which values are clipped, with 0.1
    added to the share of each bin; the thresholds are percentiles of the values of all chosen eigenfunctions in
    all bins; the bits of each threshold have an affinity of their own, and these are added up. Here there are
    at least 20 bins, and the sign of an eigenfunction, which the code leaves to its solver and the thresholds
    depend on, is such that it ends positive. Bits never are eigenfunctions of directions without variance.

    References
    ----------
    Weiss, Fergus, Torralba (2012), Multidimensional spectral hashing, ECCV,
    https://doi.org/10.1007/978-3-642-33715-4_25

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = MDSH(n_bits=32, random_state=0).fit(X)
    >>> float(encoder.weights_.max())
    1.0
    >>> encoder.own_distances(X)(X[:2]).argmin(axis=1)
    array([0, 1])
    """

    weighted_ = True
    own_distance_ = "affinity"

    reach_ = (1 / MODERATE, MODERATE)

    def __init__(
        self,
        n_bits: int = 64,
        *,
        sigma: float | None = None,
        min_weight: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.sigma = sigma
        self.min_weight = min_weight
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the eigenfunctions of X (n, d); y is not looked at.

        Raises
        ------
        ValueError
            If a parameter is not allowed, sigma is too small or too large for X, or all rows are the same.
        """
        check_count("n_bits", self.n_bits)
        check_positive("min_weight", self.min_weight, 1.0)
        if self.sigma is not None:
            check_positive("sigma", self.sigma)
        X = self._check(X)
        center = mean_of(X)
        drawn = generator(self.random_state).permutation(len(X))[:SAMPLE]
        with threadpool_limits(1, user_api="blas"):
            self.sigma_ = float(self.sigma or mean_distance(X[drawn] - center) / 4)
            axes = principal_axes(X, center, X.shape[1])
            found = []
            for first in range(0, len(axes), AXES):
                V = project(X, center, axes[first : first + AXES])
                found.append(one_dimensional(V, self.sigma_))
            functions = Eigenfunctions(*map(np.concatenate, zip(*found, strict=True)))
        axis, mode, self.thresholds_, weights = choose(functions, self.n_bits, self.min_weight, self.sigma_)
        used, self.axis_ = np.unique(axis, return_inverse=True)
        self.center_, self.axes_ = center, axes[used]
        self.knots_, self.values_ = functions.knots[axis], functions.values[axis, mode]
        keep_bits(self)
        self.weights_ = weights
        return self

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        with threadpool_limits(1, user_api="blas"):
            V = (X - self.center_) @ self.axes_.T
        bits = np.empty((len(X), self.n_bits_), bool)
        parts = zip(self.axis_, self.knots_, self.values_, self.thresholds_, strict=True)
        for j, (axis, knots, values, threshold) in enumerate(parts):
            bits[:, j] = np.interp(V[:, axis], knots, values) - threshold > ZERO
        return bits

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`: the affinity of codes, negative."""
        ours = 2.0 * self.transform(rows) - 1
        levels = np.unique(self.thresholds_)

        def distances(queries: Any) -> NDArray[np.float64]:
            theirs = (2.0 * self.transform(queries) - 1) * self.weights_
            total = np.zeros((len(theirs), len(ours)))
            for level in levels:
                product = np.ones(total.shape)
                for axis in range(len(self.axes_)):
                    bits = np.flatnonzero((self.thresholds_ == level) & (self.axis_ == axis))
                    if len(bits):  # rounded, so that equal codes are at equal distances
                        product *= np.round(1 + theirs[:, bits] @ ours[:, bits].T, 9)
                total -= product - 1
            return total

        return distances


def mean_distance(Z: NDArray[Any]) -> np.float64:
    """Mean Euclidean distance of centred rows, each pair twice and each row with itself once."""
    return np.sqrt(squared_distances(Z, Z)).mean()
