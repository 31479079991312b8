"""Exponential loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import xlogy

from structhash.objectives.losses._products import outer_products, sum_rows

LARGEST = 600.0  # exponents are held here, so that all sums stay finite


@dataclass(frozen=True)
class Exponential:
    """f(rho) = exp(-rho); f*(u) = -u log(-u) + u for u <= 0.

    Dual of the master: max sum_T mu_T - mu_T log(mu_T / c_T), mu >= 0, under the constraints of the bits. Over
    structured triplets sum_jk exp(near_j - far_k) = (sum_j exp near_j) (sum_k exp -far_k), O(P + N) a query.

    Examples
    --------
    >>> import numpy as np
    >>> Exponential().value(np.array([0.0, 1.0])).round(4)
    array([1.    , 0.3679])
    """

    smooth: ClassVar[bool] = True

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
        """As `SquaredHinge.sums`; O(P + N) a query."""
        a, b, A, B = _factors(near, far, near_ptr, far_ptr)
        return A * B, a * np.repeat(B, np.diff(near_ptr)), b * np.repeat(A, np.diff(far_ptr))

    def scaled_conjugate(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        scale: float,
    ) -> NDArray[np.float64]:
        """sum_jk f*(scale f'(rho_jk)) of each query (Q,), with f*(s f') = s e^-rho (log s - 1 - rho)."""
        value, pull, push = self.sums(near, far, near_ptr, far_ptr)
        pushed = np.add.reduceat(push * far, far_ptr[:-1]) - np.add.reduceat(pull * near, near_ptr[:-1])
        return (xlogy(scale, scale) - scale) * value - scale * pushed  # pushed = sum_jk e^-rho rho

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
        """As `SquaredHinge.curvature`; f'' = f."""
        a, b, A, B = _factors(near, far, near_ptr, far_ptr)
        weight = [np.repeat(weights, np.diff(ptr)) for ptr in (near_ptr, far_ptr)]
        near_count = (weight[0] * a * np.repeat(B, np.diff(near_ptr))).astype(np.float32)
        far_count = (weight[1] * b * np.repeat(A, np.diff(far_ptr))).astype(np.float32)
        share = b / np.repeat(np.maximum(B, np.finfo(float).tiny), np.diff(far_ptr))
        cross = sum_rows(near_count, near_columns, near_ptr).T @ sum_rows(share, far_columns, far_ptr)
        return outer_products(near_count, far_count, cross, near_columns, far_columns)


@njit(cache=True, nogil=True)
def _factors(near, far, near_ptr, far_ptr):
    """exp(near_j - top) and exp(top - far_k), top the query's largest near distance, and each query's sums."""
    a, b = np.empty(len(near)), np.empty(len(far))
    A, B = np.zeros(len(near_ptr) - 1), np.zeros(len(near_ptr) - 1)
    for q in range(len(A)):
        top = near[near_ptr[q] : near_ptr[q + 1]].max()
        for j in range(near_ptr[q], near_ptr[q + 1]):
            a[j] = np.exp(near[j] - top)
            A[q] += a[j]
        for k in range(far_ptr[q], far_ptr[q + 1]):
            b[k] = np.exp(min(top - far[k], LARGEST))
            B[q] += b[k]
    return a, b, A, B
