"""Spherical hashing: a bit is 1 for the points within a sphere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.gaussian import squared_distances
from structhash._numerics.threads import one_blas_thread
from structhash._numerics.validation import check_count
from structhash.baselines._principal import PROJECTED_ROWS
from structhash.baselines.base import MAX_SQUARABLE, Baseline, TrainingRows, equal_bits
from structhash.io.fields import Field

__all__ = ["SPHER"]

_START_ROWS = 5  # rows whose mean is a first centre
_MAX_MEAN_ERROR, _MAX_DEVIATION = 0.1, 0.15  # of the overlaps, as shares of n / 4
_RADIUS_NOISE = 1e-9  # added to squared radii, in mean squared norms, so that rounding leaves rows inside


class SPHER(Baseline):
    """Spherical hashing: h_j(x) = [||x - p_j|| <= r_j], each sphere holding half of the rows, two a quarter.

    The radius r_j is the median distance of the training rows from p_j. o_ij is the number of rows within both
    spheres i and j. Centres move until the o_ij have a mean absolute error |o_ij - n/4| of at most 0.1 n/4 and
    a standard deviation of at most 0.15 n/4:

        p_i <- p_i + 1/n_bits sum_j (o_ij - n/4) / (2 n/4) (p_i - p_j).

    Its own distance, ``"spherical"``, is |b xor c| / (|b and c| + 0.1): two rows inside many common spheres
    are surely close, two rows outside of them need not be.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    max_iter : int
        Rounds at most. Where they do not suffice, the spheres of the best round are taken.
    random_state : int, RandomState, Generator or None
        Draws the rows whose means are the first centres.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    center_ : ndarray (d,)
        Mean of the training rows.
    centers_ : ndarray (n_bits, d)
        p_j - center_.
    squared_radii_ : ndarray (n_bits,)
        r_j^2, enlarged slightly against rounding.
    errors_ : ndarray (n_iter_, 2)
        Mean absolute error and standard deviation of the overlaps after each round, in n/4.
    n_iter_ : int
        Rounds done.

    Notes
    -----
    This follows the authors' MATLAB code, which differs from the text: centres start as means of 5 random rows
    (the text leaves the number open, their C++ code has 10), and the radius is the median, not the widest gap
    near it. The 0.1 in the method's own distance is from their C++ code; the text divides by |b and c|. The
    MATLAB loop has no limit; the C++ loop stops after 50 rounds at the last spheres.

    The same first centres give the codes of the MATLAB code, except that the radius lies half-way between the
    median row and the next one.

    Few rows or dimensions cannot have such overlaps. Then some bits are equal or complementary.

    References
    ----------
    Heo, Lee, He, Chang, Yoon (2012), Spherical hashing, CVPR, https://doi.org/10.1109/CVPR.2012.6248024

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = SPHER(n_bits=32, random_state=0).fit(X)
    >>> round(float(encoder.transform(X).mean()), 1)
    0.5
    """

    own_distance_ = "spherical"
    source = "Heo et al. 2012"
    original = "willard-yuan/hashing-baseline-for-image-retrieval"
    settings_from = "authors': overlap errors of 0.1 and 0.15; 100 rounds at most"
    magnitudes = (1 / MAX_SQUARABLE, MAX_SQUARABLE)
    fitted_fields = (
        Field("center_", ("n_features",)),
        Field("centers_", ("n_bits", "n_features")),
        Field("squared_radii_", ("n_bits",)),
        Field("errors_", ("n_rounds", "n_errors")),
        Field("n_iter_", kind="int", least=0),
    )

    center_: NDArray[np.float64]
    centers_: NDArray[np.float64]
    squared_radii_: NDArray[np.float64]
    errors_: NDArray[np.float64]
    n_iter_: int

    def __init__(self, n_bits: int = 64, *, max_iter: int = 100, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_count("max_iter", self.max_iter)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        X, center = rows.X, rows.mean
        n_start = min(_START_ROWS, max(1, len(X) // 2))
        drawn = np.stack([rng.permutation(len(X))[:n_start] for _ in range(self.n_bits)])
        start = np.stack([(X[near] - center).mean(axis=0) for near in drawn])
        scale = max(np.abs(X[run] - center).max() for run in row_slices(len(X), PROJECTED_ROWS))
        start /= scale
        squares, products = np.empty(len(X)), np.empty((self.n_bits, len(X)))
        for run in row_slices(len(X), PROJECTED_ROWS):
            Z = (X[run] - center) / scale
            squares[run] = np.einsum("ij,ij->i", Z, Z)
            products[:, run] = start @ Z.T
        mix, levels, errors = _spread(squares, products, self.max_iter)
        centers = mix @ start
        squared_radii = levels + (centers**2).sum(axis=1) + _RADIUS_NOISE * squares.mean()
        return {
            "center_": center,
            "centers_": centers * scale,
            "squared_radii_": squared_radii * scale**2,
            "errors_": errors,
            "n_iter_": max(1, len(errors)),
            **equal_bits(self.n_bits),
        }

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        with one_blas_thread():
            bits: NDArray[np.bool_] = squared_distances(X - self.center_, self.centers_) <= self.squared_radii_
        return bits

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`: |b xor c| / (|b and c| + 0.1)."""
        inside = self.transform(rows).astype(np.float32)
        sizes = inside.sum(axis=1)

        def distances(queries: Any) -> NDArray[np.float64]:
            bits = self.transform(queries).astype(np.float32)
            both = (bits @ inside.T).astype(np.float64)
            found: NDArray[np.float64] = (bits.sum(axis=1)[:, None] + sizes - 2 * both) / (both + 0.1)
            return found

        return distances


def _spread(
    squares: NDArray[np.float64], products: NDArray[np.float64], max_iter: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Move the centres of `SPHER`, as mixtures of the first ones, so that one pass over the rows suffices.

    Parameters
    ----------
    squares : float64 (n,)
        ||x||^2 of the rows.
    products : float64 (n_bits, n)
        p'x of the first centres.
    max_iter : int

    Returns
    -------
    mix : float64 (n_bits, n_bits)
        The centres as combinations of the first ones.
    levels : float64 (n_bits,)
        r^2 - ||p||^2, which ||x||^2 - 2 p'x of rows inside does not exceed.
    errors : float64 (rounds, 2)
    """
    n_bits, n = products.shape
    mix, quarter = np.eye(n_bits), n / 4
    levels, overlaps = _halve(squares, products, mix)
    pairs = np.triu_indices(n_bits, 1)
    best, least, errors = (mix, levels), np.inf, []
    for _ in range(max_iter if n_bits > 1 else 0):
        force = (overlaps - quarter) / (2 * quarter * n_bits)
        mix = mix + force.sum(axis=1)[:, None] * mix - force @ mix  # the diagonal cancels
        if np.abs(mix).max() > 1e6:  # the centres are too far away to come back
            break
        levels, overlaps = _halve(squares, products, mix)
        found = overlaps[pairs] / quarter
        errors.append((np.abs(found - 1).mean(), found.std()))
        worse = max(errors[-1][0] / _MAX_MEAN_ERROR, errors[-1][1] / _MAX_DEVIATION)
        if worse < least:
            best, least = (mix, levels), worse
        if worse <= 1:
            break
    return *best, np.array(errors).reshape(-1, 2)


def _halve(
    squares: NDArray[np.float64], products: NDArray[np.float64], mix: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Radii that leave half of the rows inside.

    Parameters
    ----------
    squares, products, mix : see `_spread`

    Returns
    -------
    levels : ndarray (n_bits,)
    overlaps : ndarray (n_bits, n_bits)
        Rows inside each pair of spheres.
    """
    heights = mix @ products
    heights *= -2
    heights += squares
    half = len(squares) // 2
    ordered = np.partition(heights, [half - 1, half], axis=1)
    levels = (ordered[:, half - 1] + ordered[:, half]) / 2
    inside = (heights <= levels[:, None] + _RADIUS_NOISE * squares.mean()).astype(np.float32)
    return levels, (inside @ inside.T).astype(np.float64)
