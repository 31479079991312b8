"""Check the values of settings, and describe a value briefly in an error message."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np

__all__ = [
    "MAX_BITS",
    "MAX_COUNT",
    "check_choice",
    "check_count",
    "check_flag",
    "check_list",
    "check_nonnegative",
    "check_positive",
    "counted",
    "describe",
    "join_names",
    "refuse_masked",
]

MAX_BITS = 2**16  # of a code
MAX_COUNT = 2**31 - 1  # compiled code counts so far
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
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return f"an integer of {value.bit_length()} bits"
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


def check_count(name: str, value: Any, least: int = 1, most: int | None = MAX_COUNT) -> None:
    """Raise ValueError unless the setting `name` has an integer `value` from `least` to `most`.

    >>> check_count("n_bits", 10**30, most=MAX_BITS)
    Traceback (most recent call last):
    ...
    ValueError: n_bits=1000000000000000000000000000000: give an integer of at least 1 and at most 65536
    """
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name}={describe(value)}: give an integer of at least {least}")
    if most is not None and value > most:
        raise ValueError(f"{name}={describe(value)}: give an integer of at least {least} and at most {most}")


def check_positive(name: str, value: Any, most: float = np.finfo(float).max, above: float = 0.0) -> None:
    """Raise ValueError unless the setting `name` has a number `value` above `above` and of at most `most`."""
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    if not above < number <= most:
        bounded = most < np.finfo(float).max
        limit = f"number above {above:g} and at most {most:g}" if bounded else f"finite number above {above:g}"
        raise ValueError(f"{name}={describe(value)}: give a {limit}")


def check_nonnegative(name: str, value: Any) -> None:
    """Raise ValueError unless the setting `name` has a finite number `value` of at least 0."""
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else np.nan
    if not 0 <= number < np.inf:
        raise ValueError(f"{name}={describe(value)}: give a finite number of at least 0")


def check_flag(name: str, value: Any) -> None:
    """Raise ValueError unless the setting `name` is True or False: as text, "False" would be true."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={describe(value)}: give True or False")


def check_list(name: str, value: Any) -> list[Any]:
    """Return the items of an iterable; TypeError for text, whose items would be its letters, and for one value.

    >>> check_list("bits", 64)
    Traceback (most recent call last):
    ...
    TypeError: bits=64: give a list, such as [64]
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{name}={describe(value)}: give a list, such as [{describe(value)}]")
    return list(value)


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its word or words; the plural ends in s unless it is given.

    >>> counted(1, "row"), counted(0, "row"), counted(2, "class has", "classes have")
    ('1 row', '0 rows', '2 classes have')
    """
    return f"{n} {one if n == 1 else many or one + 's'}"


def refuse_masked(name: str, value: Any) -> None:
    """Raise TypeError for a masked array, whose masked numbers would be used as if they were not masked."""
    if np.ma.isMaskedArray(value):
        raise TypeError(f"{name} is a masked array; fill or drop what is masked and give a plain array")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise ValueError unless the setting `name` has one of the words `choices` as its `value`.

    >>> check_choice("ties", "mean", ("expected", "id"))
    Traceback (most recent call last):
    ...
    ValueError: ties='mean': give one of expected, id
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={describe(value)}: give one of {', '.join(choices)}")
