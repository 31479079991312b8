"""Files of ids: .npy arrays, text with an id a line, and a column of a .csv file."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import join_names
from structhash.io.arrays import load_array
from structhash.io.container import check_is_file, what

__all__ = ["read_ids"]


def read_ids(path: Path, column: str | None = None, as_text: bool = False) -> NDArray[Any]:
    """Read ids, in the order of the codes that have them.

    Parameters
    ----------
    path : path
        A .npy file of whole numbers or text (or of a mask), a .csv file with a header, or any other text file,
        with an id a line.
    column : str or None
        The name of the column of a .csv file; None where it has one column only.
    as_text : bool
        Whether ids of a text file stay text. Otherwise they are whole numbers if each is one that an index
        takes, up to 2**63 - 1, and written as Python writes it, so 7, but not 07.

    Returns
    -------
    ndarray (n,)

    Raises
    ------
    FileNotFoundError, ValueError
        If the file is missing or damaged, or there is no such column.
    """
    suffix = path.suffix.lower()
    if column is not None and suffix != ".csv":
        raise ValueError(f"--id {column} is a column of a .csv file, {path} is none; leave it out")
    if suffix == ".npy":
        return load_array(path)
    check_is_file(path)
    if (found := what(path)) not in ("", "text"):
        raise ValueError(f"cannot read {path}: it is {found}, no file of ids")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            texts = _column(file, path, column) if suffix == ".csv" else list(file)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"cannot read {path}: it is no file of ids in UTF-8 ({error})") from None
    texts = [each.strip() for each in texts]
    if not as_text and all(re.fullmatch("0|[1-9][0-9]{0,18}", each) for each in texts):
        numbers = [int(each) for each in texts]
        if max(numbers, default=0) <= np.iinfo(np.int64).max:
            return np.array(numbers, dtype=np.int64)
    return np.array(texts, dtype=object)


def _column(file: Any, path: Path, column: str | None) -> list[str]:
    """The cells of a column of a .csv file."""
    rows = csv.reader(file, strict=True)
    names = [name.strip() for name in next(rows, [])]
    if column is None and len(names) > 1:
        raise ValueError(f"{path} has the columns {join_names(names)}; name that of the ids by --id")
    if column is not None and names.count(column) != 1:
        raise ValueError(
            f"--id {column}: {path} has {names.count(column)} such columns; it has {join_names(names)}"
        )
    place, found = 0 if column is None else names.index(column), []
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"{path}: line {rows.line_num} has {len(row)} cells, the header {len(names)}")
        found.append(row[place])
    return found
