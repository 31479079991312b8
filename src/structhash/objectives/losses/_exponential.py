"""Kernels of `Exponential`."""

import numpy as np

from structhash._numerics.kernels import njit

LARGEST_EXPONENT = 600.0  # exponents end here, so that all sums stay finite


@njit(cache=True, nogil=True)
def factors(near, far, near_ptr, far_ptr):
    """exp(near_j - top) and exp(top - far_k), top the query's largest near distance, and each query's sums."""
    a, b = np.empty(len(near)), np.empty(len(far))
    A, B = np.zeros(len(near_ptr) - 1), np.zeros(len(near_ptr) - 1)
    for q in range(len(A)):
        top = near[near_ptr[q] : near_ptr[q + 1]].max()
        for j in range(near_ptr[q], near_ptr[q + 1]):
            a[j] = np.exp(near[j] - top)
            A[q] += a[j]
        for k in range(far_ptr[q], far_ptr[q + 1]):
            b[k] = np.exp(min(top - far[k], LARGEST_EXPONENT))
            B[q] += b[k]
    return a, b, A, B
