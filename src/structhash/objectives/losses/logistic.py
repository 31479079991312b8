"""Logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

from structhash.objectives.losses._products import outer_products


@dataclass(frozen=True)
class Logistic:
    """f(rho) = log(1 + exp(-rho)) (eq. cgh-general-logistic).

    f*(u) = v log v + (1 - v) log(1 - v) with v = -u in [0, 1], infinite elsewhere. Dual of the master:

        max sum_T c_T log c_T - mu_T log mu_T - (c_T - mu_T) log(c_T - mu_T),  0 <= mu_T <= c_T,

    under the constraints of the bits (eq. cgh-logistic-l1-dual lacks the first term). The sums over structured
    triplets have no factors: O(P N) a query.

    Examples
    --------
    >>> import numpy as np
    >>> Logistic().value(np.array([-800.0, 0.0, 800.0])).round(4)
    array([8.000e+02, 6.931e-01, 0.000e+00])
    """

    smooth: ClassVar[bool] = True

    def value(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f at each margin."""
        return np.logaddexp(0.0, -margins)

    def slope(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f' at each margin."""
        return -expit(-margins)

    def conjugate(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """f*(u), infinite outside [-1, 0]."""
        v = np.clip(-np.asarray(u), 0.0, 1.0)
        return np.where((u <= 0) & (u >= -1), xlogy(v, v) + xlog1py(1 - v, -v), np.inf)

    def sums(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """As `SquaredHinge.sums`; O(P N) a query."""
        return _sums(near, far, near_ptr, far_ptr)

    def scaled_conjugate(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        scale: float,
    ) -> NDArray[np.float64]:
        """sum_jk f*(scale f'(rho_jk)) of each query, float64 (Q,), for a scale in [0, 1]."""
        return _scaled_conjugate(near, far, near_ptr, far_ptr, scale)

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
        """As `SquaredHinge.curvature`; f'' = -f' (1 + f'); O(P N t) a query."""
        F = np.ascontiguousarray(far_columns, np.float32)
        near_count, far_count, met = _bends(near, far, near_ptr, far_ptr, F, weights)
        cross = near_columns.astype(np.float32).T @ met
        return outer_products(near_count, far_count, cross, near_columns, far_columns)


@njit(cache=True, nogil=True)
def _sums(near, far, near_ptr, far_ptr):
    value, pull, push = np.zeros(len(near_ptr) - 1), np.zeros(len(near)), np.zeros(len(far))
    for q in range(len(value)):
        for j in range(near_ptr[q], near_ptr[q + 1]):
            product = 1.0  # of 1 + e: one logarithm for many triplets
            for k in range(far_ptr[q], far_ptr[q + 1]):
                margin = far[k] - near[j]
                e = np.exp(-abs(margin))  # at most 1
                mu = (e if margin > 0 else 1.0) / (1.0 + e)
                pull[j] += mu
                push[k] += mu
                value[q] += max(0.0, -margin)
                if e < 1e-3:  # 1 + e would lose digits
                    value[q] += e * (1 - e * (1 / 2 - e * (1 / 3 - e / 4)))
                else:
                    product *= 1.0 + e
                    if product > 1e290:
                        value[q] += np.log(product)
                        product = 1.0
            value[q] += np.log(product)
    return value, pull, push


@njit(cache=True, nogil=True)
def _scaled_conjugate(near, far, near_ptr, far_ptr, scale):
    out = np.zeros(len(near_ptr) - 1)
    for q in range(len(out)):
        for j in range(near_ptr[q], near_ptr[q + 1]):
            for k in range(far_ptr[q], far_ptr[q + 1]):
                margin = far[k] - near[j]
                e = np.exp(-abs(margin))
                v = scale * (e if margin > 0 else 1.0) / (1.0 + e)
                rest = 1.0 - scale + scale * (1.0 if margin > 0 else e) / (1.0 + e)  # 1 - v, without cancelling
                if v > 0:
                    out[q] += v * np.log(v)
                if rest > 0:
                    out[q] += rest * np.log(rest)
    return out


@njit(cache=True, nogil=True)
def _bends(near, far, near_ptr, far_ptr, far_columns, weights):
    near_count, far_count = np.zeros(len(near), np.float32), np.zeros(len(far), np.float32)
    met = np.zeros((len(near), far_columns.shape[1]), np.float32)
    for q in range(len(weights)):
        for j in range(near_ptr[q], near_ptr[q + 1]):
            row = met[j]
            for k in range(far_ptr[q], far_ptr[q + 1]):
                e = np.exp(-abs(far[k] - near[j]))
                bend = np.float32(weights[q] * e / (1.0 + e) ** 2)
                near_count[j] += bend
                far_count[k] += bend
                for r in range(far_columns.shape[1]):
                    row[r] += bend * far_columns[k, r]
    return near_count, far_count, met
