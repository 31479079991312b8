"""Kernels of `SquaredHinge`."""

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.sorting import stable_sort


@njit(cache=True, nogil=True)
def sum_triplets(near, far, near_ptr, far_ptr):
    """`SquaredHinge.sums`, by two passes over the sorted distances."""
    value = np.zeros(len(near_ptr) - 1)
    pull = np.zeros(len(near))
    push = np.zeros(len(far))
    for q in range(len(value)):
        p, a = stable_sort(near[near_ptr[q] : near_ptr[q + 1]])
        n, b = stable_sort(far[far_ptr[q] : far_ptr[q + 1]])
        k, s1, s2 = 0, 0.0, 0.0
        for j in range(len(a)):  # as the near distance grows, more far points lie below it plus 1
            edge = 1.0 + a[j]
            while k < len(b) and b[k] < edge:
                s1 += b[k]
                s2 += b[k] ** 2
                k += 1
            pull[near_ptr[q] + p[j]] = 2 * (k * edge - s1)
            value[q] += k * edge * edge - 2 * edge * s1 + s2
        j, s1 = len(a), 0.0
        for i in range(len(b) - 1, -1, -1):  # as the far distance falls, more near points lie above it minus 1
            edge = b[i] - 1.0
            while j > 0 and a[j - 1] > edge:
                j -= 1
                s1 += a[j]
            push[far_ptr[q] + n[i]] = 2 * (s1 - (len(a) - j) * edge)
    return value, pull, push


@njit(cache=True, nogil=True)
def sum_active(near, far, near_ptr, far_ptr, far_columns, weights):
    """Each point's weighted count of active triplets (rho < 1); each near point's sum of active far columns."""
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
