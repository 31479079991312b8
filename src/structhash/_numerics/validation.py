"""Check the values of settings, and describe a value briefly in an error message."""

from __future__ import annotations

import numbers
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

__all__ = ["check_choice", "check_count", "check_nonnegative", "check_positive", "describe", "join_names"]

_MAX_SHOWN_CHARACTERS = 80
_MAX_SHOWN_NAMES = 8


def describe(value: Any) -> str:
    """Describe a value for an error message.

    An array is described by its type and shape, other values by their repr. Of a repr that is too long, type
    and length are shown, or its beginning.

    >>> describe(2.5), describe(np.zeros((300, 2))), describe(list(range(100)))
    ('2.5', 'ndarray of shape (300, 2)', 'list of length 100')
    """
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    text = repr(value)
    if len(text) <= _MAX_SHOWN_CHARACTERS:
        return text
    if isinstance(value, Sized) and not isinstance(value, str):
        return f"{type(value).__name__} of length {len(value)}"
    return f"{text[:_MAX_SHOWN_CHARACTERS]}..."


def join_names(names: Sequence[str]) -> str:
    """Join names by commas; of a long list only the first names are shown.

    >>> join_names(["a", "b"]), join_names([str(j) for j in range(300)])
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7, ... (300 in all)')
    """
    if len(names) <= _MAX_SHOWN_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_MAX_SHOWN_NAMES])}, ... ({len(names)} in all)"


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise ValueError unless the setting `name` has an integer `value` of at least `least`."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={describe(value)}: give an integer of at least {least}")


def check_positive(name: str, value: Any, most: float = np.finfo(float).max) -> None:
    """Raise ValueError unless the setting `name` has a number `value` above 0 and of at most `most`."""
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    if not 0 < number <= most:
        limit = "a finite number above 0" if most > 1e300 else f"a number above 0 and at most {most:g}"
        raise ValueError(f"{name}={describe(value)}: give {limit}")


def check_nonnegative(name: str, value: Any) -> None:
    """Raise ValueError unless the setting `name` has a finite number `value` of at least 0."""
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    if not 0 <= number < np.inf:
        raise ValueError(f"{name}={describe(value)}: give a finite number of at least 0")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise ValueError unless the setting `name` has one of the words `choices` as its `value`.

    >>> check_choice("ties", "mean", ("expected", "id"))
    Traceback (most recent call last):
    ...
    ValueError: ties='mean': give one of expected, id
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={describe(value)}: give one of {', '.join(choices)}")
