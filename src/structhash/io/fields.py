"""What a file may hold: each piece declares its fitted arrays, and one function checks them.

A file from a stranger can have a right checksum and wrong content: a feature number out of range would make a
compiled kernel read foreign memory. So a class declares name, shape, kind and range of all that it stores, as a
tuple of `Field`. What is loaded or saved is held to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe

__all__ = ["Field", "Fields", "check_fields", "split_parts"]

_DTYPES = {
    "float": ("float32", "float64"),
    "int": ("int8", "int32", "int64"),
    "bool": ("bool",),
}
_ENTRIES: dict[str, Any] = {  # of lists; a bool is an int
    "names": str,
    "labels": (str, int, float, type(None)),
    "records": dict,
}


@dataclass(frozen=True)
class Field:
    """One array, number or list that a piece stores.

    Parameters
    ----------
    name : str
        "kernel_/anchors" is the entry "anchors" of the dict "kernel_".
    shape : tuple of str
        Names of sizes. The caller gives some, such as "n_bits" and "n_features"; a size with another name is
        that of the first array that has it. "n_nodes+1" is one more than "n_nodes". () is a single number.
    kind : str
        "float", "int" or "bool": an array, or, without a shape, a plain number. "text": a str. "names",
        "labels", "records": a list of str, of plain values, of dicts.
    least, most : float
        The range of numbers. NaN is never in range.
    positive : bool
        Whether numbers must be above 0.
    below : str
        Name of a size that numbers must be below: they are places in something of that size.
    infinite : bool
        Whether numbers may be infinite.
    optional : bool
        Whether it may be missing.

    Examples
    --------
    >>> Field("feature", ("n_bits",), "int", below="n_features").check(np.array([3, 7]), {"n_features": 7})
    Traceback (most recent call last):
    ...
    ValueError: 'feature' holds numbers from 3 to 7; 0 to 6 are allowed
    """

    name: str
    shape: tuple[str, ...] = ()
    kind: str = "float"
    least: float = -np.inf
    most: float = np.inf
    positive: bool = False
    below: str = ""
    infinite: bool = False
    optional: bool = False

    def check(self, value: Any, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return the sizes, with those that the value sets; ValueError if the value is not as declared."""
        if self.kind not in _DTYPES:
            return self._check_plain(value, sizes)
        plain = isinstance(value, bool | int | float)
        array = np.asarray(float(value) if plain and self.kind == "float" and type(value) is int else value)
        if array.dtype.name not in _DTYPES[self.kind] or (isinstance(value, list) or (plain and self.shape)):
            raise ValueError(
                f"{self.name!r} is {_briefly(value)}; {' or '.join(_DTYPES[self.kind])} is allowed"
            )
        sizes = self._check_shape(array.shape, sizes)
        if self.kind != "bool" and array.size:
            self._check_range(array, sizes)
        return dict(sizes)

    def _check_shape(self, shape: tuple[int, ...], sizes: Mapping[str, int]) -> dict[str, int]:
        """The sizes, with those that this shape sets."""
        sizes = dict(sizes)
        if len(shape) != len(self.shape):
            raise ValueError(f"{self.name!r} has shape {shape}; ({', '.join(self.shape)}) is allowed")
        for size, word in zip(shape, self.shape, strict=True):
            base, plus, _ = word.partition("+")
            allowed = sizes.setdefault(base, size - len(plus)) + len(plus)
            if size != allowed:
                wanted = f"({', '.join(self.shape)}) with {word}={allowed}"
                raise ValueError(f"{self.name!r} has shape {shape}; {wanted} is allowed")
        return sizes

    def _check_range(self, array: NDArray[Any], sizes: Mapping[str, int]) -> None:
        """ValueError unless all numbers are in the range."""
        low, high = float(array.min()), float(array.max())  # NaN where one is NaN
        least, most = (0, sizes[self.below] - 1) if self.below else (self.least, self.most)
        finite = self.infinite or (np.isfinite(low) and np.isfinite(high))
        if not (least <= low and high <= most and finite and (low > 0 or not self.positive)):
            allowed = f"{least:g} to {most:g}" if np.isfinite(most) else f"numbers of at least {least:g}"
            allowed = "numbers above 0" if self.positive else allowed if np.isfinite(least) else "numbers"
            which = "" if self.infinite else "finite " if not np.isfinite(most) else ""
            raise ValueError(
                f"{self.name!r} holds numbers from {low:g} to {high:g}; {which}{allowed} are allowed"
            )

    def _check_plain(self, value: Any, sizes: Mapping[str, int]) -> dict[str, int]:
        """`check` of a text or a list."""
        if self.kind == "text":
            right = isinstance(value, str)
        else:
            one = _ENTRIES[self.kind]
            right = isinstance(value, list) and all(isinstance(each, one) for each in value)
        if not right:
            raise ValueError(f"{self.name!r} is {_briefly(value)}; only {self.kind} is allowed")
        return dict(sizes) if self.kind == "text" else self._check_shape((len(value),), sizes)


Fields = tuple[Field, ...]


def check_fields(fields: Fields | None, values: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, int]:
    """Check all that a piece stores against its declaration.

    Parameters
    ----------
    fields : tuple of Field or None
        None is the declaration of a piece that has none: floats must not be NaN.
    values : dict of str to value
    sizes : dict of str to int
        Sizes that are known.

    Returns
    -------
    dict of str to int
        All sizes.

    Raises
    ------
    ValueError
        If a value is missing, is not declared, or is not as declared.

    Examples
    --------
    >>> fields = (Field("mean", ("n_features",)), Field("scale", positive=True))
    >>> check_fields(fields, {"mean": np.zeros(3), "scale": np.ones(())}, {"n_features": 3})
    {'n_features': 3}
    """
    if fields is None:
        for name, value in values.items():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f" and np.isnan(value).any():
                raise ValueError(f"{name!r} holds NaN; numbers are allowed")
        return dict(sizes)
    known = {field.name for field in fields}
    _refuse("more", sorted(values.keys() - known))
    _refuse("less", [each.name for each in fields if each.name not in values and not each.optional])
    sizes = dict(sizes)
    for field in fields:
        if field.name in values:
            sizes = field.check(values[field.name], sizes)
    return sizes


def split_parts(
    arrays: Mapping[str, NDArray[Any]], parts: Sequence[str], otherwise: str
) -> dict[str, dict[str, NDArray[Any]]]:
    """The arrays of each part by their own names, where an array is called part/name.

    Parameters
    ----------
    arrays : dict of str to array
    parts : sequence of str
    otherwise : str
        What an array of no part is, in words, for the error.

    Returns
    -------
    dict of str to dict
        An entry for each part, also for one without arrays.

    Raises
    ------
    ValueError
        If an array is of no part.

    Examples
    --------
    >>> split_parts({"a/x": np.zeros(2), "a/y/z": np.ones(1)}, ("a", "b"), "of no part")
    {'a': {'x': array([0., 0.]), 'y/z': array([1.])}, 'b': {}}
    """
    found: dict[str, dict[str, NDArray[Any]]] = {part: {} for part in parts}
    for name, array in arrays.items():
        part, _, key = name.partition("/")
        if part not in found:
            raise ValueError(f"{name!r} is {otherwise}")
        found[part][key] = array
    return found


def _refuse(how: str, names: Sequence[str]) -> None:
    """ValueError if there are names."""
    if names:
        raise ValueError(f"it holds {how} than its class stores: {', '.join(names)}")


def _briefly(value: Any) -> str:
    """A value for a message, with the dtype of an array."""
    return f"{value.dtype} {describe(value)}" if isinstance(value, np.ndarray) else describe(value)
