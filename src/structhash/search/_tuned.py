"""What `tune` returns."""

from __future__ import annotations

from typing import NamedTuple

from structhash.search._sublinear import SublinearIndex

__all__ = ["OperatingPoint", "Tuned"]


class OperatingPoint(NamedTuple):
    """What one value of a setting costs and finds."""

    value: int
    recall: float  # share of the k nearest that are found
    milliseconds: float  # a query
    cost: float  # time as a share of the time of comparing all codes


class Tuned(NamedTuple):
    """The chosen value of a setting, and all that were tried."""

    chosen: SublinearIndex  # the same codes with the chosen value
    setting: str  # such as "n_probe"
    value: int
    points: tuple[OperatingPoint, ...]  # by value
