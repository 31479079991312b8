"""Squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.objectives.losses._products import outer_products
from structhash.objectives.losses._squared_hinge import sum_active, sum_triplets
from structhash.objectives.losses.base import Loss

__all__ = ["SquaredHinge"]


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """f(rho) = max(0, 1 - rho)^2 (eq. cgh-general-shinge); f*(u) = u + u^2/4 for u <= 0.

    Dual of the master: max sum_T mu_T - mu_T^2 / (4 c_T), mu >= 0, under the constraints of the bits.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredHinge().value(np.array([-1.0, 0.5, 2.0]))
    array([4.  , 0.25, 0.  ])
    """

    def value(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f at each margin."""
        return np.maximum(0.0, 1.0 - margins) ** 2

    def slope(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """f' at each margin."""
        return -2.0 * np.maximum(0.0, 1.0 - margins)

    def conjugate(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """f*(u), infinite for u > 0."""
        return np.where(u <= 0, u + u * u / 4, np.inf)

    def sums(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """As `Loss.sums`; O((P + N) log(P + N)) a query."""
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
        """As `Loss.scaled_conjugate`, with f*(s f') = s f' + s^2 f; O((P + N) log(P + N)) a query."""
        value, pull, _ = self.sums(near, far, near_ptr, far_ptr)
        return scale * scale * value - scale * np.add.reduceat(pull, near_ptr[:-1])

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
        """As `Loss.curvature`, to single precision, with f'' = 2 where rho < 1, else 0.

        It costs O((P + N) (log(P + N) + t)) a query.
        """
        near_count, far_count, met = sum_active(near, far, near_ptr, far_ptr, far_columns, weights)
        cross = near_columns.astype(np.float32).T @ met
        return 2 * outer_products(near_count, far_count, cross, near_columns, far_columns)
