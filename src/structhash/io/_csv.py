"""Reader of .csv tables for `structhash.io`: numbers, and one column of labels."""

from __future__ import annotations

import csv
import itertools
import math

import numpy as np

from structhash._numerics.validation import describe

LABELS = ("y", "label")


def read_csv(path):
    """Features, labels or None, and feature names or None, of a table of numbers.

    Returns
    -------
    X : float64 array of shape (n, n_features)
    y : int64, float64 or text array of shape (n,), or None
    names : list of str, or None

    Raises
    ------
    ValueError
        With the line and the column of the first cell that is wrong.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "toy.csv"
    >>> _ = path.write_text("1,2\\n3,x\\n")
    >>> read_csv(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: cannot read ...toy.csv: line 2, column 2: 'x' is no number
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return _table(csv.reader(file, strict=True))
    except UnicodeDecodeError as error:
        raise ValueError(f"cannot read {path}: it is not UTF-8 text ({error})") from None
    except (csv.Error, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None


def _table(lines):
    first = next(filter(None, lines), None)
    if first is None:
        raise ValueError("it has no line")
    header = any(cell.strip() and _number(cell) is None for cell in first)
    names = [cell.strip() for cell in first] if header else [str(j + 1) for j in range(len(first))]
    if header and "" in names:
        raise ValueError(
            f"column {names.index('') + 1} has no name; leave it out if it holds row numbers, else name it"
        )
    label = [j for j, name in enumerate(names) if name.lower() in LABELS]
    if len(label) > 1:
        raise ValueError(f"it has {len(label)} columns named {' or '.join(LABELS)}; keep one")
    rows, labels = [], []
    for cells in itertools.chain([] if header else [first], filter(None, lines)):
        place = f"line {lines.line_num}"
        if len(cells) != len(first):
            raise ValueError(f"{place} has {len(cells)} cells, the first line has {len(first)}")
        for j in label:
            labels.append(cells[j].strip())
            if not labels[-1]:
                raise ValueError(f"{place}, column {names[j]}: the label is missing")
        rows.append(_row(cells, label, names, place))
    features = [name for j, name in enumerate(names) if j not in label]
    X = np.array(rows, dtype=np.float64).reshape(len(rows), len(features))
    return X, _labels(labels) if label else None, features if header else None


def _row(cells, label, names, place):
    values = [_number(cell) for j, cell in enumerate(cells) if j not in label]
    if None in values:
        wrong = next(j for j, cell in enumerate(cells) if j not in label and _number(cell) is None)
        raise ValueError(f"{place}, column {names[wrong]}: {describe(cells[wrong])} is no number")
    return np.array(values)


def _number(cell):
    """The number in a cell, or None; Python would also read "1_000", which no table means."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _labels(cells):
    """Labels as int64, else float64, else text: the first that fits all."""
    values = [_number(cell) for cell in cells]
    if any(value is None or not math.isfinite(value) for value in values):
        return np.array(cells)
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        exact = max(map(abs, values)) < 2**53  # else different labels could become one number
        return np.array(values if exact else cells)
