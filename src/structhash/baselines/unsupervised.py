"""Methods that look at the vectors only: random planes, and iterative quantisation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from structhash._sides import Planes, make_planes
from structhash.encoder import HashEncoder, check_count, generator, whole

NOISE = 1e-12  # share of the largest variance below which a principal direction is rounding error


class LSH(HashEncoder):
    """Locality-sensitive hashing by random planes: h_j(x) = [g_j'(x - mean) > 0], g_j ~ N(0, I).

    The chance that a bit differs between two points is their angle, seen from the mean of the training rows,
    divided by pi. The published method has its planes through the origin; here they go through the mean,
    since rows that all lie to one side of the origin would get nearly constant bits.

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
        mean = _mean(X)
        planes = generator(self.random_state).standard_normal((self.n_bits, X.shape[1]))
        _keep(self, X, mean, planes)
        return self

    def _planes(self) -> Planes:
        return make_planes(self.mean_, self.planes_, np.zeros(len(self.planes_)))


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
        mean = _mean(X)
        rng = generator(self.random_state)
        with threadpool_limits(1, user_api="blas"):
            V, components = _principal(X - mean, self.n_bits)
            start, _ = np.linalg.qr(rng.standard_normal((self.n_bits, self.n_bits)))
            self.rotation_, self.losses_ = _rotate(V, start[: len(components)], self.n_iter)
            planes = self.rotation_.T @ components
        _keep(self, X, mean, planes)
        return self

    def _planes(self) -> Planes:
        return make_planes(self.mean_, self.planes_, np.zeros(len(self.planes_)))


def _mean(X: NDArray[Any]) -> NDArray[np.float64]:
    """Mean (d,) of rows X (n, d); ValueError if all are the same."""
    if (X[0] == X).all():
        raise ValueError(f"all {len(X)} training rows are the same; give rows that differ")
    return X.mean(axis=0, dtype=np.float64)


def _principal(Z: NDArray[np.float64], n_bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """V (n, k), k <= n_bits, of centred rows Z (n, d), scaled for `losses_`, and its directions (k, d)."""
    n, d = Z.shape
    Z = Z / np.abs(Z).max()  # so that squares neither overflow nor vanish
    pca = PCA(min(n_bits, n, d), svd_solver="covariance_eigh" if d <= n else "full").fit(Z)
    components = pca.components_[pca.explained_variance_ > NOISE * pca.explained_variance_[0]]
    V = Z @ components.T
    return V * np.sqrt(n * n_bits) / np.linalg.norm(V), components


def _rotate(
    V: NDArray[np.float64], R: NDArray[np.float64], n_iter: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The alternation from rotation R, and the loss before and after each round."""
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


def _keep(encoder: Any, X: NDArray[Any], mean: NDArray[Any], planes: NDArray[Any]) -> None:
    """Fitted state of a method whose bits are planes through the mean, in the dtype of X."""
    encoder.mean_, encoder.planes_ = mean.astype(X.dtype), planes.astype(X.dtype)
    encoder.n_bits_ = int(encoder.n_bits)
    encoder.weights_ = np.ones(encoder.n_bits_)
    encoder.history_ = []
