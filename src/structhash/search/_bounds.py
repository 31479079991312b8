"""Lower bounds of distances in whole numbers, by which most codes are passed over."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.codes import as_words, pack
from structhash.search._counts import N_PLANES
from structhash.search._kept import extremes
from structhash.search._lanes import FEW_LANES, MANY_LANES

__all__ = ["Bounds", "byte_bounds", "no_bounds", "plane_bounds"]

_LEAST_UNIT = 1e-280  # so that quotients are not denormal


class Bounds(NamedTuple):
    """What makes a distance of a whole number: it is at least ``lowest + unit * (number - slack)``."""

    unit: NDArray[np.float64]  # (n_queries,)
    lowest: NDArray[np.float64]  # (n_queries,)
    slack: NDArray[np.float64]  # (n_queries,), the largest error of all float64 operations, in units
    least: float  # the least term of a code; its whole number is that of the term less this


def byte_bounds(
    base: NDArray[np.float64], tables: NDArray[np.float64], terms: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], Bounds]:
    """Whole numbers for each value of each byte.

    Parameters
    ----------
    base : float64 array (n_queries,), n_queries at most MANY_LANES
    tables : float64 array (n_queries, n_bytes, 256)
    terms : float32 array (n,), or (0,) if all are 0

    Returns
    -------
    numbers : uint8 array (n_bytes, 256, FEW_LANES or MANY_LANES)
        The tables, each lowered by its least entry, in units, rounded down and cut at 255.
    bounds : Bounds
        With terms, all units are equal.
    """
    n_queries, n_bytes, _ = tables.shape
    lows, highs = tables.min(axis=2), tables.max(axis=2)
    unit = _unit(highs - lows, 4, 255)
    if len(terms):
        unit[:] = unit.max()
    numbers = np.zeros((n_bytes, 256, FEW_LANES if n_queries <= FEW_LANES else MANY_LANES), np.uint8)
    numbers[:, :, :n_queries] = _levels(tables - lows[:, :, None], unit[:, None, None], 255).transpose(1, 2, 0)
    sizes = np.abs(base) + np.maximum(np.abs(lows), np.abs(highs)).sum(axis=1)
    return numbers, _bounds(unit, base + lows.sum(axis=1), sizes, terms, n_bytes)


def plane_bounds(
    base: NDArray[np.float64], x: NDArray[np.float64], terms: NDArray[np.float32]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Bounds]:
    """Whole numbers for each bit, as binary digits.

    Since x b = min(x, 0) + |x| where b differs from [x < 0], the number of a code is the sum of the levels of
    the bits that differ.

    Parameters
    ----------
    base : float64 array (n_queries,)
    x : float64 array (n_queries, n_bits)
        Distances are base + x times the bits of a code + the term of the code.
    terms : float32 array (n,), or (0,) if all are 0

    Returns
    -------
    signs : uint64 array (n_queries, w)
        Words of the bits [x < 0].
    planes : uint64 array (n_queries, N_PLANES, w)
        Words of digit p of the levels: |x| in units, rounded down and cut at the largest level.
    bounds : Bounds
    """
    weights, largest = np.abs(x), 2**N_PLANES - 1
    unit = _unit(weights, 2.5, largest)
    levels = _levels(weights, unit[:, None], largest)
    planes = levels[:, None] >> np.arange(N_PLANES, dtype=np.uint8)[:, None] & 1
    lowest = base + np.minimum(x, 0).sum(axis=1)
    sizes = np.abs(base) + weights.sum(axis=1)
    return _words(x < 0), _words(planes), _bounds(unit, lowest, sizes, terms, x.shape[1])


def no_bounds(n_queries: int) -> tuple[NDArray[np.uint8], Bounds]:
    """`byte_bounds` without numbers: every code may be near."""
    unit, zeros = np.ones(n_queries), np.zeros(n_queries)
    return np.empty((0, 256, MANY_LANES), np.uint8), Bounds(unit, zeros, zeros, 0.0)


def _words(bits: NDArray[Any]) -> NDArray[np.uint64]:
    """Bits (..., n_bits) as words (..., w)."""
    packed = pack(bits.reshape(-1, bits.shape[-1]).astype(np.uint8))
    words: NDArray[np.uint64] = as_words(packed, np.uint64).reshape(*bits.shape[:-1], -1)
    return words


def _unit(spans: NDArray[np.float64], medians: float, largest: int) -> NDArray[np.float64]:
    """The unit of each query, by the spans (n_queries, m) of its parts.

    Spans above some medians are cut, so that one large weight does not hide the others.
    """
    middle, most = spans.shape[1] // 2, spans.max(axis=1)
    cut = np.minimum(most, medians * np.partition(spans, middle, axis=1)[:, middle])
    return np.maximum(np.where(cut > 0, cut, most) / largest, _LEAST_UNIT)


def _levels(parts: NDArray[np.float64], unit: NDArray[np.float64], largest: int) -> NDArray[np.uint8]:
    """Parts of distances in units, rounded down and cut."""
    with np.errstate(over="ignore"):  # a huge part in tiny units
        return np.minimum(parts / unit, largest).astype(np.uint8)


def _bounds(
    unit: NDArray[np.float64],
    lowest: NDArray[np.float64],
    sizes: NDArray[np.float64],
    terms: NDArray[np.float32],
    n_parts: int,
) -> Bounds:
    """Bounds of distances whose `n_parts` parts have absolute values of the sum `sizes`, beside the terms."""
    least, largest = extremes(terms)
    # an operation errs by at most 2^-53 of its result, which is at most 2 sizes
    slack = 1e-3 + (n_parts + 8) * 2.0**-50 * (sizes + max(abs(least), abs(largest))) / unit
    return Bounds(unit, lowest + least, slack, least)
