"""Choose a radius for near-duplicates from a labelled sample of pairs."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from structhash._numerics.validation import describe
from structhash.search._radius_chosen import ChosenRadius, RadiusCurve

__all__ = ["choose_radius", "radius_curve"]


def choose_radius(
    distances: ArrayLike, duplicates: ArrayLike, false_merge_rate: float = 0.01, confidence: float = 0.95
) -> ChosenRadius:
    """Choose the largest radius whose false-merge rate is low for sure.

    The rate is the share of the pairs within a radius that are no duplicates. Its upper bound is one-sided, of
    Clopper and Pearson (1934, doi:10.1093/biomet/26.4.404): b = BetaInv(1 - a; x + 1, m - x) with x false ones
    of m pairs. With a = (1 - confidence) / number of different distances, the bounds of all radii hold at
    once. So the bound of the chosen radius holds, too.

    Parameters
    ----------
    distances : array (n,)
        Distances of pairs, drawn at random and independently from the pairs within a large radius, such as from
        `near_pairs`. What is chosen holds for data from which such a sample would be drawn.
    duplicates : bool array (n,)
        Whether a pair is one of duplicates.
    false_merge_rate : float
        Largest rate, above 0 and below 1.
    confidence : float
        Above 0 and below 1.

    Returns
    -------
    ChosenRadius

    Raises
    ------
    TypeError, ValueError
        If an argument is not as said, or no radius has so low a bound.

    Examples
    --------
    >>> distances = np.repeat([0, 2, 5, 9], 400)
    >>> chosen = choose_radius(distances, distances < 9, false_merge_rate=0.01)
    >>> chosen.radius, chosen.n_merged, round(chosen.upper_bound, 4)
    (5.0, 1200, 0.0036)
    """
    apart, same = _check(distances, duplicates)
    _check_shares(false_merge_rate=false_merge_rate, confidence=confidence)
    radii, merged, false, bounds, _ = _curve(apart, same, confidence)
    low = np.flatnonzero(bounds <= false_merge_rate)
    if not len(low):
        best = int(bounds.argmin())
        raise ValueError(
            f"false_merge_rate={false_merge_rate}: with {len(apart)} pairs the lowest bound is "
            f"{bounds[best]:.3g}, at radius {radii[best]:g} ({false[best]} of {merged[best]} false); label "
            "more near pairs, or give a higher rate"
        )
    last = low[-1]
    x, m = int(false[last]), int(merged[last])
    recall = (m - x) / int(same.sum())
    return ChosenRadius(float(radii[last]), m, x, x / m, float(bounds[last]), recall)


def radius_curve(distances: ArrayLike, duplicates: ArrayLike, confidence: float = 0.95) -> RadiusCurve:
    """What a sample says about every radius, from which `choose_radius` chooses.

    Parameters
    ----------
    distances, duplicates, confidence
        As for `choose_radius`.

    Returns
    -------
    RadiusCurve

    Raises
    ------
    TypeError, ValueError
        If an argument is not as said.
    """
    apart, same = _check(distances, duplicates)
    _check_shares(confidence=confidence)
    return _curve(apart, same, confidence)


def _curve(apart: NDArray[Any], same: NDArray[np.bool_], confidence: float) -> RadiusCurve:
    """Counts, bounds and recall at every distance of a sample."""
    radii, place = np.unique(apart, return_inverse=True)
    merged = np.cumsum(np.bincount(place))
    false = np.cumsum(np.bincount(place, weights=~same)).astype(int)
    level = 1 - (1 - confidence) / len(radii)
    bounds = np.where(false < merged, betaincinv(false + 1, np.maximum(merged - false, 1), level), 1.0)
    recall = (merged - false) / max(int(same.sum()), 1)
    return RadiusCurve(radii, merged, false, bounds, recall)


def _check_shares(**shares: float) -> None:
    """ValueError unless all are numbers above 0 and below 1."""
    for name, value in shares.items():
        if not isinstance(value, numbers.Real) or not 0 < value < 1:
            raise ValueError(f"{name}={describe(value)}: give a number above 0 and below 1")


def _check(distances: ArrayLike, duplicates: ArrayLike) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The sample as arrays (n,)."""
    apart, same = np.asarray(distances), np.asarray(duplicates)
    if apart.dtype.kind not in "fiu" or same.dtype != np.bool_:
        raise TypeError(
            f"distances are {apart.dtype}, duplicates {same.dtype}; give numbers, and bool "
            "(values.astype(bool))"
        )
    if apart.ndim != 1 or apart.shape != same.shape or not apart.size:
        raise ValueError(
            f"distances have shape {apart.shape}, duplicates {same.shape}; give (n,), n at least 1"
        )
    if not (np.isfinite(apart).all() and (apart >= 0).all()):
        raise ValueError(f"distances={describe(apart)}: give finite numbers of at least 0")
    return apart, same
