"""Kernels of `codes.planes`: bits from float32 scores, and from float64 sums where a score is uncertain."""

from __future__ import annotations

import sys

import numpy as np

from structhash._numerics.kernels import njit

# Multiplied with a uint64 of eight bytes of 0 or 1, this moves byte k to bit 56 + k; no two of the 64 products
# overlap.
_GATHER_BYTES = np.uint64(0x0102040810204080 if sys.byteorder == "little" else 0x8040201008040201)


@njit(cache=True, nogil=True)
def pack_plane_bits(scores, limits, quick, tolerance, norm_limit, exact, center, normals, thresholds, codes):
    """Pack the bits score > limit; a score within `tolerance` norms of its limit is decided by `exact_bit`.

    The norm of a row is computed only if one of its scores would be uncertain at the norm `norm_limit`, is
    beyond it, or is not finite. Returns True if all computed norms are finite.

    Parameters
    ----------
    scores : float32 (n, m)
    limits : float32 (m,)
    quick : float32 (n, d)
        Rows of the float32 product.
    tolerance : float
    norm_limit : float32
    exact : float32 or float64 (n, d)
        Rows as given.
    center, normals, thresholds : float64 (d,), (m, d), (m,)
    codes : uint8 (n, ceil(m / 8))
        Is overwritten.
    """
    n, m = scores.shape
    bits = np.zeros(8 * codes.shape[1], np.uint8)
    eights = bits.view(np.uint64)
    finite, least = True, np.float32(tolerance * norm_limit)
    for i in range(n):
        for j in range(m):
            bits[j] = scores[i, j] > limits[j]
        uncertain = np.uint8(0)
        for j in range(m):  # a loop of its own and without a branch, so that both loops are vectorised
            margin = abs(scores[i, j] - limits[j])
            uncertain |= np.uint8(not margin > least) | np.uint8(margin > norm_limit)
        if uncertain:
            edge = np.float32(tolerance * np.sqrt(squared_norm(quick[i])))
            finite &= np.isfinite(edge)
            for j in range(m):
                if not abs(scores[i, j] - limits[j]) > edge:
                    bits[j] = exact_bit(exact[i], center, normals[j], thresholds[j])
        for b in range(codes.shape[1]):
            codes[i, b] = (eights[b] * _GATHER_BYTES) >> np.uint64(56)
    return finite


@njit(cache=True, nogil=True)
def exact_bit(row, center, normal, threshold):
    """Return the bit of one row (d,) at one plane: four float64 sums, in the order of the features."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0  # four sums, since each addition waits for the one before it
    last = len(row) // 4 * 4
    for j in range(0, last, 4):
        a += (row[j] - center[j]) * normal[j]
        b += (row[j + 1] - center[j + 1]) * normal[j + 1]
        c += (row[j + 2] - center[j + 2]) * normal[j + 2]
        d += (row[j + 3] - center[j + 3]) * normal[j + 3]
    for j in range(last, len(row)):
        a += (row[j] - center[j]) * normal[j]
    return (a + b) + (c + d) > threshold


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})  # a bound may be added in any order
def squared_norm(row):
    """Return ||row||^2 in float32, at least 1e-36: below that, single precision has too few digits."""
    total = np.float32(1e-36)
    for j in range(len(row)):
        total += row[j] * row[j]
    return total
