"""Data sets in .csv files, compressed or not: a table of numbers, with at most one column of labels."""

from __future__ import annotations

import csv
import gzip
import itertools
import logging
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe, join_names
from structhash.io._opening import check_text
from structhash.io.dataset import Dataset
from structhash.io.formats._cells import (
    as_labels,
    foreign_line,
    missing_label,
    number,
    other_separator,
    why_no_number,
)
from structhash.io.formats._columns import (
    Columns,
    check_row_numbers,
    choose_columns,
    column_names,
    has_header,
    is_id_name,
)
from structhash.io.formats.base import Format

__all__ = ["Csv"]

_LOG = logging.getLogger(__name__)
_DATE = re.compile(r"\d+([-/:])\d+\1\d+")
_QUOTES = "a cell that begins with a quote ends with one, and a quote inside it is written twice"


@dataclass(frozen=True)
class Csv(Format):
    """A table of numbers, comma-separated, in UTF-8. Blanks around a cell do not count.

    The first line is a header if all its cells are names. A column named y or label, in any case, holds the
    labels and may hold text of one line. Every other cell is a number. Where the first line, or the name of a
    column, allows two answers, `read` raises the question; the settings answer it.

    Parameters
    ----------
    header : bool, optional
        Whether the first line names the columns.
    label : str, optional
        The column of labels, by its name, or without a header by its number from 1; "none" if there is none.
    ignore : sequence of str
        Columns that are left out; ["none"] if every other column is a feature.
    features : sequence of str, optional
        Names of the features, where they are known: X has these columns, in this order. The other columns
        are left out, and the log names them. A file without a header is read as if they were not known.
    """

    header: bool | None = None
    label: str | None = None
    ignore: Sequence[str] = ()
    features: Sequence[str] | None = None

    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".csv.gz")

    def read(self, path: Path) -> Dataset:
        """Read the table.

        Returns
        -------
        data : Dataset
            X is float64; y is int64, float64 or text, the first of these that keeps all labels apart.

        Raises
        ------
        ValueError
            With the line and the column of the first wrong cell, or with a question.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
        >>> _ = path.write_text("1,2.5\\n3,?\\n")
        >>> Csv().read(path)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: cannot read ...toy.csv: line 2, column 2: '?' is not a number; fill it or remove ...
        """
        compressed = path.suffix.lower() == ".gz"
        if not compressed:
            check_text(path)
        opened: Any = gzip.open if compressed else open
        try:
            with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
                _check_first_line(next(filter(str.strip, file), ""))
                file.seek(0)
                data, left_out = self._read_table(csv.reader(file, strict=True))
        except UnicodeDecodeError as error:
            raise ValueError(f"cannot read {path}: it is not UTF-8 text ({error}); save it as UTF-8") from None
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(
                f"cannot read {path}: it is no whole gzip file ({error}); compress it again"
            ) from None
        except (csv.Error, ValueError) as error:
            hint = f" in line 1; {_QUOTES}" if isinstance(error, csv.Error) else ""
            raise ValueError(f"cannot read {path}: {error}{hint}") from None
        if left_out:
            _LOG.warning("%s: left out the columns %s, which are no features", path, join_names(left_out))
        return data

    def _read_table(self, lines: Any) -> tuple[Dataset, list[str]]:
        """Read the data set from a `csv.reader`; also the columns that are left out."""
        first = next(filter(None, lines), None)
        if first is None:
            raise ValueError("it has no line")
        header = has_header(first) if self.header is None else self.header
        known = self.features if header else None
        columns = choose_columns(column_names(first, header), self.label, self.ignore, known)
        rows, labels, numbers = [], [], []
        placed = _numbered(lines, first, header)
        for line, cells in placed if header else itertools.chain([(lines.line_num, first)], placed):
            rows.append(_read_row(cells, columns, line))
            numbers.append(line)
            if columns.label is not None:
                labels.append(_read_label(cells[columns.label], line, columns.names[columns.label]))
        if (missing := missing_label(labels)) is not None:
            raise ValueError(
                f"line {numbers[missing]}, column {columns.names[columns.label or 0]}: the label is missing "
                f"({labels[missing]!r}); give each row a label"
            )
        features = [columns.names[j] for j in columns.features]
        X = np.array(rows, dtype=np.float64).reshape(len(rows), len(features))
        if not columns.sure and self.features is None:
            check_row_numbers(X, features)
        y = None if columns.label is None else as_labels(labels)
        label = None if columns.label is None else columns.names[columns.label]
        candidates = tuple(filter(is_id_name, columns.left_out))
        names, held = features if header else None, tuple(columns.names)
        data = Dataset(X, y, names=names, label=label, id_candidates=candidates, held=held)
        return data, columns.left_out


def _check_first_line(line: str) -> None:
    """Refuse text that is no table, and cells that something else than commas separates."""
    if what := foreign_line(line):
        raise ValueError(f"its first line is {what}")
    if word := other_separator(line) or ("bars" if "|" in line and "," not in line else None):
        raise ValueError(
            f"its cells are separated by {word}; separate them by commas, with decimal points (pandas.read_csv "
            "with sep and decimal reads it, to_csv with index=False writes it)"
        )


def _numbered(lines: Any, first: list[str], header: bool) -> Iterator[tuple[int, list[str]]]:
    """The line number and the cells of each row; ValueError if a line is blank, or is no row like the first."""
    blank, line = None, lines.line_num
    try:
        for cells in lines:
            line = lines.line_num
            if not cells:
                blank = blank or line
                continue
            if blank:
                raise ValueError(f"line {blank} is blank; remove it, or fill it if it is a row")
            if len(cells) != len(first):
                raise ValueError(f"line {line} has {len(cells)} cells, the first line has {len(first)}")
            if header and cells == first and len(first) > 2:  # numbers such as 0,1 can be a row
                raise ValueError(f"line {line} repeats the header; remove it")
            yield line, cells
    except csv.Error as error:
        raise ValueError(f"line {line + 1}: {error}; {_QUOTES}") from None


def _read_label(cell: str, line: int, column: str) -> str:
    """Read the label of one line; ValueError if it spans lines, which a quote that is not closed swallows."""
    label = cell.strip()
    if "\n" in label or "\r" in label:
        raise ValueError(
            f"line {line}, column {column}: the label {describe(label)} spans lines; remove its line breaks, "
            "or close a quote before it"
        )
    return label


def _read_row(cells: list[str], columns: Columns, line: int) -> NDArray[np.float64]:
    """Read the features of one line."""
    values = [number(cells[j]) for j in columns.features]
    if None in values:
        j = columns.features[values.index(None)]
        hint = "" if columns.sure else _how_to_leave_out(cells[j], columns.names[j])
        if len(cells) == 1 and "," in cells[j]:
            hint = "; if there are quotes around each line, remove them"
        raise ValueError(f"line {line}, column {columns.names[j]}: {why_no_number(cells[j])}{hint}")
    return np.array(values, dtype=np.float64)


def _how_to_leave_out(cell: str, name: str) -> str:
    """The remedy for a column of text."""
    if not any(character.isalpha() for character in cell) and not _DATE.match(cell.strip()):
        return ""
    return f"; a column of text is a label (label={name!r}, --label) or left out (ignore=[{name!r}], --ignore)"
