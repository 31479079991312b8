"""What `choose_radius` returns."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ChosenRadius"]


class ChosenRadius(NamedTuple):
    """A radius, and what the sample says about it."""

    radius: float
    n_merged: int  # pairs of the sample within the radius
    n_false: int  # of these, pairs that are no duplicates
    false_merge_rate: float  # n_false / n_merged
    upper_bound: float  # of the rate among all pairs within the radius, with the confidence asked for
    recall: float  # share of the duplicates of the sample within the radius
