"""Iterative quantisation: principal components, rotated to lie near a binary code."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count
from structhash.baselines._principal import principal_axes, project
from structhash.baselines._shared import keep_planes, mean_of, planes_of
from structhash.codes.planes import Planes
from structhash.estimators.base import HashEncoder, whole


class ITQ(HashEncoder):
    """Iterative quantisation: the leading principal components, rotated so as to lie near a binary code.

    Minimises ||B - VR||_F^2 over B in {-1, 1}^(n x n_bits) and R with RR' = I, V being the centred rows in
    their n_bits leading principal components. It alternates B = sign(VR) and, by the orthogonal Procrustes
    problem, R = PQ' with V'B = P S Q', so that the loss never rises.

    Where there are fewer than n_bits principal directions of nonzero variance (never more than d, nor than
    n - 1), V has all of them, say k, and R is a k x n_bits tight frame, RR' = I; the alternation is the same,
    and equals the square problem with V padded by zeros. With n_bits far above k some bits become equal to
    another one or to its complement (iris, k = 4, 64 bits: 18 differ); with k = 1 all do.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    n_iter : int
        Rounds of the alternation; the authors use 50.
    random_state : int, RandomState, Generator or None
        Draws the rotation where the alternation starts.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Mean of the training rows.
    planes_ : ndarray (n_bits, d)
        One normal vector a bit: principal directions times rotation.
    rotation_ : ndarray (k, n_bits)
        R, in float64.
    losses_ : ndarray (n_iter + 1,)
        Mean of (B - VR)^2 before the first and after each round, V scaled so that VR has mean square 1
        (neither B nor R depends on the scale).

    Notes
    -----
    `fit` works in float64 and in one BLAS thread, so that the code does not depend on the number of threads.

    References
    ----------
    Gong, Lazebnik, Gordo, Perronnin (2013), Iterative quantization: a Procrustean approach to learning binary
    codes for large-scale image retrieval, https://doi.org/10.1109/TPAMI.2012.193

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = ITQ(n_bits=32, random_state=0).fit(X)
    >>> encoder.encode(X).shape
    (1797, 4)
    >>> bool(encoder.losses_[-1] < encoder.losses_[0])
    True
    """

    def __init__(self, n_bits: int = 64, *, n_iter: int = 50, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.n_iter = n_iter
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the rotation from X (n, d); y is not looked at.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or all rows are the same.
        """
        check_count("n_bits", self.n_bits)
        check_count("n_iter", self.n_iter)
        X = self._check(X)
        mean = mean_of(X)
        rng = generator(self.random_state)
        with threadpool_limits(1, user_api="blas"):
            axes = principal_axes(X, mean, self.n_bits)
            V = project(X, mean, axes)
            V /= np.abs(V).max()  # so that squares neither overflow nor vanish
            V *= np.sqrt(len(V) * self.n_bits) / np.linalg.norm(V)
            start, _ = np.linalg.qr(rng.standard_normal((self.n_bits, self.n_bits)))
            self.rotation_, self.losses_ = rotate(V, start[: len(axes)], self.n_iter)
            planes = self.rotation_.T @ axes
        keep_planes(self, X, mean, planes)
        return self

    def _planes(self) -> Planes:
        return planes_of(self)


def rotate(
    V: NDArray[np.float64], R: NDArray[np.float64], n_iter: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The alternation of `ITQ` from rotation R.

    Parameters
    ----------
    V : float64 array (n, k)
        Centred rows; scaled so that VR has mean square 1 where the losses are to be those of `ITQ`.
    R : float64 array (k, n_bits)
        k <= n_bits orthonormal rows.
    n_iter : int

    Returns
    -------
    R : float64 array (k, n_bits)
    losses : float64 array (n_iter + 1,)
        Mean of (B - VR)^2 before the first and after each round.
    """
    losses = []
    for _ in range(n_iter):
        B, loss = _quantise(V @ R)
        losses.append(loss)
        P, _, Qt = np.linalg.svd(V.T @ B, full_matrices=False)
        R = P @ Qt
    return R, np.array([*losses, _quantise(V @ R)[1]])


def _quantise(VR: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """B = sign(VR) and the mean of (B - VR)^2."""
    B = np.where(VR > 0, 1.0, -1.0)
    return B, float(np.mean((B - VR) ** 2))
