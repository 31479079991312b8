"""Vectors from codes: a linear decoder, and additive tables of one vector for each value of each byte."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from structhash.codes import byte_vectors, unpack
from structhash.training.additive import fit_sums

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
    start = byte_vectors(linear.vectors)
    tables = fit_sums(start, codes, Y - linear.offset, SHRINKAGE, N_SWEEPS, start)
    return Fitted(linear.offset, tables)
