"""What the methods to compare with have in common: labels, means, principal directions, fitted state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.utils.multiclass import check_classification_targets

from structhash._sides import Planes, make_planes
from structhash.encoder import HashEncoder

NOISE = 1e-12  # share of the largest variance below which a principal direction is rounding error


class Supervised(HashEncoder):
    """A method that needs labels."""

    def _check_labels(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Validated X (n, d), the classes, sorted, and the class number of each row (n,).

        ValueError unless y holds labels of at least two classes, and rows differ.
        """
        X, y = self._check(X, y)
        check_classification_targets(y)
        classes, index = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y has one class only, {classes.tolist()[0]!r}; give labels of at least two")
        mean_of(X)
        return X, classes, index

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def mean_of(X: NDArray[Any]) -> NDArray[np.float64]:
    """Mean (d,) of rows X (n, d); ValueError if all are the same."""
    if (X[0] == X).all():
        raise ValueError(f"all {len(X)} training rows are the same; give rows that differ")
    return X.mean(axis=0, dtype=np.float64)


def principal(Z: NDArray[np.float64], n_bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centred rows Z (n, d) in their leading principal components, and those directions.

    Returns
    -------
    V : float64 (n, k)
        k = n_bits, or the number of directions of nonzero variance where that is less; scaled so that a
        rotation of it to n_bits columns has mean square 1.
    components : float64 (k, d)
        Orthonormal.
    """
    n, d = Z.shape
    Z = Z / np.abs(Z).max()  # so that squares neither overflow nor vanish
    pca = PCA(min(n_bits, n, d), svd_solver="covariance_eigh" if d <= n else "full").fit(Z)
    components = pca.components_[pca.explained_variance_ > NOISE * pca.explained_variance_[0]]
    V = Z @ components.T
    return V * np.sqrt(n * n_bits) / np.linalg.norm(V), components


def keep_bits(encoder: Any) -> None:
    """Fitted state of a method whose bits count alike and are not learned one by one."""
    encoder.n_bits_ = int(encoder.n_bits)
    encoder.weights_ = np.ones(encoder.n_bits_)
    encoder.history_ = []


def keep_planes(encoder: Any, X: NDArray[Any], mean: NDArray[Any], planes: NDArray[Any]) -> None:
    """Fitted state of a method whose bits are planes (n_bits, d) through the mean, in the dtype of X."""
    encoder.mean_, encoder.planes_ = mean.astype(X.dtype), planes.astype(X.dtype)
    keep_bits(encoder)


def planes_of(encoder: Any) -> Planes:
    """`HashEncoder._planes` of what `keep_planes` kept."""
    return make_planes(encoder.mean_, encoder.planes_, np.zeros(len(encoder.planes_)))
