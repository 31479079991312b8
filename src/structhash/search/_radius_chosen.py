"""What `choose_radius` and `radius_curve` return."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ChosenRadius", "RadiusCurve"]


class ChosenRadius(NamedTuple):
    """A radius, and what the sample says about it."""

    radius: float
    n_merged: int  # pairs of the sample within the radius
    n_false: int  # of these, pairs that are no duplicates
    false_merge_rate: float  # n_false / n_merged
    upper_bound: float  # of the rate among all pairs within the radius, with the confidence asked for
    recall: float  # share of the duplicates of the sample within the radius


class RadiusCurve(NamedTuple):
    """What a sample of pairs says about each radius, from small to large.

    Attributes
    ----------
    radii : ndarray (m,)
        The different distances.
    merged, false : int arrays (m,)
        Pairs within the radius, and those of them that are no duplicates.
    bounds : ndarray (m,)
        Upper bounds of the false-merge rate, which hold at once.
    recall : ndarray (m,)
        Share of the duplicates within the radius.
    """

    radii: NDArray[Any]
    merged: NDArray[np.int64]
    false: NDArray[np.int64]
    bounds: NDArray[np.float64]
    recall: NDArray[np.float64]
