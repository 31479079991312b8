"""What the methods to compare with have in common: labels, means, fitted state."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from structhash.codes.planes import Planes, make_planes
from structhash.estimators.base import HashEncoder
from structhash.supervision import Supervision


class Supervised(HashEncoder):
    """A method that needs labels."""

    def _check_labels(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Validated X (n, d), the classes, sorted, and the class number of each row (n,).

        ValueError unless y holds labels of at least two classes, and rows differ.
        """
        if isinstance(y, Supervision):
            us, them = type(self).__name__, type(y).__name__
            raise TypeError(f"{us} learns from one label a row; {them} is for StructHash and CGHash")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes")  # a few rows a class are enough
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


def scaled_rows(X: NDArray[Any], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows (n, d) from their mean, divided by one number: the root mean squared norm is 1."""
    Z = X - mean
    Z /= np.abs(Z).max()  # so that squares neither overflow nor vanish
    return Z * (np.sqrt(len(Z)) / np.linalg.norm(Z))


def check_finite(learned: NDArray[Any]) -> None:
    """ValueError where what was learned holds NaN or infinity."""
    if not np.isfinite(learned).all():
        raise ValueError(
            "learning diverged: give a smaller learning rate, or rows divided by their largest number"
        )


def keep_bits(encoder: Any) -> None:
    """Fitted state of a method whose bits count alike and are not learned one by one."""
    encoder.n_bits_ = int(encoder.n_bits)
    encoder.weights_ = np.ones(encoder.n_bits_)
    encoder.history_ = []


def keep_planes(encoder: Any, X: NDArray[Any], mean: NDArray[Any], planes: NDArray[Any]) -> None:
    """Fitted state of a method whose bits are planes (n_bits, d) through the mean, in the dtype of X."""
    check_finite(planes)
    encoder.mean_, encoder.planes_ = mean.astype(X.dtype), planes.astype(X.dtype)
    keep_bits(encoder)


def planes_of(encoder: Any) -> Planes:
    """`HashEncoder._planes` of what `keep_planes` kept."""
    return make_planes(encoder.mean_, encoder.planes_, np.zeros(len(encoder.planes_)))
