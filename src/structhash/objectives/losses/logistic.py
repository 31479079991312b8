"""Logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

from structhash.objectives.losses._logistic import sum_bends, sum_conjugates, sum_triplets
from structhash.objectives.losses._products import outer_products
from structhash.objectives.losses.base import Loss

__all__ = ["Logistic"]


@dataclass(frozen=True)
class Logistic(Loss):
    """f(rho) = log(1 + exp(-rho)) (eq. cgh-general-logistic).

    f*(u) = v log v + (1 - v) log(1 - v) with v = -u in [0, 1], infinite elsewhere. Dual of the master:

        max sum_T c_T log c_T - mu_T log mu_T - (c_T - mu_T) log(c_T - mu_T),  0 <= mu_T <= c_T,

    under the constraints of the bits (eq. cgh-logistic-l1-dual lacks the first term).

    The sums over structured triplets do not factor: they cost O(P N) a query.

    Examples
    --------
    >>> import numpy as np
    >>> Logistic().value(np.array([-800.0, 0.0, 800.0])).round(4)
    array([8.000e+02, 6.931e-01, 0.000e+00])
    """

    def value(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f at each margin."""
        return np.logaddexp(0.0, -margins)

    def slope(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f' at each margin."""
        rising: NDArray[np.float64] = expit(-margins)
        return -rising

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
        """As `Loss.sums`; O(P N) a query."""
        value, pull, push = sum_triplets(near, far, near_ptr, far_ptr)
        return value, pull, push

    def scaled_conjugate(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        scale: float,
    ) -> NDArray[np.float64]:
        """As `Loss.scaled_conjugate`, without cancellation; O(P N) a query."""
        out: NDArray[np.float64] = sum_conjugates(near, far, near_ptr, far_ptr, scale)
        return out

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
        """As `Loss.curvature`, to single precision, with f'' = -f' (1 + f'); O(P N t) a query."""
        F = np.ascontiguousarray(far_columns, np.float32)
        near_count, far_count, met = sum_bends(near, far, near_ptr, far_ptr, F, weights)
        cross = near_columns.astype(np.float32).T @ met
        return outer_products(near_count, far_count, cross, near_columns, far_columns)
