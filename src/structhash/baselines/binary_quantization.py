"""Binary quantisation as users of embeddings do it: a bit a coordinate, the best hits rescored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count, check_positive
from structhash.baselines._shared import mean_of
from structhash.codes import hamming
from structhash.estimators.base import HashEncoder, whole


class BinaryQuantization(HashEncoder):
    """Binary quantisation: h_j(x) = [x_j > mean_j], a bit for each coordinate; the best hits are rescored.

    It has as many bits as the vectors have coordinates, several times as many as learned codes, and in its own
    distance, ``"rescored"``, the float vectors as well: the `rescore` * `top` nearest codes of a query, ties by
    row number, are sorted by squared L2 distance of the vectors and stand before all others.

    Parameters
    ----------
    n_bits : int, optional
        Take the leading coordinates only, as users of embeddings do whose coordinates are sorted by importance
        (Matryoshka, principal components). By default, and where it is more than that, all d: a code never has
        more bits than there are coordinates, and `n_bits_` says how many. A comparison has one line of d bits
        whatever lengths it asks of others; ``binary_quantization:n_bits=64`` is that of 64 coordinates.
    center : bool
        Cut at the mean of the training rows. Embedding libraries cut at 0, which is nearly the same for
        embeddings; features that are never negative would give constant bits. False cuts at 0.
    rescore : float
        Rows rescored for each one asked for; 4 is the libraries' rescore multiplier.
    top : int
        Number of rows asked for; that of ``ndcg@100``.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Where each coordinate is cut.

    References
    ----------
    Yamada, Asai, Hajishirzi (2021), Efficient passage retrieval with hashing for open-domain question
    answering, https://doi.org/10.18653/v1/2021.acl-short.123, which rescores by floats of the query alone;
    Kusupati et al. (2022), Matryoshka representation learning, https://arxiv.org/abs/2205.13147

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = BinaryQuantization().fit(X)
    >>> encoder.encode(X).shape
    (1797, 8)
    >>> encoder.own_distances(X)(X[:2]).argmin(axis=1)
    array([0, 1])
    """

    own_distance_ = "rescored"

    def __init__(
        self, n_bits: int | None = None, *, center: bool = True, rescore: float = 4.0, top: int = 100
    ) -> None:
        self.n_bits = n_bits
        self.center = center
        self.rescore = rescore
        self.top = top

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the mean of X (n, d); y is not looked at.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or all rows are the same.
        """
        if self.n_bits is not None:
            check_count("n_bits", self.n_bits)
        check_positive("rescore", self.rescore)
        check_count("top", self.top)
        X = self._check(X)
        mean = mean_of(X)
        self.mean_ = (mean if self.center else np.zeros(len(mean))).astype(X.dtype)
        self.n_bits_ = min(int(self.n_bits or len(mean)), len(mean))
        self.weights_ = np.ones(self.n_bits_)
        self.history_: list[Any] = []
        return self

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        return X[:, : self.n_bits_] > self.mean_[: self.n_bits_]

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`.

        At most 1/2 for rows that are rescored, in proportion to the squared L2 distance; 1 plus the number of
        bits that differ for all others.
        """
        vectors = np.asarray(rows)
        codes = self.encode(vectors)
        n_rescored = min(int(np.ceil(self.rescore * self.top)), len(codes))

        def distances(queries: Any) -> NDArray[np.float64]:
            apart = hamming(self.encode(queries), codes).astype(np.float64) + 1.0
            for row, query in zip(apart, np.asarray(queries), strict=True):
                best = nearest(row, n_rescored)
                exact = ((vectors[best].astype(np.float64) - query.astype(np.float64)) ** 2).sum(axis=1)
                row[best] = exact / max(2 * exact.max(), np.finfo(float).tiny)
            return apart

        return distances


def nearest(distances: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Row numbers of the k least distances (n,); of equal ones those of lower number."""
    last = np.partition(distances, k - 1)[k - 1]
    closer = np.flatnonzero(distances < last)
    return np.concatenate([closer, np.flatnonzero(distances == last)[: k - len(closer)]])
