"""What the text of a cell is: a number, a name, a missing value, a label."""

from __future__ import annotations

import csv
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe

_NEVER_LABELS = ("", "nan", "?")
_MISSING_VALUES = (*_NEVER_LABELS, "na", "n/a", "<na>", "null", "none", "nat")
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_PLAIN_NUMBER = r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"
_FOREIGN_LINES = {  # first lines of text that is no table
    r"<(!|\?|html)": "HTML or XML; give a table of numbers",
    r"\{\s*(\"|$)": "JSON; write its numbers as a table",
    r"@relation": "ARFF; remove its lines that begin with @ or %",
    r"#": "a comment (#); remove the line, or its # if it names the columns",
    r"[-+]?\d+(\.\d*)?(\s+\d+:[-+.\deE]+)+$": "libsvm; sklearn.datasets.load_svmlight_file reads it",
    r"\W*sep=.{0,2}\s*$": "the separator for a spreadsheet; remove the line",
}
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,?\d+([eE][-+]?\d+)?\s*")


def number(cell: str) -> float | None:
    """The number in a cell, or None. Python also reads "1_000", which is not a number in a table."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def is_name(cell: str) -> bool:
    """Whether a cell can only be a name: it has a letter, and is neither a number nor a missing value."""
    has_letter = any(character.isalpha() for character in cell)
    return has_letter and number(cell) is None and cell.strip().lower() not in _MISSING_VALUES


def foreign_line(line: str) -> str | None:
    """What a first line is if it belongs to no table, with the remedy where there is one."""
    return next((what for sign, what in _FOREIGN_LINES.items() if re.match(sign, line.strip(), re.I)), None)


def other_separator(line: str) -> str | None:
    """The word for what separates the cells of a line, if commas do not."""
    commas = len(next(csv.reader([line])))
    for separator, word in _SEPARATORS.items():
        cells = next(csv.reader([line], delimiter=separator))
        numbers = len(cells) > 1 and all(map(_DECIMAL_COMMA.fullmatch, cells))
        if numbers or len(cells) > commas:
            return word
    parts = line.split()
    vector = parts[1:] if len(parts) > 3 else parts  # the first may be a word, with the numbers of its vector
    numbers = len(parts) > 1 and all(number(part) is not None for part in vector)
    quoted = re.fullmatch(r'("[^"]*"\s+)+"[^"]*"', line.strip())
    return "blanks" if numbers or quoted else None


def why_no_number(cell: str) -> str:
    """What a cell is that should be a number, with the remedy where the kind is known."""
    text = f"{describe(cell)} is not a number"
    if cell.strip().lower() in _MISSING_VALUES:
        return f"{text}; fill it or remove the line (if it ends with a comma, remove the comma)"
    if cell.strip().lower() in ("true", "false"):
        return f"{text}; write 1 and 0"
    if other_separator(re.sub(r"[\r\n]", " ", cell)):
        return f"{text}; separate cells by commas, and write no blanks inside a number"
    if re.fullmatch(r"[-+]?[\d.,']*\d", cell.strip()):
        return f"{text}; write a decimal point, and nothing between thousands"
    return text


def as_labels(cells: list[str]) -> NDArray[Any]:
    """Labels as int64, else float64, else text: the first that keeps every spelling apart.

    "07" and "7" are two labels, so cells with such a spelling stay text, and so do "1.0" beside "1". Whole
    numbers beyond int64 stay text.
    """
    if all(re.fullmatch(r"0|-?[1-9][0-9]*", cell) for cell in cells):
        try:
            return np.array([int(cell) for cell in cells], dtype=np.int64)
        except OverflowError:
            return np.array(cells)
    if not all(re.fullmatch(_PLAIN_NUMBER, cell) for cell in cells):
        return np.array(cells)
    values = np.array([float(cell) for cell in cells])
    fractions = bool((values % 1 != 0).any())  # then these are no classes, which a method for classes refuses
    apart = np.isfinite(values).all() and len(np.unique(values)) == len(set(cells))
    return values if fractions or apart else np.array(cells)


def missing_label(cells: list[str]) -> int | None:
    """Position of the first label that is missing, or None.

    "NA", "none" and "null" are missing among numbers, and names of classes among text.
    """
    known = [cell for cell in cells if cell.lower() not in _MISSING_VALUES]
    words = _MISSING_VALUES if all(number(cell) is not None for cell in known) else _NEVER_LABELS
    return next((i for i, cell in enumerate(cells) if cell.lower() in words), None)
