"""Products with the column matrix: one row a free weight, one place an entry (query, partner)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def distances(columns, u):
    """Distance of every entry, sum_r u_r columns[r], float64 (E,)."""
    out = np.zeros(columns.shape[1])
    for r in range(len(u)):
        if u[r] != 0.0:
            weight, row = u[r], columns[r]
            for e in range(len(out)):
                out[e] += weight * row[e]
    return out


@njit(cache=True, nogil=True)
def dot(columns, values):
    """columns @ values, float64 (rows,)."""
    out = np.zeros(len(columns))
    for r in range(len(columns)):
        row, total = columns[r], 0.0
        for e in range(len(values)):
            total += row[e] * values[e]
        out[r] = total
    return out
