"""Numbers that settings have to be, and what was given, in short."""

from __future__ import annotations

import numbers
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

LONGEST, MOST = 80, 8  # characters of a value, and names of a list, that a message shows


def describe(value: Any) -> str:
    """What was given, for an error message: its repr where short, else type and size or the repr cut.

    >>> describe(2.5), describe(np.zeros((300, 2))), describe(list(range(100)))
    ('2.5', 'ndarray of shape (300, 2)', 'list of length 100')
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    text = repr(value)
    if len(text) <= LONGEST:
        return text
    if isinstance(value, Sized) and not isinstance(value, str):
        return f"{type(value).__name__} of length {len(value)}"
    return f"{text[:LONGEST]}..."


def join_names(names: Sequence[str]) -> str:
    """Names, separated by commas; of many the first ones.

    >>> join_names(["a", "b"]), join_names([str(j) for j in range(300)])
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7, ... (300 in all)')
    """
    return ", ".join(names) if len(names) <= MOST else f"{', '.join(names[:MOST])}, ... ({len(names)} in all)"


def check_count(name: str, value: Any, least: int = 1) -> None:
    """ValueError unless `value` is an integer >= `least`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={describe(value)}: give an integer of at least {least}")


def check_positive(name: str, value: Any, most: float = np.finfo(float).max) -> None:
    """ValueError unless `value` is a number above 0 and not above `most`."""
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    if not 0 < number <= most:
        limit = "a finite number above 0" if most > 1e300 else f"a number above 0 and at most {most:g}"
        raise ValueError(f"{name}={describe(value)}: give {limit}")
