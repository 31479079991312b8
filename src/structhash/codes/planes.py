"""Compute packed codes of rows by planes, in float32 where that is safe and in float64 elsewhere.

The rounding errors of a matrix product depend on the shape of the block, the position of the row in it, the
threads and the machine. So the sign of a float32 score counts only where the score is farther from zero than
rounding can have moved it. Elsewhere the bit is the sign of a float64 sum over the features in their order.
The bits of a row therefore depend on the row alone. They are the bits of double precision, at the cost of
single precision.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats
from structhash._numerics.program import Program
from structhash.codes._plane_kernels import pack_plane_bits

__all__ = [
    "PlaneProduct",
    "Planes",
    "express_planes",
    "make_planes",
    "make_product",
    "plane_distances",
    "write_codes",
]

_MAX_FOLDED_CENTER = 4.0  # largest norm of a centre that is folded, in typical norms of centred rows
_FLOAT32_ROUNDOFF = 2.0**-24  # largest relative error of one rounding


class Planes(NamedTuple):
    """Bit j of a row x is 1 where (x - center)'normal_j > threshold_j.

    Attributes
    ----------
    center : float64 (d,)
    normals : float64 (m, d)
        Each of norm 1 or 0.
    thresholds : float64 (m,)
    """

    center: NDArray[np.float64]
    normals: NDArray[np.float64]
    thresholds: NDArray[np.float64]


class PlaneProduct(NamedTuple):
    """Planes, and the form of them that the float32 product uses.

    The float32 score of a row x is (x - shift)'normal - threshold.

    Attributes
    ----------
    planes : Planes
    shift : float32 (d,) or None
        None is 0: the centre is folded into the thresholds.
    normals : float32 (m, d)
    thresholds : float32 (m,)
    tolerance : float
        Largest error of a score, in norms of x - shift.
    norm_limit : float32
        A norm of x - shift that few rows exceed. The norm of a row is computed only if the row may exceed it,
        or if one of its scores may be within the tolerance.
    """

    planes: Planes
    shift: NDArray[np.float32] | None
    normals: NDArray[np.float32]
    thresholds: NDArray[np.float32]
    tolerance: float
    norm_limit: np.float32


def make_planes(center: Any, normals: Any, thresholds: Any) -> Planes:
    """Scale planes to normals of norm 1.

    Parameters
    ----------
    center : array (d,)
    normals : array (m, d)
        Of any norm.
    thresholds : array (m,)

    Returns
    -------
    Planes

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
    _, exponent = np.frexp(np.abs(normals).max(axis=1, initial=0))
    normals = np.ldexp(normals, -exponent[:, None])  # exact, and no square overflows or underflows
    thresholds = np.ldexp(thresholds, -exponent)
    norms = np.linalg.norm(normals, axis=1)
    norms[norms == 0] = 1.0
    return Planes(center, np.ascontiguousarray(normals / norms[:, None]), thresholds / norms)


def plane_distances(planes: Planes, X: NDArray[Any]) -> NDArray[np.float64]:
    """Signed distances (n, m) of rows X (n, d) to planes, in float64.

    >>> plane_distances(make_planes([1.0, 0.0], [[0.0, 2.0]], [0.0]), np.array([[5.0, 3.0]]))
    array([[3.]])
    """
    found: NDArray[np.float64] = (X.astype(np.float64) - planes.center) @ planes.normals.T
    found -= planes.thresholds
    return found


def express_planes(program: Program, planes: Planes, X: str) -> str:
    """`plane_distances` as steps of a program.

    Parameters
    ----------
    program : Program
    planes : Planes
    X : str
        Name of the rows.

    Returns
    -------
    str
        Name of the distances.
    """
    centred = program.step("subtract", X, planes.center)
    return program.step("subtract", program.step("matmul", centred, planes.normals.T), planes.thresholds)


def make_product(planes: Planes, sample: NDArray[Any]) -> PlaneProduct:
    """Prepare planes for the float32 product with rows like those of a sample, float64 (k, d).

    The centre is folded into the thresholds where the rows keep their precision, so that no row has to be
    centred. Where the centre is far from the origin, x'normal would lose the digits that distinguish rows;
    then every row is centred first. ValueError if the sample has another number of features than the planes.
    """
    center, normals, thresholds = planes
    if sample.shape[1:] != center.shape:
        raise ValueError(f"rows have {sample.shape[1:]} features, the planes {center.shape}")
    shift, folded = None, center
    with np.errstate(all="ignore"):  # a number that overflows float32 only makes scores uncertain
        spread = np.sqrt(np.mean(np.sum((sample - center) ** 2, axis=1)))
        if not np.linalg.norm(center) <= _MAX_FOLDED_CENTER * spread:
            shift = center.astype(np.float32)
            folded = center - shift
        single = (thresholds + normals @ folded).astype(np.float32)
        norm_limit = np.float32(2 * np.sqrt(np.sum((sample - (center - folded)) ** 2, axis=1).max()))
    # d roundoffs always bound the error of a sum. 8 sqrt(d) roundoffs fail once in 10^13 sums if errors are
    # independent (Higham and Mary 2019, doi:10.1137/18M1226312). 8 more cover the rounding of rows, normals
    # and thresholds.
    tolerance = (8 * np.sqrt(len(center)) + 8) * _FLOAT32_ROUNDOFF
    # A row that exceeds norm_limit by more than the slack of the tolerance has a score beyond norm_limit,
    # unless nearly all of the row is orthogonal to every normal.
    return PlaneProduct(planes, shift, normals.astype(np.float32), single, tolerance, norm_limit)


def write_codes(
    product: PlaneProduct,
    block: NDArray[Any],
    codes: NDArray[np.uint8],
    scores: NDArray[np.float32] | None = None,
) -> bool:
    """Write the packed codes of a block of rows, in little bit order, with zero pad bits.

    Parameters
    ----------
    product : PlaneProduct
        Of m planes, from `make_product`.
    block : array (n, d)
        Rows of any number type.
    codes : uint8 array (n, ceil(m / 8))
        Is overwritten.
    scores : float32 array (n or more, m), optional
        Scratch for the product.

    Returns
    -------
    bool
        True if all numbers are finite and not too large for float32. If not, the codes of finite rows are
        right all the same.
    """
    exact = np.ascontiguousarray(as_floats(block))
    scores = (
        np.empty((len(block), len(product.normals)), np.float32) if scores is None else scores[: len(block)]
    )
    with np.errstate(over="ignore", invalid="ignore"):  # the kernel finds what overflows by its norm
        if product.shift is None:
            quick = exact.astype(np.float32, copy=False)
        else:
            quick = np.subtract(exact, product.shift, dtype=exact.dtype).astype(np.float32, copy=False)
        np.matmul(quick, product.normals.T, out=scores)
    limits, tolerance, norm_limit = product.thresholds, product.tolerance, product.norm_limit
    return bool(pack_plane_bits(scores, limits, quick, tolerance, norm_limit, exact, *product.planes, codes))
