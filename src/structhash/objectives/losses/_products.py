"""Sums of dh dh' over structured triplets, from sums over single points."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit


def outer_products(
    near_count: NDArray[np.float32],
    far_count: NDArray[np.float32],
    cross: NDArray[np.float32],
    near_columns: NDArray[Any],
    far_columns: NDArray[Any],
) -> NDArray[np.float64]:
    """sum_jk b_jk (F_k - G_j)(F_k - G_j)', float64 (t, t), of triplet weights b, to single precision.

    Parameters
    ----------
    near_count, far_count : float32 (sum P,) and (sum N,)
        sum_k b_jk and sum_j b_jk.
    cross : float32 (t, t)
        sum_jk b_jk G_j F_k'.
    near_columns, far_columns : ndarray (sum P, t) and (sum N, t)
        G and F.
    """
    H = -cross - cross.T
    for count, columns in ((near_count, near_columns), (far_count, far_columns)):
        met = np.flatnonzero(count)
        F = columns[met].astype(np.float32)
        H += (F.T * count[met]) @ F
    return H.astype(np.float64)


@njit(cache=True, nogil=True)
def sum_rows(values, columns, ptr):
    """sum_e values_e columns_e over the points e of each query, float32 (Q, t)."""
    out = np.zeros((len(ptr) - 1, columns.shape[1]), np.float32)
    for r in range(columns.shape[1]):  # the columns are a transposed array: this order reads along memory
        for q in range(len(out)):
            total = 0.0
            for e in range(ptr[q], ptr[q + 1]):
                total += values[e] * columns[e, r]
            out[q, r] = total
    return out
