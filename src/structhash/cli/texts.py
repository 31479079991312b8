"""Texts of rows: a file of them, or a column of the data."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from structhash._numerics.arrow import import_arrow
from structhash._numerics.validation import describe, join_names
from structhash.cli.ids import read_ids

__all__ = ["read_texts"]


def read_texts(words: str, data: Path) -> list[str]:
    """Read a text for each row of a data file.

    Parameters
    ----------
    words : str
        A file, as `read_ids` takes it: .npy, .csv with one column, or text, one a line. Or else the name of an
        array (.npz) or a column of `data`.
    data : path

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If there is no such file and no such column, or it cannot be read.
    """
    if (path := Path(words)).is_file():
        if path.suffix.lower() == ".csv" and len(names := _column(path, "")[0]) > 1:
            raise ValueError(f"--texts {path} has the columns {join_names(names)}; give a file with one column")
        return [str(each) for each in read_ids(path, as_text=True).tolist()]
    names, found = _column(data, words)
    if found is None:
        what = f"{data} has {join_names(names)}" if names else f"{data} has no columns of text"
        raise ValueError(f"--texts {describe(words)}: no such file, and {what}; give a file, one text a line")
    return [str(each) for each in found]


def _column(data: Path, name: str) -> tuple[list[str], list[object] | None]:
    """The names of all columns of a file, and the values of one; None where there is no such column."""
    suffix = data.suffix.lower() if data.is_file() else ""
    if suffix == ".npz":
        with np.load(data, allow_pickle=False) as arrays:
            return arrays.files, arrays[name].tolist() if name in arrays.files else None
    if suffix == ".csv":
        with open(data, encoding="utf-8-sig", newline="") as file:
            names = [each.strip() for each in next(csv.reader(file), [])]
        return names, read_ids(data, name, as_text=True).tolist() if name in names else None
    if suffix in (".parquet", ".arrow", ".feather"):
        arrow = import_arrow(f"{suffix} files: reading {data}")
        with arrow.OSFile(str(data)) as file:
            if suffix == ".parquet":
                table = arrow.parquet.read_table(file)
            else:
                table = arrow.ipc.open_file(file).read_all()
            return table.column_names, table[name].to_pylist() if name in table.column_names else None
    return [], None
