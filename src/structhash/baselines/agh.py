"""Anchor graph hashing: eigenvectors of a graph through anchors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count, describe
from structhash.baselines._anchor_graph import ZERO, graph, k_means, nearest, second_cuts, similar, spectrum
from structhash.baselines._shared import keep_bits, mean_of
from structhash.estimators.base import MODERATE, HashEncoder, whole


class AGH(HashEncoder):
    """Anchor graph hashing: signs of the eigenvectors of A = Z diag(Z'1)^-1 Z', extended to all points.

    Row x of Z (n, m) is exp(-||x - u||^2 / sigma^2) at its s nearest anchors u, divided by the sum, and 0
    elsewhere; sigma is the mean distance of training rows to the s-th of them. A is a graph with row sums 1 of
    which only the m x m matrix M = L^-1/2 Z'Z L^-1/2, L = diag(Z'1), is needed: with M v = lambda v, the
    eigenvector is y = Z w, w = sqrt(n) L^-1/2 v lambda^-1/2, at any point. Those of largest lambda below 1 are
    taken, and the first layer is [y > 0].

    With two layers, half as many eigenvectors give a second bit each, that of y cut anew on either side:
    [y > b+] where y > 0, [y < b-] elsewhere. b+ and b- minimise z'(I - A)z subject to 1'z = 0, with z = y - b+
    where y > 0 and b- - y elsewhere.

    Parameters
    ----------
    n_bits : int
        Length of the code. With two layers the first n_bits/2, rounded up, are of the first layer.
    layers : int
        1 or 2. The authors found two better.
    n_anchors : int
        m, centres found by k-means; the authors fix 300. Never more than there are distinct rows.
    n_nearest : int
        s. 2 in the authors' demonstration on MNIST; they advise to choose it between 2 and m/10 for the data.
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
    This follows the authors' code in what the text leaves open: sigma is estimated as above, and every
    eigenvalue above 1 - 0.001 counts as trivial, so that a graph in several pieces loses the vectors that tell
    them apart (here these are used where the others are too few). The anchors are an input of that code; here
    k-means, 20 rounds from a k-means++ start, runs on at most 64 rows for each anchor, drawn at random.
    From the same anchors the codes are those of the authors' code, but for eigenvectors that vanish on a piece
    of the graph: there its bits are the signs of rounding errors, and 0 here.

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

    reach_ = (1 / MODERATE, MODERATE)

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

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Make the graph of X (n, d); y is not looked at.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or all rows are the same.
        """
        for name in ("n_bits", "layers", "n_anchors", "n_nearest"):
            check_count(name, getattr(self, name))
        if self.layers > 2:
            raise ValueError(f"layers={describe(self.layers)}: give 1 or 2")
        check_count("n_anchors", self.n_anchors, 2)
        X = self._check(X)
        self.center_ = mean_of(X)
        rng = generator(self.random_state)
        n_vectors = -(-self.n_bits // self.layers)
        with threadpool_limits(1):  # k-means is made of OpenMP threads, too
            self.anchors_ = k_means(X, self.center_, self.n_anchors, rng)
            near, apart = nearest(X, self.center_, self.anchors_, self.n_nearest)
            self.bandwidth_ = float(np.sqrt(apart[:, -1]).mean()) or 1.0
            Z = graph(near, similar(apart, self.bandwidth_), len(self.anchors_))
            self.projection_, self.eigenvalues_ = spectrum(Z, n_vectors)
            self.cuts_ = second_cuts(Z, Z @ self.projection_[:, : self.n_bits - n_vectors])
        keep_bits(self)
        return self

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        with threadpool_limits(1, user_api="blas"):
            near, apart = nearest(X, self.center_, self.anchors_, self.n_nearest)
        weights = similar(apart, self.bandwidth_)
        Y = np.zeros((len(X), self.projection_.shape[1]))
        for k in range(near.shape[1]):
            Y += weights[:, k, None] * self.projection_[near[:, k]]
        first = Y > ZERO
        n_second = self.cuts_.shape[1]
        above, below = Y[:, :n_second] - self.cuts_[0], self.cuts_[1] - Y[:, :n_second]
        return np.hstack([first, np.where(first[:, :n_second], above, below) > ZERO])
