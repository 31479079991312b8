"""The common parts of `SDH` and `FSDH`: features, regression on them, the alternation, bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.validation import check_count, check_positive
from structhash.baselines._gauss_kernel import KERNEL_FIELDS, gauss_features, gauss_kernel
from structhash.baselines._rows import mean_of
from structhash.baselines.base import MAX_SQUARABLE, SupervisedBaseline, TrainingRows, equal_bits
from structhash.io.fields import Field
from structhash.pieces import Params

MIN_SPREAD = 1e-6  # mean squared distance, in squared bandwidths, below which similarities are all alike


class DiscreteHash(SupervisedBaseline):
    """Discrete codes B, learned from labels, and the regression F of Gaussian similarities on them.

    A subclass gives `_regress`, the step of the labels, and `_step`, the step of the codes.
    """

    takes_several_labels = True

    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    kernel_: Params
    losses_: NDArray[np.float64]
    n_iter_: int

    fitted_fields = (
        *KERNEL_FIELDS,
        Field("kernel_/origin", ("n_features",)),
        Field("coef_", ("n_bits", "n_anchors")),
        Field("intercept_", ("n_bits",)),
        Field("losses_", ("n_losses",)),
        Field("n_iter_", kind="int", least=0),
    )

    def __init__(
        self,
        n_bits: int = 64,
        *,
        n_anchors: int = 1000,
        bandwidth: float = 0.4,
        ridge: float = 1.0,
        nu: float = 1e-5,
        kernel_ridge: float = 1e-2,
        max_iter: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.n_anchors = n_anchors
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.nu = nu
        self.kernel_ridge = kernel_ridge
        self.max_iter = max_iter
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        for name in ("n_anchors", "max_iter"):
            check_count(name, getattr(self, name))
        for name in ("ridge", "nu", "kernel_ridge"):
            check_positive(name, getattr(self, name))
        check_positive("bandwidth", self.bandwidth, most=MAX_SQUARABLE, above=1 / MAX_SQUARABLE)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        dtype = rows.X.dtype
        origin, Z = directions(rows.X, MIN_SPREAD * self.bandwidth**2)
        anchors = Z[rng.choice(len(Z), min(self.n_anchors, len(Z)), replace=False)]
        B = np.where(rng.random((len(Z), self.n_bits)) < 0.5, 1.0, -1.0)
        kernel, K = gauss_kernel(Z, anchors, self.bandwidth**2)
        coef, intercept, losses, n_rounds = self._alternate(K, rows.label_matrix(), B)
        return {
            "kernel_": kernel | {"origin": origin},
            "coef_": coef.T.astype(dtype),
            "intercept_": intercept.astype(dtype),
            "losses_": np.array(losses),
            "n_iter_": n_rounds,
            **equal_bits(self.n_bits),
        }

    def _alternate(
        self, K: NDArray[np.float64], Y: NDArray[np.float64], B: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], list[float], int]:
        """Alternate between the codes and the regressions.

        Parameters
        ----------
        K : ndarray (n, m)
            Similarities to the anchors.
        Y : ndarray (n, n_classes)
            0/1 indicators.
        B : ndarray (n, n_bits)
            Codes to start from, -1 or 1.

        Returns
        -------
        coef, intercept : ndarrays (m, n_bits), (n_bits,)
            The regression of the last codes.
        losses : list of float
            The objective before the first and after each round that changed a code.
        n_rounds : int
        """
        solve, losses, n_rounds = ridge_with_bias(K, self.kernel_ridge), [], 0
        while True:
            W, loss = self._regress(B, Y)
            coef, intercept = solve(B)
            F = K @ coef + intercept
            miss = ((B - F) ** 2).sum() + self.kernel_ridge * ((coef**2).sum() + (intercept**2).sum())
            losses.append(float(loss + self.nu * miss))
            if len(losses) > self.max_iter:
                break
            n_rounds += 1
            before, B = B, self._step(B.copy(), Y, F, W)
            if (before == B).all():
                break
        return coef, intercept, losses, n_rounds

    def _regress(self, B: NDArray[np.float64], Y: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """W and its part of the loss, from codes B (n, n_bits) and indicators Y (n, n_classes)."""
        raise NotImplementedError

    def _step(
        self, B: NDArray[np.float64], Y: NDArray[np.float64], F: NDArray[np.float64], W: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """New codes (n, n_bits) from the old ones, the indicators, F and W.

        Parameters
        ----------
        B : ndarray (n, n_bits)
            The old codes; may be overwritten.
        Y : ndarray (n, n_classes)
        F : ndarray (n, n_bits)
            Regression of the similarities on B.
        W : ndarray
            From `_regress`.

        Returns
        -------
        ndarray (n, n_bits)
        """
        raise NotImplementedError

    def _values(self, X: NDArray[Any]) -> NDArray[np.float64]:
        Z = normalize_rows(X - self.kernel_["origin"])
        return gauss_features(Z, self.kernel_) @ self.coef_.T.astype(np.float64) + self.intercept_


def directions(X: NDArray[Any], least: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """An origin (d,), and the directions (n, d) of the rows from there.

    The origin is zero, or the mean where the directions from zero have a mean squared distance below `least`.
    """
    origin, Z = np.zeros(X.shape[1]), normalize_rows(X)
    if 2 * ((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean() < least:
        origin = mean_of(X)
        Z = normalize_rows(X - origin)
    return origin, Z


def ridge_with_bias(
    K: NDArray[np.float64], ridge: float
) -> Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Ridge regression on features K (n, m) and a constant.

    Returns a function of targets B (n, L) that gives P (m, L) and p (L,), the minimum of
    ||B - KP - 1p'||^2 + ridge (||P||^2 + ||p||^2).
    """
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
