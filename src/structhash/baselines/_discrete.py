"""What `SDH` and `FSDH` have in common: features, regression on them, the alternation, bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count, check_positive
from structhash.baselines._gauss import gauss_features, gauss_kernel
from structhash.baselines._shared import Supervised, keep_bits, mean_of
from structhash.estimators.base import whole
from structhash.pieces import Params

SAME = 1e-6  # mean squared distance, in squared bandwidths, at which similarities are all alike


class DiscreteHash(Supervised):
    """Codes B learned from labels, discrete, beside the regression F of Gaussian similarities on them.

    A subclass gives `_regress`, the step of the labels, and `_step`, the step of the codes.
    """

    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    kernel_: Params
    losses_: NDArray[np.float64]

    def __init__(
        self,
        n_bits: int = 64,
        *,
        n_anchors: int = 1000,
        bandwidth: float = 0.4,
        ridge: float = 1.0,
        nu: float = 1e-5,
        kernel_ridge: float = 1e-2,
        n_iter: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.nu = nu
        self.kernel_ridge = kernel_ridge
        self.n_iter = n_iter
        self.random_state = random_state

    @whole
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n, d) and labels (n,), numbers or strings.

        Raises
        ------
        ValueError
            If a parameter is not allowed, y is not labels of at least two classes, or all rows are the same.
        """
        for name in ("n_bits", "n_anchors", "n_iter"):
            check_count(name, getattr(self, name))
        for name in ("bandwidth", "ridge", "nu", "kernel_ridge"):
            check_positive(name, getattr(self, name))
        X, classes, index = self._check_labels(X, y)
        rng = generator(self.random_state)
        origin, Z = directions(X, SAME * self.bandwidth**2)
        anchors = Z[rng.choice(len(Z), min(self.n_anchors, len(Z)), replace=False)]
        B = np.where(rng.random((len(Z), self.n_bits)) < 0.5, 1.0, -1.0)
        with threadpool_limits(1, user_api="blas"):
            self.kernel_, K = gauss_kernel(Z, anchors, self.bandwidth**2)
            coef, intercept, losses = self._alternate(K, np.eye(len(classes))[index], B)
        self.coef_, self.intercept_ = coef.T.astype(X.dtype), intercept.astype(X.dtype)
        self.kernel_["origin"] = origin
        self.losses_ = np.array(losses)
        keep_bits(self)
        return self

    def _alternate(
        self, K: NDArray[np.float64], Y: NDArray[np.float64], B: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], list[float]]:
        """Regression of the last codes (m, n_bits) and (n_bits,), and the losses, from codes B."""
        solve, losses = ridge_with_bias(K, self.kernel_ridge), []
        while True:
            W, loss = self._regress(B, Y)
            coef, intercept = solve(B)
            F = K @ coef + intercept
            miss = ((B - F) ** 2).sum() + self.kernel_ridge * ((coef**2).sum() + (intercept**2).sum())
            losses.append(float(loss + self.nu * miss))
            if len(losses) > self.n_iter:
                break
            before, B = B, self._step(B.copy(), Y, F, W)
            if (before == B).all():
                break
        return coef, intercept, losses

    def _regress(self, B: NDArray[np.float64], Y: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """W, and its part of the loss, given codes B (n, n_bits) and indicators Y (n, n_classes)."""
        raise NotImplementedError

    def _step(
        self, B: NDArray[np.float64], Y: NDArray[np.float64], F: NDArray[np.float64], W: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """New codes, given W and F (n, n_bits); may overwrite B, the old ones."""
        raise NotImplementedError

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        Z = normalize_rows(X - self.kernel_["origin"])
        scores = gauss_features(Z, self.kernel_) @ self.coef_.T.astype(np.float64)
        return scores > -self.intercept_.astype(np.float64)


def directions(X: NDArray[Any], least: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """An origin (d,), and the directions (n, d) in which it sees the rows.

    Zero; but the mean where the directions seen from zero have a mean squared distance below `least`.
    """
    origin, Z = np.zeros(X.shape[1]), normalize_rows(X)
    if 2 * ((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean() < least:
        origin = mean_of(X)
        Z = normalize_rows(X - origin)
    return origin, Z


def ridge_with_bias(
    K: NDArray[np.float64], ridge: float
) -> Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """What gives P (m, L) and p (L,) of min ||B - KP - 1p'||^2 + ridge (||P||^2 + ||p||^2) for B (n, L)."""
    m = K.shape[1]
    gram = np.empty((m + 1, m + 1))
    gram[:m, :m], gram[m, :m], gram[m, m] = K.T @ K, K.sum(axis=0), len(K)
    gram[:m, m] = gram[m, :m]
    gram[np.diag_indices(m + 1)] += ridge
    factor = cho_factor(gram, overwrite_a=True)

    def solve(B: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        P = cho_solve(factor, np.vstack([K.T @ B, B.sum(axis=0)]))
        return P[:m], P[m]

    return solve
