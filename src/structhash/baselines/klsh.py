"""Kernelized locality-sensitive hashing: random planes in the space of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count
from structhash.baselines._gauss_kernel import KERNEL_FIELDS, gauss_features, gauss_kernel
from structhash.baselines._rows import draw_anchors
from structhash.baselines.base import Baseline, TrainingRows, equal_bits
from structhash.io.fields import Field
from structhash.pieces import Params

__all__ = ["KLSH"]

_EIGENVALUE_NOISE = 1e-8  # eigenvalues of the kernel matrix up to here are left out, as in the authors' code


class KLSH(Baseline):
    """Kernelized locality-sensitive hashing: random planes in the space of a Gaussian kernel.

    The normal of a plane is sum_{i in S} Sigma^(-1/2) (phi(a_i) - mu) / sqrt(t) for t random anchors S. mu and
    Sigma are mean and covariance of phi over the p anchors. By the central limit theorem the normals are nearly
    Gaussian, as those of `LSH` are. In kernel values the normal is w = sqrt((p - 1) / t) K^(-1/2) e_S, with e_S
    the indicator of S, K = HGH the centred matrix of the anchors' similarities G and H = I - 11'/p, so that

    h(x) = [w'(k(x) - G1/p) > 0],   k_i(x) = exp(-||x - a_i||^2 / (2 sigma^2)).

    (Centring subtracts a second term from k(x), which is the same for all anchors; it has no effect as w'1 =
    0.)

    Parameters
    ----------
    n_bits : int
        Length of the code.
    n_anchors : int
        p, random training rows that represent the distribution; the authors use 300. All distinct rows where
        there are fewer.
    n_summed : int
        t, anchors whose sum is a plane; the authors use 30. At most p / 4, but at least 1.
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
    The method takes any kernel. Here it is the Gaussian one, where sigma^2 is the mean squared distance among
    the anchors. This is nearly the kernel of the authors of KSH, who compare both methods with 300 anchors.

    The authors' ``createHashTable`` centres K but leaves k(x) to its caller. Published wrappers do not centre
    k(x), which shifts every plane by w'G1/p. Here k(x) is centred, as the derivation requires.

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

    source = "Kulis, Grauman 2012"
    original = "ZJULearning/MatlabFunc"
    settings_from = "authors': 300 anchors, 30 a plane; Gaussian kernel, mean distance"
    fitted_fields = (
        *KERNEL_FIELDS,
        Field("kernel_/mean", ("n_anchors",)),
        Field("coef_", ("n_bits", "n_anchors")),
    )

    kernel_: Params
    coef_: NDArray[Any]

    def __init__(
        self, n_bits: int = 64, *, n_anchors: int = 300, n_summed: int = 30, random_state: Any = None
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.n_summed = n_summed
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_count("n_anchors", self.n_anchors)
        check_count("n_summed", self.n_summed)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        anchors = draw_anchors(rows.X, max(2, self.n_anchors), rng)
        kernel, G = gauss_kernel(anchors, anchors)
        W = _random_normals(G, self.n_bits, self.n_summed, rng)
        return {
            "kernel_": kernel | {"mean": G.mean(axis=0)},
            "coef_": W.T.astype(rows.X.dtype),
            **equal_bits(self.n_bits),
        }

    def _values(self, X: NDArray[Any]) -> NDArray[np.float64]:
        K = gauss_features(X, self.kernel_)
        values: NDArray[np.float64] = (K - self.kernel_["mean"]) @ self.coef_.T.astype(np.float64)
        return values


def _random_normals(
    G: NDArray[np.float64], n_bits: int, n_summed: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Random normals as weighted sums of the anchors.

    Parameters
    ----------
    G : ndarray (p, p)
        Similarities of the anchors.
    n_bits, n_summed : int
    rng : Generator

    Returns
    -------
    ndarray (p, n_bits)
        Weight of each anchor in each normal.
    """
    p = len(G)
    t = min(n_summed, max(1, p // 4))
    K = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    values, vectors = np.linalg.eigh(K)
    kept = values > _EIGENVALUE_NOISE
    chosen = np.zeros((p, n_bits))
    for column in chosen.T:
        column[rng.permutation(p)[:t]] = 1
    V = vectors[:, kept]
    normals: NDArray[np.float64] = V / np.sqrt(values[kept]) @ (V.T @ chosen)
    normals *= np.sqrt((p - 1) / t)
    return normals
