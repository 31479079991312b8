"""Data sets in .csv files: a table of numbers, with at most one column of labels."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.io.dataset import Dataset
from structhash.io.formats.base import Format

__all__ = ["Csv"]

_LABEL_NAMES = ("y", "label")


@dataclass(frozen=True)
class Csv(Format):
    """A table of numbers, comma-separated, in UTF-8.

    The first line is a header if one of its cells is text; an empty cell is not text. A column named y or
    label, in any case, holds the labels and may hold text. Every other cell is a number.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".csv",)

    def read(self, path: Path) -> Dataset:
        """Read the table.

        Returns
        -------
        data : Dataset
            X is float64; y is int64, float64 or text, the first of these that fits all labels.

        Raises
        ------
        ValueError
            With the line and the column of the first wrong cell.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
        >>> _ = path.write_text("1,2\\n3,x\\n")
        >>> Csv().read(path)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: cannot read ...toy.csv: line 2, column 2: 'x' is not a number
        """
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                return _read_table(csv.reader(file, strict=True))
        except UnicodeDecodeError as error:
            raise ValueError(f"cannot read {path}: it is not UTF-8 text ({error})") from None
        except (csv.Error, ValueError) as error:
            raise ValueError(f"cannot read {path}: {error}") from None


class _Columns(NamedTuple):
    """The columns, as the first line describes them."""

    names: list[str]  # "1", "2", ... where there is no header
    labels: int | None  # position of the column of labels
    header: bool


def _read_table(lines: Any) -> Dataset:
    """Read the data set from a `csv.reader`."""
    first = next(filter(None, lines), None)
    if first is None:
        raise ValueError("it has no line")
    columns = _read_columns(first)
    rows, labels = [], []
    for cells in itertools.chain([] if columns.header else [first], filter(None, lines)):
        place = f"line {lines.line_num}"
        if len(cells) != len(first):
            raise ValueError(f"{place} has {len(cells)} cells, the first line has {len(first)}")
        if columns.labels is not None:
            labels.append(cells[columns.labels].strip())
            if not labels[-1]:
                raise ValueError(f"{place}, column {columns.names[columns.labels]}: the label is missing")
        rows.append(_read_row(cells, columns, place))
    features = [name for j, name in enumerate(columns.names) if j != columns.labels]
    X = np.array(rows, dtype=np.float64).reshape(len(rows), len(features))
    y = None if columns.labels is None else _as_labels(labels)
    return Dataset(X, y, names=features if columns.header else None)


def _read_columns(first: list[str]) -> _Columns:
    """Read the header, if the first line is one."""
    header = any(cell.strip() and _number(cell) is None for cell in first)
    names = [cell.strip() for cell in first] if header else [str(j + 1) for j in range(len(first))]
    if header and "" in names:
        raise ValueError(
            f"column {names.index('') + 1} has no name; remove it if it holds row numbers, else name it"
        )
    labels = [j for j, name in enumerate(names) if name.lower() in _LABEL_NAMES]
    if len(labels) > 1:
        raise ValueError(f"it has {len(labels)} columns named {' or '.join(_LABEL_NAMES)}; keep one")
    return _Columns(names, labels[0] if labels else None, header)


def _read_row(cells: list[str], columns: _Columns, place: str) -> NDArray[np.float64]:
    """Read the features of one line."""
    values = []
    for j, cell in enumerate(cells):
        if j != columns.labels:
            value = _number(cell)
            if value is None:
                raise ValueError(f"{place}, column {columns.names[j]}: {describe(cell)} is not a number")
            values.append(value)
    return np.array(values)


def _number(cell: str) -> float | None:
    """The number in a cell, or None. Python also reads "1_000", which is not a number in a table."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _as_labels(cells: list[str]) -> NDArray[Any]:
    """Labels as int64, else float64, else text: the first that fits all."""
    values = [_number(cell) for cell in cells]
    numbers = [value for value in values if value is not None and math.isfinite(value)]
    if len(numbers) < len(values):
        return np.array(cells)
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except (ValueError, OverflowError):
        exact = max(map(abs, numbers)) < 2**53  # beyond, different labels could become one number
        return np.array(numbers if exact else cells)
