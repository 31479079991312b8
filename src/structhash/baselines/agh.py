"""Anchor graph hashing: eigenvectors of a graph through anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.threads import one_blas_thread
from structhash._numerics.validation import check_count, describe
from structhash.baselines._anchor_graph import (
    EIGENVECTOR_NOISE,
    graph,
    k_means,
    nearest,
    second_cuts,
    similar,
    spectrum,
)
from structhash.baselines.base import MAX_SQUARABLE, Baseline, TrainingRows, equal_bits
from structhash.io.fields import Field

__all__ = ["AGH"]


class AGH(Baseline):
    """Anchor graph hashing: signs of the eigenvectors of A = Z diag(Z'1)^-1 Z', extended to all points.

    Row x of Z (n, m) is exp(-||x - u||^2 / sigma^2) at its s nearest anchors u, divided by the sum, and 0
    elsewhere; sigma is the mean distance of training rows to the s-th of them. A is a graph with row sums 1.
    Only the m x m matrix M = L^-1/2 Z'Z L^-1/2, L = diag(Z'1), is needed: with M v = lambda v, the eigenvector
    at any point is y = Z w, w = sqrt(n) L^-1/2 v lambda^-1/2. The eigenvectors of largest lambda below 1 are
    taken. The first layer is [y > 0].

    With two layers there are half as many eigenvectors, and each gives a second bit, which cuts y once more on
    either side of 0: [y > b+] where y > 0, [y < b-] elsewhere. b+ and b- minimise z'(I - A)z subject to 1'z =
    0, with z = y - b+ where y > 0 and b- - y elsewhere.

    Parameters
    ----------
    n_bits : int
        Length of the code. With two layers the first n_bits/2, rounded up, are of the first layer.
    layers : int
        1 or 2. The authors found two better.
    n_anchors : int
        m, centres found by k-means; the authors fix 300. At most one for each distinct row.
    n_nearest : int
        s. 2 in the authors' demonstration on MNIST; they advise a value between 2 and m/10 that suits the data.
    random_state : int, RandomState, Generator or None
        Draws the start of k-means.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    center_ : ndarray (d,)
        Mean of the training rows.
    anchors_ : ndarray (m, d)
        Anchors minus center_.
    bandwidth_ : float
        sigma.
    projection_ : ndarray (m, n_eigenvectors)
        w; columns of zeros where the graph has fewer eigenvectors, whose bits are 0.
    cuts_ : ndarray (2, n_second)
        b+ and b- of the second layer.
    eigenvalues_ : ndarray (n_eigenvectors,)
        lambda, 0 where there is none.

    Notes
    -----
    Where the paper leaves a choice, this follows the authors' code: sigma is estimated as above, and every
    eigenvalue above 1 - 0.001 counts as trivial. So a graph in several pieces loses the vectors that tell the
    pieces apart; here these are used where the others are too few. That code is given its anchors. Here k-means
    finds them, 20 rounds from a k-means++ start, on at most 64 random rows for each anchor. The same anchors
    give the codes of the authors' code, except where an eigenvector vanishes on a piece of the graph: their
    bits are the signs of rounding errors there, ours are 0.

    References
    ----------
    Liu, Wang, Kumar, Chang (2011), Hashing with graphs, ICML, https://icml.cc/2011/papers/6_icmlpaper.pdf

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> AGH(n_bits=32, n_anchors=50, random_state=0).fit(X).encode(X).shape
    (1797, 4)
    """

    source = "Liu et al. 2011"
    original = "ColumbiaDVMM/Anchor-Graph-Hashing"
    settings_from = "authors': two layers, 300 anchors, the nearest 2"
    magnitudes = (1 / MAX_SQUARABLE, MAX_SQUARABLE)
    fitted_fields = (
        Field("center_", ("n_features",)),
        Field("anchors_", ("n_anchors", "n_features")),
        Field("bandwidth_", positive=True),
        Field("projection_", ("n_anchors", "n_first")),
        Field("cuts_", ("n_sides", "n_second")),
        Field("eigenvalues_", ("n_first",)),
    )

    center_: NDArray[np.float64]
    anchors_: NDArray[np.float64]
    bandwidth_: float
    projection_: NDArray[np.float64]
    cuts_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]

    def __init__(
        self,
        n_bits: int = 64,
        *,
        layers: int = 2,
        n_anchors: int = 300,
        n_nearest: int = 2,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.layers = layers
        self.n_anchors = n_anchors
        self.n_nearest = n_nearest
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        for name in ("layers", "n_anchors", "n_nearest"):
            check_count(name, getattr(self, name))
        if self.layers > 2:
            raise ValueError(f"layers={describe(self.layers)}: give 1 or 2")
        check_count("n_anchors", self.n_anchors, 2)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        n_vectors = -(-self.n_bits // self.layers)
        with one_blas_thread(), threadpool_limits(1, user_api="openmp"):  # k-means has OpenMP threads, too
            anchors = k_means(rows.X, rows.mean, self.n_anchors, rng)
            near, apart = nearest(rows.X, rows.mean, anchors, self.n_nearest)
            bandwidth = float(np.sqrt(apart[:, -1]).mean()) or 1.0
            Z = graph(near, similar(apart, bandwidth), len(anchors))
            projection, eigenvalues = spectrum(Z, n_vectors)
            cuts = second_cuts(Z, Z @ projection[:, : self.n_bits - n_vectors])
        return {
            "center_": rows.mean,
            "anchors_": anchors,
            "bandwidth_": bandwidth,
            "projection_": projection,
            "cuts_": cuts,
            "eigenvalues_": eigenvalues,
            **equal_bits(self.n_bits),
        }

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        with one_blas_thread():
            near, apart = nearest(X, self.center_, self.anchors_, self.n_nearest)
        weights = similar(apart, self.bandwidth_)
        Y = np.zeros((len(X), self.projection_.shape[1]))
        for k in range(near.shape[1]):
            Y += weights[:, k, None] * self.projection_[near[:, k]]
        first = Y > EIGENVECTOR_NOISE
        n_second = self.cuts_.shape[1]
        above, below = Y[:, :n_second] - self.cuts_[0], self.cuts_[1] - Y[:, :n_second]
        return np.hstack([first, np.where(first[:, :n_second], above, below) > EIGENVECTOR_NOISE])
