"""Exponential loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from structhash.objectives.losses._exponential import factors
from structhash.objectives.losses._products import outer_products, sum_rows
from structhash.objectives.losses.base import Loss

__all__ = ["Exponential"]


@dataclass(frozen=True)
class Exponential(Loss):
    """f(rho) = exp(-rho); f*(u) = -u log(-u) + u for u <= 0.

    Dual of the master: max sum_T mu_T - mu_T log(mu_T / c_T), mu >= 0, under the constraints of the bits.

    Sums over structured triplets factor: sum_jk exp(near_j - far_k) = (sum_j exp near_j) (sum_k exp -far_k).

    Examples
    --------
    >>> import numpy as np
    >>> Exponential().value(np.array([0.0, 1.0])).round(4)
    array([1.    , 0.3679])
    """

    def value(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f at each margin."""
        return np.exp(-margins)

    def slope(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f' at each margin."""
        return -np.exp(-margins)

    def conjugate(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """f*(u), infinite for u > 0."""
        v = np.maximum(0.0, -np.asarray(u))
        return np.where(u <= 0, xlogy(v, v) - v, np.inf)

    def sums(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """As `Loss.sums`; O(P + N) a query."""
        a, b, A, B = factors(near, far, near_ptr, far_ptr)
        return A * B, a * np.repeat(B, np.diff(near_ptr)), b * np.repeat(A, np.diff(far_ptr))

    def scaled_conjugate(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        scale: float,
    ) -> NDArray[np.float64]:
        """As `Loss.scaled_conjugate`, with f*(s f') = s e^-rho (log s - 1 - rho); O(P + N) a query."""
        value, pull, push = self.sums(near, far, near_ptr, far_ptr)
        pushed = np.add.reduceat(push * far, far_ptr[:-1]) - np.add.reduceat(pull * near, near_ptr[:-1])
        unit: float = xlogy(scale, scale) - scale
        return unit * value - scale * pushed  # pushed = sum_jk e^-rho rho

    def curvature(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        near_columns: NDArray[Any],
        far_columns: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """As `Loss.curvature`, to single precision, with f'' = f; O((P + N) t) a query."""
        a, b, A, B = factors(near, far, near_ptr, far_ptr)
        weight = [np.repeat(weights, np.diff(ptr)) for ptr in (near_ptr, far_ptr)]
        near_count = (weight[0] * a * np.repeat(B, np.diff(near_ptr))).astype(np.float32)
        far_count = (weight[1] * b * np.repeat(A, np.diff(far_ptr))).astype(np.float32)
        share = b / np.repeat(np.maximum(B, np.finfo(float).tiny), np.diff(far_ptr))
        cross = sum_rows(near_count, near_columns, near_ptr).T @ sum_rows(share, far_columns, far_ptr)
        return outer_products(near_count, far_count, cross, near_columns, far_columns)
