"""Vectors from codes: a linear decoder, and additive tables of one vector for each value of each byte."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.sparse import csr_matrix

from structhash.codes import byte_vectors, unpack

RIDGE = 10.0  # rows, by which the weight of a bit is drawn to 0
SHRINKAGE = 1.0  # rows, by which the vector of a byte value is drawn to that of the linear decoder
N_SWEEPS = 10


class Fitted(NamedTuple):
    """A decoder in float64.

    Attributes
    ----------
    offset : float64 (d,)
    vectors : float64 (n_bits, d) or (n_bytes, 256, d)
    """

    offset: NDArray[np.float64]
    vectors: NDArray[np.float64]


def fit_linear(codes: NDArray[np.uint8], n_bits: int, Y: NDArray[np.float64]) -> Fitted:
    """The ridge regression of vectors Y (n, d) on the bits of their codes (n, n_bytes)."""
    B = np.column_stack([unpack(codes, n_bits).astype(np.float64), np.ones(len(codes))])
    gram = B.T @ B
    gram[np.diag_indices(n_bits)] += RIDGE
    found = solve(gram, B.T @ Y, assume_a="pos")
    return Fitted(found[-1], found[:-1])


def fit_tables(codes: NDArray[np.uint8], n_bits: int, Y: NDArray[np.float64]) -> Fitted:
    """Additive tables for vectors Y (n, d), by least squares a byte at a time.

    Minimises sum_i ||y_i - offset - sum_j T_j[b_ij]||^2 + s sum_j,v ||T_j[v] - L_j[v]||^2, where L are the sums
    of the linear decoder for a byte and s is `SHRINKAGE`. Each of `N_SWEEPS` sweeps minimises over one table
    after the other, so the loss never rises.
    """
    linear = fit_linear(codes, n_bits, Y)
    n, n_bytes = codes.shape
    start = byte_vectors(linear.vectors)
    ones = [csr_matrix((np.ones(n), (codes[:, j], np.arange(n))), (256, n)) for j in range(n_bytes)]
    sums = [each @ (Y - linear.offset) for each in ones]  # of the rows with each value of a byte
    wide, tables = codes.astype(np.int64), start.copy()
    for _ in range(N_SWEEPS):
        for j in range(n_bytes):
            wanted = sums[j] + SHRINKAGE * start[j]
            for i in range(n_bytes):
                if i != j:  # what the other bytes of these rows add already
                    both = np.bincount(256 * wide[:, j] + wide[:, i], minlength=1 << 16)
                    wanted -= both.reshape(256, 256) @ tables[i]
            tables[j] = wanted / (np.bincount(wide[:, j], minlength=256)[:, None] + SHRINKAGE)
    return Fitted(linear.offset, tables)
