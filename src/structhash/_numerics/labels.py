"""Labels of rows, of any type that a user may hand over, as class indices or as indicators.

Every method, score and protocol reads labels here, so that the same y is taken or refused everywhere.
"""

from __future__ import annotations

import unicodedata
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import counted

__all__ = [
    "RowLabels",
    "first_without_one",
    "labels_in_use",
    "read_classes",
    "read_labels",
    "refuse_look_alikes",
    "share_a_label",
]

_KINDS: dict[str, tuple[type, ...]] = {  # labels of one kind have a total order
    "booleans": (bool, np.bool_),
    "numbers": (int, float, np.integer, np.floating),
    "text": (str,),
    "bytes": (bytes,),
    "dates": (date,),
}
_SEVERAL = (set, frozenset, list, tuple, np.ndarray)  # types of what holds several labels
_MISSING = ("NoneType", "NAType", "NaTType")  # names of types: pandas need not be installed
_ALLOWED = "labels are text, bytes, booleans, whole numbers or dates, all of one kind"
_CONVERT = "convert others, for instance by y.astype(str)"
_INDICATORS = "where rows have several labels, give an indicator matrix (n, L) of 0/1"


class RowLabels(NamedTuple):
    """Labels of n rows.

    Attributes
    ----------
    values : ndarray (n_classes,)
        The label values, sorted, bytes and dates as text; the column numbers where y is an indicator matrix.
    class_index : int64 (n,)
        Class index of each row; empty where there are `indicators`.
    indicators : bool (n, L) or None
        Which labels a row has, where some row has none or several.
    """

    values: NDArray[Any]
    class_index: NDArray[np.int64]
    indicators: NDArray[np.bool_] | None = None

    @property
    def of_rows(self) -> NDArray[Any]:
        """The labels, an entry a row: int64 (n,), or bool (n, L) where some row has none or several."""
        return self.class_index if self.indicators is None else self.indicators


def read_labels(y: Any, n_rows: int) -> RowLabels:
    """Read labels of any type.

    Parameters
    ----------
    y : array (n,), (n, 1) or (n, L)
        One label a row: text, bytes, booleans, whole numbers or dates, in a list, an array, a Series or a
        frame with one column. Or 0/1 indicators of L >= 2 labels; where each row has exactly one, the columns
        are classes.
    n_rows : int
        Number of rows that need labels.

    Returns
    -------
    RowLabels

    Raises
    ------
    ValueError, TypeError
        If labels and rows differ in number, a label is missing, or labels are of another type, of several
        kinds, or look the same.

    Examples
    --------
    >>> read_labels(["b", "a", "b"], 3).class_index.tolist()
    [1, 0, 1]
    >>> read_labels([[0, 1], [1, 0], [0, 1]], 3).class_index.tolist()
    [1, 0, 1]
    """
    labels = _as_array(y)
    if labels.ndim == 2 and labels.shape[1] > 1 and len(labels) == n_rows:
        return _read_indicators(labels)
    if labels.shape not in ((n_rows,), (n_rows, 1)):
        raise ValueError(f"labels have shape {labels.shape}; give one label for each of the {n_rows} rows")
    labels = labels.reshape(n_rows)
    if labels.dtype == object:
        labels = _checked_objects(labels)
    elif labels.dtype.kind not in "biufSUmM":
        raise ValueError(f"y holds {labels.dtype}: {_ALLOWED}; {_CONVERT}")
    elif labels.dtype.kind == "f":
        _check_whole(labels)
    elif labels.dtype.kind in "mM" and np.isnat(labels).any():
        raise _missing("NaT", int(np.isnat(labels).argmax()))
    try:
        values, index = np.unique(labels, return_inverse=True)
    except TypeError as error:  # dates with and without a time, or a time zone
        raise ValueError(f"labels have no common order ({error}); give dates of one kind") from None
    if labels.dtype.kind == "S" or (len(values) and isinstance(values[0], bytes)):
        values = np.array([value.decode("latin-1") for value in values.tolist()])
    elif labels.dtype.kind in "mM" or (len(values) and isinstance(values[0], date)):
        values = values.astype(str)
    if len(values) and isinstance(values[0], str):
        refuse_look_alikes(values.tolist(), "y")
    return RowLabels(values, index)


def read_classes(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Read labels of which each row has exactly one.

    Parameters
    ----------
    y, n_rows
        See `read_labels`.

    Returns
    -------
    values : ndarray (n_classes,)
    index : int64 (n,)

    Raises
    ------
    ValueError, TypeError
        As `read_labels`, and if a row has no label or several.
    """
    values, index, indicators = read_labels(y, n_rows)
    if indicators is not None:
        row, n_own = first_without_one(indicators)
        raise ValueError(
            f"labels have shape {indicators.shape}, and row {row} has {n_own} of the labels; "
            f"give one label for each of the {n_rows} rows, or learn by AdditiveHash, CGHash, DistilHash or "
            "StructHash, which take several"
        )
    return values, index


def first_without_one(indicators: NDArray[np.bool_]) -> tuple[int, int]:
    """The first row of indicators (n, L) that has not exactly one label, and how many it has."""
    counts = indicators.sum(axis=1)
    row = int((counts != 1).argmax())
    return row, int(counts[row])


def labels_in_use(indicators: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The columns (k,) of indicators (n, L) that some row has; ValueError if all rows have the same."""
    used = np.flatnonzero(indicators.any(axis=0))
    if not len(used):
        raise ValueError(f"none of the {len(indicators)} rows of y has a label; give rows that have labels")
    if (indicators == indicators[0]).all():
        raise ValueError(
            f"all {len(indicators)} rows have the same {counted(len(used), 'label')}; give rows whose labels "
            "differ"
        )
    return used


def share_a_label(A: NDArray[np.bool_], B: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether rows of the indicators A (m, L) and B (n, L) have a label in common: (m, n)."""
    return A.astype(np.float32) @ B.astype(np.float32).T > 0


def refuse_look_alikes(labels: list[str], name: str) -> None:
    """Raise ValueError if two labels differ only in blanks, or in how Unicode writes a letter.

    >>> refuse_look_alikes(["cat", "cat "], "y")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: y holds 'cat' and 'cat ', which look the same; write equal labels equally (see ...)
    """
    looks: dict[str, str] = {}
    for label in labels:
        other = looks.setdefault(" ".join(unicodedata.normalize("NFC", label).split()), label)
        if other != label:
            raise ValueError(
                f"{name} holds {other!a} and {label!a}, which look the same; write equal labels equally "
                "(see unicodedata.normalize, str.strip)"
            )


def _as_array(y: Any) -> NDArray[Any]:
    """y as an array of labels; of lists and of types that numpy lacks, an array of objects."""
    if y is None:
        raise ValueError("the method requires y to be passed, but the target y is None; give labels")
    if isinstance(y, type):
        raise TypeError(f"y is the class {y.__name__}; give an instance of it")
    if np.ma.isMaskedArray(y):
        raise TypeError("y is a masked array; leave out the rows that are masked, and give a plain array")
    listed = isinstance(y, list | tuple)  # of these, numpy would make text of all where one is text
    labels = np.array(y, object) if listed else np.asarray(y)
    if labels.ndim == 0:
        what = "sparse: give y.toarray()" if hasattr(y, "toarray") else f"of type {type(y).__name__}"
        raise ValueError(f"y is {what}; labels have shape (): give a list or an array with one label a row")
    if labels.dtype.kind == "T":
        return labels.astype(object)
    if labels.dtype == object and labels.ndim == 2 and _kinds_of(labels) <= {"booleans", "numbers"}:
        return np.array(labels.tolist())
    return labels


def _read_indicators(labels: NDArray[Any]) -> RowLabels:
    """Indicators (n, L), as classes where each row has exactly one label."""
    numbers = labels.dtype.kind in "biuf"
    other = (labels != 0) & (labels != 1) if numbers else np.full(labels.shape, True)
    if other.any():
        row, column = np.argwhere(other)[0].tolist()
        given = labels[row].tolist()[column]
        raise ValueError(
            f"labels of shape {labels.shape} must be 0 or 1, which of {labels.shape[1]} a row has, and row "
            f"{row} holds {given!r} in column {column}; or give one label a row"
        )
    indicators = labels.astype(bool)
    if (indicators.sum(axis=1) != 1).any():
        return RowLabels(np.arange(labels.shape[1]), np.empty(0, np.int64), indicators)
    values, index = np.unique(indicators.argmax(axis=1), return_inverse=True)
    return RowLabels(values, index)


def _kinds_of(labels: NDArray[Any]) -> set[str]:
    """The kinds of the labels in an array of objects; "other" for what is none."""
    types = {type(label) for label in labels.ravel()}
    return {next((name for name, kind in _KINDS.items() if issubclass(each, kind)), "other") for each in types}


def _checked_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Objects (n,) as plain values; refuse what is missing, has no total order, or is of several kinds."""
    allowed = sum(_KINDS.values(), ())
    for row, label in enumerate(labels):
        if type(label).__name__ in _MISSING or (isinstance(label, float | np.floating) and label != label):
            raise _missing(label, row)
        if not isinstance(label, allowed):
            advice = _INDICATORS if isinstance(label, _SEVERAL) else f"{_ALLOWED}; {_CONVERT}"
            raise ValueError(f"y holds a {type(label).__name__} in row {row}: {advice}")
    kinds = _kinds_of(labels)
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        raise ValueError(f"labels have no common order (y holds {found}); give numbers only or text only")
    if kinds == {"numbers"}:
        _check_whole(np.array([label for label in labels if isinstance(label, float | np.floating)], float))
    return np.array([label.item() if isinstance(label, np.generic) else label for label in labels], object)


def _check_whole(labels: NDArray[Any]) -> None:
    """Refuse floats (n,) that are missing, infinite or fractions."""
    if not np.isfinite(labels).all():
        row = int(np.isfinite(labels).argmin())
        raise _missing(labels[row], row)
    if (labels != np.floor(labels)).any():
        raise ValueError(
            "Unknown label type: continuous; y holds fractions: give classes; StructHash and CGHash also take "
            "Neighbours, Triplets or Qrels"
        )


def _missing(label: Any, row: int) -> ValueError:
    """The error where a row has no label."""
    what = str(label).replace("nan", "NaN")
    return ValueError(f"y holds {what} in row {row}; give each row a label, or leave such rows out")
