"""Squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structhash._numerics.sorting import stable_sort
from structhash.objectives.losses._products import outer_products


@dataclass(frozen=True)
class SquaredHinge:
    """f(rho) = max(0, 1 - rho)^2 (eq. cgh-general-shinge); f*(u) = u + u^2/4 for u <= 0.

    Dual of the master: max sum_T mu_T - mu_T^2 / (4 c_T), mu >= 0, under the constraints of the bits.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredHinge().value(np.array([-1.0, 0.5, 2.0]))
    array([4.  , 0.25, 0.  ])
    """

    smooth: ClassVar[bool] = True

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
        """Loss and slopes summed over all (near j, far k) of each query, with rho = far_k - near_j.

        Distances and pointers as in `Ranking.most_violated`; O((P + N) log(P + N)) a query.

        Returns
        -------
        value : float64 (Q,)
            sum_jk f(far_k - near_j).
        pull : float64 (sum P,)
            sum_k -f'(far_k - near_j) of each near point j.
        push : float64 (sum N,)
            sum_j -f'(far_k - near_j) of each far point k.
        """
        return _squared_hinge_sums(near, far, near_ptr, far_ptr)

    def scaled_conjugate(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
        scale: float,
    ) -> NDArray[np.float64]:
        """sum_jk f*(scale f'(rho_jk)) of each query, float64 (Q,), with f*(s f') = s f' + s^2 f."""
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
        """sum_q weights_q sum_jk f''(rho_jk) dh_jk dh_jk', float64 (t, t), to single precision.

        dh is the far column minus the near one; `near_columns` (sum P, t) and `far_columns` (sum N, t) hold
        each entry's bits that differ.
        """
        near_count, far_count, met = _active(near, far, near_ptr, far_ptr, far_columns, weights)
        cross = near_columns.astype(np.float32).T @ met
        return 2 * outer_products(near_count, far_count, cross, near_columns, far_columns)


@njit(cache=True, nogil=True)
def _squared_hinge_sums(near, far, near_ptr, far_ptr):
    value = np.zeros(len(near_ptr) - 1)
    pull = np.zeros(len(near))
    push = np.zeros(len(far))
    for q in range(len(value)):
        p, a = stable_sort(near[near_ptr[q] : near_ptr[q + 1]])
        n, b = stable_sort(far[far_ptr[q] : far_ptr[q + 1]])
        k, s1, s2 = 0, 0.0, 0.0
        for j in range(len(a)):  # growing distance: ever more far points lie within 1 of it
            edge = 1.0 + a[j]
            while k < len(b) and b[k] < edge:
                s1 += b[k]
                s2 += b[k] ** 2
                k += 1
            pull[near_ptr[q] + p[j]] = 2 * (k * edge - s1)
            value[q] += k * edge * edge - 2 * edge * s1 + s2
        j, s1 = len(a), 0.0
        for i in range(len(b) - 1, -1, -1):  # shrinking distance: ever more near points
            edge = b[i] - 1.0
            while j > 0 and a[j - 1] > edge:
                j -= 1
                s1 += a[j]
            push[far_ptr[q] + n[i]] = 2 * (s1 - (len(a) - j) * edge)
    return value, pull, push


@njit(cache=True, nogil=True)
def _active(near, far, near_ptr, far_ptr, far_columns, weights):
    near_count, far_count = np.zeros(len(near), np.float32), np.zeros(len(far), np.float32)
    met = np.zeros((len(near), far_columns.shape[1]), np.float32)  # sum of each near point's active far columns
    total = np.zeros(far_columns.shape[1], np.float32)
    for q in range(len(weights)):
        p, a = stable_sort(near[near_ptr[q] : near_ptr[q + 1]])
        n, b = stable_sort(far[far_ptr[q] : far_ptr[q + 1]])
        total[:] = 0.0
        k = 0
        for r in range(len(p)):
            j = p[r]
            while k < len(b) and b[k] < 1.0 + a[r]:
                total += far_columns[far_ptr[q] + n[k]]
                far_count[far_ptr[q] + n[k]] = weights[q] * (len(a) - r)
                k += 1
            near_count[near_ptr[q] + j] = weights[q] * k
            met[near_ptr[q] + j] = weights[q] * total
    return near_count, far_count, met
