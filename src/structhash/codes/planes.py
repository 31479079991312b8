"""On which side of planes rows lie, as packed codes: one float32 product, and float64 where that is unsure.

A product of matrices rounds differently with the shape of a block, with the place of a row in it, with threads
and machines. So its sign counts only where the score is farther from zero than rounding can have moved it;
elsewhere the bit is that of a float64 sum over the features in their order. Thus the bits of a row depend on
nothing but the row, and are those of double precision, at the price of single precision.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats

NEAR = 4.0  # typical norms of centred rows within which the centre is folded into the thresholds
UNIT = 2.0**-24  # largest relative error of one float32 rounding
# Times eight bytes of 0 or 1 as a uint64, it brings byte k to bit 56 + k; no two of the 64 products meet.
GATHER = np.uint64(0x0102040810204080 if sys.byteorder == "little" else 0x8040201008040201)


class Planes(NamedTuple):
    """Bit j of a row x is 1 where (x - center)'normal_j > threshold_j.

    Attributes
    ----------
    center : float64 (d,)
    normals : float64 (m, d)
        Of norm 1, or 0.
    thresholds : float64 (m,)
    """

    center: NDArray[np.float64]
    normals: NDArray[np.float64]
    thresholds: NDArray[np.float64]


class Product(NamedTuple):
    """What `write_codes` needs of planes: themselves, and their shape for the float32 product.

    The score of x is (x - shift)'normal - threshold; `tolerance` is how far it may be wrong, in norms of
    x - shift, and `reach` is a norm that few rows exceed. A shift of None is 0.
    """

    planes: Planes
    shift: NDArray[np.float32] | None
    normals: NDArray[np.float32]
    thresholds: NDArray[np.float32]
    tolerance: float
    reach: np.float32


def make_planes(center: Any, normals: Any, thresholds: Any) -> Planes:
    """Planes of any norm as `Planes`.

    Raises
    ------
    ValueError
        If the shapes do not fit together.
    """
    center, normals, thresholds = (np.asarray(part, np.float64) for part in (center, normals, thresholds))
    if normals.ndim != 2 or center.shape != normals.shape[1:] or thresholds.shape != normals.shape[:1]:
        raise ValueError(
            f"{thresholds.shape} thresholds and a center {center.shape} do not fit normals {normals.shape}"
        )
    norms = np.linalg.norm(normals, axis=1)
    norms[norms == 0] = 1.0
    return Planes(center, np.ascontiguousarray(normals / norms[:, None]), thresholds / norms)


def make_product(planes: Planes, sample: NDArray[Any]) -> Product:
    """Fold the centre into the thresholds where rows such as the sample, float64 (k, d), keep their digits so.

    Then no row need be centred. Where the centre is far from the origin, x'normal would lose the digits that
    tell rows apart: such rows are centred first.
    """
    center, normals, thresholds = planes
    if sample.shape[1:] != center.shape:
        raise ValueError(f"rows have {sample.shape[1:]} features, the planes {center.shape}")
    shift, moved = None, center
    with np.errstate(all="ignore"):  # numbers beyond single precision make scores unsure, nothing worse
        spread = np.sqrt(np.mean(np.sum((sample - center) ** 2, axis=1)))
        if not np.linalg.norm(center) <= NEAR * spread:
            shift = center.astype(np.float32)
            moved = center - shift
        single = (thresholds + normals @ moved).astype(np.float32)
        reach = np.float32(2 * np.sqrt(np.sum((sample - (center - moved)) ** 2, axis=1).max()))
    # An error bound d * UNIT holds always; sqrt(d) * UNIT with a factor of 8 fails once in 10^13 sums where
    # errors are independent (Higham and Mary 2019, doi:10.1137/18M1226312). Another 8 is for what is rounded
    # before: rows, normals, thresholds.
    tolerance = (8 * np.sqrt(len(center)) + 8) * UNIT
    # A row that is longer than `reach` by more than the slack of the tolerance has a score that says so, unless
    # nearly all of it is at right angles to every normal.
    return Product(planes, shift, normals.astype(np.float32), single, tolerance, reach)


def write_codes(
    product: Product, block: NDArray[Any], codes: NDArray[np.uint8], scores: NDArray[np.float32] | None = None
) -> bool:
    """Write the codes of a block of rows (n, d) into uint8 (n, ceil(m / 8)), little bit order, pad bits zero.

    `scores` is room for the product, float32 (n or more, m).

    Returns
    -------
    bool
        Whether all numbers are finite and of a size that single precision holds; if not, the codes of finite
        rows are right all the same.
    """
    exact = np.ascontiguousarray(as_floats(block))
    scores = (
        np.empty((len(block), len(product.normals)), np.float32) if scores is None else scores[: len(block)]
    )
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told by its norm
        if product.shift is None:
            quick = exact.astype(np.float32, copy=False)
        else:
            quick = np.subtract(exact, product.shift, dtype=exact.dtype).astype(np.float32, copy=False)
        np.matmul(quick, product.normals.T, out=scores)
    limits, tolerance, reach = product.thresholds, product.tolerance, product.reach
    return pack_sides(scores, limits, quick, tolerance, reach, exact, *product.planes, codes)


@njit(cache=True, nogil=True)
def pack_sides(scores, limits, quick, tolerance, reach, exact, center, normals, thresholds, codes):
    """Bits score > limit, packed; those closer to it than `tolerance` norms of the row by `side`.

    scores (n, m), limits (m,) and quick (n, d) are float32, exact (n, d) holds the rows as they are. The norm
    of a row is computed only where one of its scores would be unsure at the norm `reach`, or is beyond it, as
    are scores that are not finite. Tells whether those norms are finite.
    """
    n, m = scores.shape
    bits = np.zeros(8 * codes.shape[1], np.uint8)
    eights = bits.view(np.uint64)
    finite, least = True, np.float32(tolerance * reach)
    for i in range(n):
        for j in range(m):
            bits[j] = scores[i, j] > limits[j]
        unsure = np.uint8(0)
        for j in range(m):  # apart and without a branch: so both loops are compiled to vector instructions
            margin = abs(scores[i, j] - limits[j])
            unsure |= np.uint8(not margin > least) | np.uint8(margin > reach)
        if unsure:
            edge = np.float32(tolerance * np.sqrt(squared_norm(quick[i])))
            finite &= np.isfinite(edge)
            for j in range(m):
                if not abs(scores[i, j] - limits[j]) > edge:
                    bits[j] = side(exact[i], center, normals[j], thresholds[j])
        for b in range(codes.shape[1]):
            codes[i, b] = (eights[b] * GATHER) >> np.uint64(56)
    return finite


@njit(cache=True, nogil=True)
def side(row, center, normal, threshold):
    """The bit of one row (d,) at one plane: four sums in double precision, in the order of the features."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0  # four, since each addition waits for the one before
    last = len(row) // 4 * 4
    for j in range(0, last, 4):
        a += (row[j] - center[j]) * normal[j]
        b += (row[j + 1] - center[j + 1]) * normal[j + 1]
        c += (row[j + 2] - center[j + 2]) * normal[j + 2]
        d += (row[j + 3] - center[j + 3]) * normal[j + 3]
    for j in range(last, len(row)):
        a += (row[j] - center[j]) * normal[j]
    return (a + b) + (c + d) > threshold


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})  # any order will do: it is a bound
def squared_norm(row):
    """||row||^2 in float32, not below 1e-36: under that, single precision has too few digits."""
    total = np.float32(1e-36)
    for j in range(len(row)):
        total += row[j] * row[j]
    return total
