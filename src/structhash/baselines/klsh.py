"""Kernelized locality-sensitive hashing: random planes in the space of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count
from structhash.baselines._anchors import draw_anchors
from structhash.baselines._gauss import gauss_features, gauss_kernel
from structhash.baselines._shared import keep_bits, mean_of
from structhash.estimators.base import HashEncoder, whole

NOISE = 1e-8  # eigenvalues of the kernel matrix up to here are left out, as in the authors' code


class KLSH(HashEncoder):
    """Kernelized locality-sensitive hashing: random planes in the space of a Gaussian kernel.

    A plane's normal is sum_{i in S} Sigma^(-1/2) (phi(a_i) - mu) / sqrt(t) for t anchors S at random, mu and
    Sigma being mean and covariance of phi over the p anchors: by the central limit theorem nearly normal, like
    the planes of `LSH`. In kernel values it is w = sqrt((p - 1) / t) K^(-1/2) e_S, with e_S the indicator of S,
    K = HGH the centred matrix of the anchors' similarities G and H = I - 11'/p, so that

    h(x) = [w'(k(x) - G1/p) > 0],   k_i(x) = exp(-||x - a_i||^2 / (2 sigma^2)).

    (What centring takes from k(x) besides G1/p is the same for all anchors, and w'1 = 0.)

    Parameters
    ----------
    n_bits : int
        Length of the code.
    anchors : int
        p: training rows that stand for the distribution, at random; the authors use 300. All distinct rows
        where there are fewer.
    sampled : int
        t: anchors a plane is the sum of; the authors use 30, and so p / 4 at most (but at least 1) do we.
    random_state : int, RandomState, Generator or None
        Draws anchors and planes.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    kernel_ : dict of arrays
        Anchors, sigma, and G1/p as ``mean``.
    coef_ : ndarray (n_bits, p)
        w of each bit.

    Notes
    -----
    The method takes any kernel. Here it is the Gaussian one with sigma^2 the mean squared distance among
    anchors, nearly that of KSH's authors, who compare with KLSH under one kernel and 300 anchors for both.

    The authors' ``createHashTable`` centres K but leaves k(x) to its caller. Published wrappers of it pass k(x)
    as it is, which shifts every plane by w'G1/p; we centre, as the derivation wants.

    References
    ----------
    Kulis, Grauman (2012), Kernelized locality-sensitive hashing, https://doi.org/10.1109/TPAMI.2011.219;
    Kulis, Grauman (2009), Kernelized locality-sensitive hashing for scalable image search,
    https://doi.org/10.1109/ICCV.2009.5459466

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> KLSH(n_bits=32, random_state=0).fit(X).encode(X).shape
    (1797, 4)
    """

    def __init__(
        self, n_bits: int = 64, *, anchors: int = 300, sampled: int = 30, random_state: Any = None
    ) -> None:
        self.n_bits = n_bits
        self.anchors = anchors
        self.sampled = sampled
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw anchors among X (n, d) and planes among the anchors; y is not looked at.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or all rows are the same.
        """
        check_count("n_bits", self.n_bits)
        check_count("anchors", self.anchors)
        check_count("sampled", self.sampled)
        X = self._check(X)
        mean_of(X)
        rng = generator(self.random_state)
        anchors = draw_anchors(X, max(2, self.anchors), rng)
        with threadpool_limits(1, user_api="blas"):
            kernel, G = gauss_kernel(anchors, anchors)
            W = random_normals(G, self.n_bits, self.sampled, rng)
        self.kernel_ = kernel | {"mean": G.mean(axis=0)}
        self.coef_ = W.T.astype(X.dtype)
        keep_bits(self)
        return self

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        K = gauss_features(X, self.kernel_)
        return (K - self.kernel_["mean"]) @ self.coef_.T.astype(np.float64) > 0


def random_normals(
    G: NDArray[np.float64], n_bits: int, sampled: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Weights W (p, n_bits) of the anchors in as many random normals, from similarities G (p, p)."""
    p = len(G)
    t = min(sampled, max(1, p // 4))
    K = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    values, vectors = np.linalg.eigh(K)
    kept = values > NOISE
    chosen = np.zeros((p, n_bits))
    for column in chosen.T:
        column[rng.permutation(p)[:t]] = 1
    V = vectors[:, kept]
    normals: NDArray[np.float64] = V / np.sqrt(values[kept]) @ (V.T @ chosen)
    return normals * np.sqrt((p - 1) / t)
