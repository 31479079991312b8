"""Which columns of a table are features, which one holds labels, and which are left out.

Where a name allows two answers, the file is refused with the question, so that nothing is taken in silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe, join_names
from structhash.io.formats._cells import is_name, number

NONE = "none"  # the answer that no column is meant

_SURE_LABELS = ("y", "label")
_LABEL_NAMES = (*_SURE_LABELS, "y_true", "gt")
_LABEL_WORDS = {
    "label", "labels", "target", "targets", "class", "classes", "category", "categories",
    "outcome", "response", "truth",
}  # fmt: skip
_ID_NAMES = (
    "index", "idx", "row", "rows", "row number", "rownum", "rownames", "no", "nr", "key", "pk", "level 0",
    "index level 0",
)  # fmt: skip
_ID_WORDS = {"id", "ids", "uid", "uuid", "guid", "unnamed", "rowid"}
_FEWEST_ROW_NUMBERS = 3  # rows that a column must number before it is taken for row numbers


class Columns(NamedTuple):
    """The columns of a table.

    Attributes
    ----------
    names : list of str
        "1", "2", ... where there is no header.
    label : int or None
        Position of the column of labels.
    features : list of int
        Positions of the features.
    sure : bool
        Whether the caller has said which columns are left out, or which are features.
    left_out : list of str
        Names of the columns that are left out because the features are known, and no one has said so.
    """

    names: list[str]
    label: int | None
    features: list[int]
    sure: bool
    left_out: list[str]


def has_header(first: Sequence[str]) -> bool:
    """Whether the first line names the columns.

    It does if all its cells are names, or empty. It does not if no cell is a name and they do not count the
    columns. ValueError in all other cases.
    """
    names = [is_name(cell) for cell in first]
    filled = [bool(cell.strip()) for cell in first]
    if any(names) and names == filled:
        return True
    counts = _count_columns([cell for cell in first if cell.strip()])
    if not any(names) and not counts:
        return False
    found = "counts the columns" if counts else "holds names and numbers"
    raise ValueError(
        f"its first line {found} ({join_names(list(first))}): is it a header or a row? Give header=True or "
        "header=False (--header or --no-header)"
    )


def _count_columns(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2, ... or 1, 2, 3, ..., or three or more whole numbers in a run."""
    values = np.array([number(cell) for cell in cells], dtype=float)  # NaN where there is no number
    if not len(values) or not (np.diff(values) == 1).all():
        return False
    return bool(values[0] in (0, 1) or (len(values) > 2 and values[0] % 1 == 0))


def column_names(first: Sequence[str], header: bool) -> list[str]:
    """Names of the columns; a column without one is called as pandas calls it; ValueError if a name repeats."""
    if not header:
        return [str(j + 1) for j in range(len(first))]
    names = [cell.strip() or f"Unnamed: {j}" for j, cell in enumerate(first)]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{times} columns are named {describe(name)}; give each a name of its own")
    return names


def choose_columns(
    names: list[str], label: str | None, ignore: Sequence[str], features: Sequence[str] | None
) -> Columns:
    """Decide what each column is.

    Parameters
    ----------
    names : list of str
    label : str or None
        The column of labels, "none", or None to find it by its name.
    ignore : sequence of str
        Columns that are left out; "none" if no column is; empty to refuse names that are usual for ids.
    features : sequence of str or None
        The features, where they are known. All other columns are left out.

    Returns
    -------
    Columns

    Raises
    ------
    ValueError
        With the question, where a name is doubtful; or if there is no such column.
    """
    ignore = [ignore] if isinstance(ignore, str) else [str(name) for name in ignore]  # numbers are names, too
    label = None if label is None else str(label)
    left_out = [] if ignore == [NONE] else list(ignore)
    for name in [*left_out, *([] if label in (None, NONE) else [label])]:
        if name not in names:
            raise ValueError(not_among(name, names))
    if label is not None and label in left_out:
        raise ValueError(f"column {describe(label)} is to be the label and to be ignored; give one of the two")
    rest = [name for name in names if name not in left_out]
    chosen = find_label(rest, features) if label is None else label if label != NONE else None
    place = None if chosen is None else names.index(chosen)
    if features is not None:
        _check_known(features, names, chosen, left_out)
        others = [name for name in rest if name != chosen and name not in features]
        return Columns(names, place, [names.index(name) for name in features], True, others)
    also_labels = label not in (None, NONE)
    doubtful = [name for name in rest if is_id_name(name) or (also_labels and is_label_name(name))]
    doubtful = [] if ignore else [name for name in doubtful if name != chosen]
    if doubtful:
        raise ValueError(_which_are_features(doubtful))
    kept = [j for j, name in enumerate(names) if name != chosen and name not in left_out]
    return Columns(names, place, kept, bool(ignore), [])


def not_among(name: str, names: Sequence[str], kind: str = "column") -> str:
    """What is wrong where the caller names a column, or an array, that the file does not have."""
    return f"it has no {kind} {describe(name)}; its {kind}s are {join_names(names)}"


def _check_known(
    features: Sequence[str], names: Sequence[str], label: str | None, left_out: Sequence[str]
) -> None:
    """ValueError if a known feature is missing, or is to be the label or to be left out."""
    if missing := [describe(name) for name in features if name not in names]:
        raise ValueError(
            f"it lacks {join_names(missing)} of the columns {join_names(features)} that are needed; it has "
            f"{join_names(names)}"
        )
    for name in features:
        if name == label or name in left_out:
            use = "the label" if name == label else "ignored"
            raise ValueError(
                f"column {describe(name)} is needed as a feature and cannot be {use}; leave that out"
            )


def find_label(names: Sequence[str], features: Sequence[str] | None = None) -> str | None:
    """The column of labels by its name: y or label, if no other name is usual for labels.

    Raises
    ------
    ValueError
        With the question, if another name is usual for labels, several are, or y stands beside x.
    """
    usual = [name for name in names if is_label_name(name) and name not in (features or ())]
    sure = [name for name in usual if name.lower() in _SURE_LABELS]
    if features is not None:
        return sure[0] if len(sure) == 1 else None
    beside_x = "y" in map(str.lower, usual) and "x" in map(str.lower, names)
    if not usual or (usual == sure and len(sure) == 1 and not beside_x):
        return sure[0] if sure else None
    raise ValueError(
        f"does {' or '.join(map(describe, usual))} hold labels? Give label={usual[0]!r} or label='none' "
        f"(--label {usual[0]!r} or --label none)"
    )


def is_label_name(name: str) -> bool:
    """Whether a name is usual for labels."""
    return name.lower() in _LABEL_NAMES or bool(_LABEL_WORDS & set(_words(name)))


def is_id_name(name: str) -> bool:
    """Whether a name is usual for ids or row numbers."""
    words = _words(name)
    return " ".join(words) in _ID_NAMES or bool(_ID_WORDS & set(words))


def id_candidates(left_out: Sequence[str]) -> tuple[str, ...]:
    """The columns among those that are left out that may hold ids, usual names of ids first."""
    found = [name for name in left_out if not is_label_name(name)]
    return tuple(sorted(found, key=lambda name: not is_id_name(name)))


def _words(name: str) -> list[str]:
    """The words of a name in lower case: "sampleID" and "sample_id" have two."""
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def _which_are_features(names: Sequence[str]) -> str:
    """The question whether columns are features."""
    quoted = join_names([describe(name) for name in names])
    return (
        f"are the columns {quoted} features? Give ignore={list(names)!r} to leave them out or ignore=['none'] "
        f"to take them (--ignore {names[0]!r}, repeated, or --ignore none)"
    )


def check_row_numbers(X: NDArray[np.float64], names: Sequence[str]) -> None:
    """Refuse a feature that numbers the rows from 0 or 1: it is an index, not a feature."""
    if len(X) < _FEWEST_ROW_NUMBERS:
        return
    numbering = [
        name
        for name, column in zip(names, X.T, strict=True)
        if column[0] in (0, 1) and (np.diff(column) == 1).all()
    ]
    if numbering:
        raise ValueError(f"column {numbering[0]} numbers the rows; {_which_are_features(numbering)}")
