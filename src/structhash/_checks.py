"""Numbers that settings have to be."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def check_count(name: str, value: Any, least: int = 1) -> None:
    """ValueError unless `value` is an integer >= `least`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r}: give an integer of at least {least}")


def check_positive(name: str, value: Any, most: float = np.finfo(float).max) -> None:
    """ValueError unless `value` is a number above 0 and not above `most`."""
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    if not 0 < number <= most:
        limit = "a finite number above 0" if most > 1e300 else f"a number above 0 and at most {most:g}"
        raise ValueError(f"{name}={value!r}: give {limit}")
