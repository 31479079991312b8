"""Spherical hashing: a bit says whether a point lies within a sphere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import row_slices
from structhash._numerics.gaussian import squared_distances
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count
from structhash.baselines._principal import BLOCK
from structhash.baselines._shared import keep_bits, mean_of
from structhash.estimators.base import MODERATE, HashEncoder, whole

START = 5  # rows whose mean is a centre to begin with
MEAN_ERROR, DEVIATION = 0.1, 0.15  # tolerated in the overlaps, as shares of n / 4
EDGE = 1e-9  # added to squared radii, in squared sizes of the data, so that rounding leaves rows inside


class SPHER(HashEncoder):
    """Spherical hashing: h_j(x) = [||x - p_j|| <= r_j], each sphere holding half of the rows, two a quarter.

    The radius r_j is the median distance of the training rows from p_j. With o_ij the number of rows within
    both spheres i and j, centres are moved until the o_ij have mean absolute error |o_ij - n/4| of at most
    0.1 n/4 and standard deviation of at most 0.15 n/4:

        p_i <- p_i + 1/n_bits sum_j (o_ij - n/4) / (2 n/4) (p_i - p_j).

    Its own distance, ``"spherical"``, is |b xor c| / (|b and c| + 0.1), for points that are inside many
    spheres in common are closer for certain than those that are outside of them.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    max_iter : int
        Rounds at most. If they do not suffice the spheres of the round nearest to what is asked are taken.
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
        r_j^2, a little enlarged against rounding.
    errors_ : ndarray (n_iter_, 2)
        Mean absolute error and standard deviation of the overlaps after each round, in n/4.
    n_iter_ : int
        Rounds done.

    Notes
    -----
    The authors' MATLAB code, followed here, differs from the text: centres begin as means of 5 random rows
    (the text leaves the number open, their C++ code has 10), and the radius is the median, not the widest gap
    near it. The 0.1 in the own distance is that of their C++ code; the text divides by |b and c|. The MATLAB
    loop has no limit and the C++ one stops after 50 rounds at the last spheres.

    From the same first centres this gives the codes of the MATLAB code, for it is the same loop; only that the
    radius lies half-way between the median row and the next one.

    Few rows or dimensions cannot have such overlaps; then codes have bits that are equal or complementary.

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

    reach_ = (1 / MODERATE, MODERATE)

    def __init__(self, n_bits: int = 64, *, max_iter: int = 100, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the spheres among X (n, d); y is not looked at.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or all rows are the same.
        """
        check_count("n_bits", self.n_bits)
        check_count("max_iter", self.max_iter)
        X = self._check(X)
        center = mean_of(X)
        rng = generator(self.random_state)
        n_start = min(START, max(1, len(X) // 2))
        drawn = np.stack([rng.permutation(len(X))[:n_start] for _ in range(self.n_bits)])
        start = np.stack([(X[rows] - center).mean(axis=0) for rows in drawn])
        scale = max(np.abs(X[run] - center).max() for run in row_slices(len(X), BLOCK))
        start /= scale
        squares, products = np.empty(len(X)), np.empty((self.n_bits, len(X)))
        with threadpool_limits(1, user_api="blas"):
            for run in row_slices(len(X), BLOCK):
                Z = (X[run] - center) / scale
                squares[run] = np.einsum("ij,ij->i", Z, Z)
                products[:, run] = start @ Z.T
            mix, levels, self.errors_ = spread(squares, products, self.max_iter)
            centers = mix @ start
        self.n_iter_ = max(1, len(self.errors_))
        self.center_, self.centers_ = center, centers * scale
        self.squared_radii_ = (levels + (centers**2).sum(axis=1) + EDGE * squares.mean()) * scale**2
        keep_bits(self)
        return self

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        with threadpool_limits(1, user_api="blas"):
            return squared_distances(X - self.center_, self.centers_) <= self.squared_radii_

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`: |b xor c| / (|b and c| + 0.1)."""
        inside = self.transform(rows).astype(np.float32)
        sizes = inside.sum(axis=1)

        def distances(queries: Any) -> NDArray[np.float64]:
            bits = self.transform(queries).astype(np.float32)
            both = (bits @ inside.T).astype(np.float64)
            return (bits.sum(axis=1)[:, None] + sizes - 2 * both) / (both + 0.1)

        return distances


def spread(
    squares: NDArray[np.float64], products: NDArray[np.float64], max_iter: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Move the centres of `SPHER`, which are mixtures of those at the start, so that rows are met only once.

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
    levels, overlaps = halve(squares, products, mix)
    pairs = np.triu_indices(n_bits, 1)
    best, least, errors = (mix, levels), np.inf, []
    for _ in range(max_iter if n_bits > 1 else 0):
        force = (overlaps - quarter) / (2 * quarter * n_bits)
        mix = mix + force.sum(axis=1)[:, None] * mix - force @ mix  # the diagonal cancels
        if np.abs(mix).max() > 1e6:  # no rounds will bring back centres that have gone so far
            break
        levels, overlaps = halve(squares, products, mix)
        found = overlaps[pairs] / quarter
        errors.append((np.abs(found - 1).mean(), found.std()))
        worse = max(errors[-1][0] / MEAN_ERROR, errors[-1][1] / DEVIATION)
        if worse < least:
            best, least = (mix, levels), worse
        if worse <= 1:
            break
    return *best, np.array(errors).reshape(-1, 2)


def halve(
    squares: NDArray[np.float64], products: NDArray[np.float64], mix: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Levels (n_bits,) that leave half of the rows inside, and the overlaps (n_bits, n_bits) then."""
    heights = mix @ products
    heights *= -2
    heights += squares
    half = len(squares) // 2
    ordered = np.partition(heights, [half - 1, half], axis=1)
    levels = (ordered[:, half - 1] + ordered[:, half]) / 2
    inside = (heights <= levels[:, None] + EDGE * squares.mean()).astype(np.float32)
    return levels, (inside @ inside.T).astype(np.float64)
