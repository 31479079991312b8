"""Products with the column matrix: one row a free weight, one place an entry (query, partner)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structhash.pieces import Rankings


def by_query(
    kernel: Callable[..., tuple[NDArray[Any], ...]], rankings: Rankings, apart: NDArray[np.float64], n_jobs: int
) -> list[NDArray[Any]]:
    """What a kernel of (near, far, near_ptr, far_ptr) gives for distances `apart` (E,), near entries first.

    The queries are cut into `n_jobs` runs, a thread each; the result does not depend on it.
    """
    r, n_near = rankings, len(rankings.near)
    cuts = np.unique(np.linspace(0, len(r.queries), n_jobs + 1).astype(int))

    def run(first: int, last: int) -> tuple[NDArray[Any], ...]:
        near_ptr, far_ptr = r.near_ptr[first : last + 1], r.far_ptr[first : last + 1]
        near = apart[near_ptr[0] : near_ptr[-1]]
        far = apart[n_near + far_ptr[0] : n_near + far_ptr[-1]]
        return kernel(near, far, near_ptr - near_ptr[0], far_ptr - far_ptr[0])

    if len(cuts) == 2:
        return list(run(0, len(r.queries)))
    with ThreadPoolExecutor(len(cuts) - 1) as pool:
        return [np.concatenate(parts) for parts in zip(*pool.map(run, cuts[:-1], cuts[1:]))]


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
    whole = len(values) - len(values) % 4
    for r in range(len(columns)):
        row = columns[r]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0  # four sums, so that the processor need not wait for one
        for e in range(0, whole, 4):
            a += row[e] * values[e]
            b += row[e + 1] * values[e + 1]
            c += row[e + 2] * values[e + 2]
            d += row[e + 3] * values[e + 3]
        for e in range(whole, len(values)):
            a += row[e] * values[e]
        out[r] = (a + b) + (c + d)
    return out
