"""Kernels of `Logistic`."""

import numpy as np

from structhash._numerics.kernels import njit


@njit(cache=True, nogil=True)
def sum_triplets(near, far, near_ptr, far_ptr):
    """`Logistic.sums`."""
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
def sum_conjugates(near, far, near_ptr, far_ptr, scale):
    """`Logistic.scaled_conjugate`."""
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
def sum_bends(near, far, near_ptr, far_ptr, far_columns, weights):
    """Of b_jk = weights_q f''(rho_jk): sum_k b_jk (sum P,), sum_j b_jk (sum N,), sum_k b_jk F_k (sum P, t)."""
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
