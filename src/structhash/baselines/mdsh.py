"""Multidimensional spectral hashing: eigenfunctions of the affinity, and a kernel distance of codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.gaussian import squared_distances
from structhash._numerics.threads import one_blas_thread
from structhash._numerics.validation import check_positive
from structhash.baselines._eigenfunctions import Eigenfunctions, choose, one_dimensional
from structhash.baselines._principal import principal_axes, project
from structhash.baselines.base import MAX_SQUARABLE, Baseline, TrainingRows, equal_bits
from structhash.io.fields import Field

__all__ = ["MDSH"]

_EIGENFUNCTION_NOISE = 1e-9  # an eigenfunction exceeds its threshold by more than this for a 1
_BANDWIDTH_ROWS = 1000  # rows whose mean distance gives the bandwidth
_AXES_AT_A_TIME = 64  # principal components worked on at a time


class MDSH(Baseline):
    """Multidimensional spectral hashing: h(x) = [phi(v) > t], v a principal component of x.

    Codes should reproduce the affinity of points: sum_k w_k b_k(x) b_k(y), b in {-1, 1}, should be near
    exp(-||x - y||^2 / (2 sigma^2)). The best real-valued b are eigenvectors of the affinity. Where components
    are independent, these are products over the components of eigenfunctions phi of one-dimensional affinities,
    and eigenvalues are products, too. Bits are thresholded one-dimensional eigenfunctions, those of largest
    eigenvalue w of the normalised affinity. `weights_` are the w, divided by the largest.

    The products need no bits of their own. Let d run over components and k over the bits of one component: then
    prod_d (1 + sum_k w_k b_k(x) b_k(y)) - 1 is the sum of w b b over the bits and all their products. The
    negative of this affinity is the method's own distance, ``"affinity"``. The weighted Hamming distance is its
    first order.

    It refuses a bandwidth that is too small or too large for the spread of the rows.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    bandwidth : float, optional
        sigma, in the units of X. By default a quarter of the mean distance between training
        rows, as in the authors' demonstration.
    min_weight : float
        Eigenfunctions of less weight are not used. Where fewer than n_bits are left, they are used several
        times with several thresholds.
    random_state : int, RandomState, Generator or None
        Draws the 1,000 rows whose mean distance gives the bandwidth, where there are more.

    Attributes
    ----------
    n_bits_, history_ : see `HashEncoder`
    weights_ : ndarray (n_bits,)
        Eigenvalue of each bit, divided by the largest.
    bandwidth_ : float
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
    Where the paper leaves a choice, this follows the authors' code. Eigenfunctions are computed on min(n/10,
    50) bins of the range between the 2.5th and the 97.5th percentile, beyond which values are clipped; 0.1 is
    added to the share of each bin. The thresholds are percentiles of the values of all chosen eigenfunctions in
    all bins. The bits of each threshold have an affinity of their own, and these are added up. Two things
    differ: there are at least 20 bins, and an eigenfunction has the sign that makes it end positive (the code
    leaves the sign, on which thresholds depend, to its solver). Bits are never eigenfunctions of directions
    without variance.

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

    source = "Weiss et al. 2012"
    original = "ebusche/EGFINAL"
    settings_from = "authors': sigma a quarter of the mean distance, eigenvalues above 0.1"
    magnitudes = (1 / MAX_SQUARABLE, MAX_SQUARABLE)
    fitted_fields = (
        Field("bandwidth_", positive=True),
        Field("center_", ("n_features",)),
        Field("axes_", ("n_axes", "n_features")),
        Field("axis_", ("n_bits",), "int", below="n_axes"),
        Field("knots_", ("n_bits", "n_knots")),
        Field("values_", ("n_bits", "n_knots")),
        Field("thresholds_", ("n_bits",)),
    )

    bandwidth_: float
    center_: NDArray[np.float64]
    axes_: NDArray[np.float64]
    axis_: NDArray[np.int64]
    knots_: NDArray[np.float64]
    values_: NDArray[np.float64]
    thresholds_: NDArray[np.float64]

    def __init__(
        self,
        n_bits: int = 64,
        *,
        bandwidth: float | None = None,
        min_weight: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.bandwidth = bandwidth
        self.min_weight = min_weight
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_positive("min_weight", self.min_weight, 1.0)
        if self.bandwidth is not None:
            check_positive("bandwidth", self.bandwidth)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        X, center = rows.X, rows.mean
        drawn = rng.permutation(len(X))[:_BANDWIDTH_ROWS]
        bandwidth = float(self.bandwidth or _mean_distance(X[drawn] - center) / 4)
        axes = principal_axes(X, center, X.shape[1])
        found = []
        for first in range(0, len(axes), _AXES_AT_A_TIME):
            V = project(X, center, axes[first : first + _AXES_AT_A_TIME])
            found.append(one_dimensional(V, bandwidth))
        functions = Eigenfunctions(*map(np.concatenate, zip(*found, strict=True)))
        axis, mode, thresholds, weights = choose(functions, self.n_bits, self.min_weight, bandwidth)
        used, axis_of_bit = np.unique(axis, return_inverse=True)
        return {
            "bandwidth_": bandwidth,
            "center_": center,
            "axes_": axes[used],
            "axis_": axis_of_bit,
            "knots_": functions.knots[axis],
            "values_": functions.values[axis, mode],
            "thresholds_": thresholds,
            **equal_bits(self.n_bits),
            "weights_": weights,
        }

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        with one_blas_thread():
            V = (X - self.center_) @ self.axes_.T
        bits = np.empty((len(X), self.n_bits_), bool)
        parts = zip(self.axis_, self.knots_, self.values_, self.thresholds_, strict=True)
        for j, (axis, knots, values, threshold) in enumerate(parts):
            bits[:, j] = np.interp(V[:, axis], knots, values) - threshold > _EIGENFUNCTION_NOISE
        return bits

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`: the negative affinity of codes."""
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


def _mean_distance(Z: NDArray[Any]) -> np.float64:
    """Mean Euclidean distance of centred rows: each pair counts twice, each row with itself once."""
    mean: np.float64 = np.sqrt(squared_distances(Z, Z)).mean()
    return mean
