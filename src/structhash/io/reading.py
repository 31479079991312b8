"""Read data sets in every format of `structhash.io.formats`, found by the extension of the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from structhash import pieces
from structhash.io._opening import check_file
from structhash.io.dataset import Dataset, check_dataset
from structhash.io.formats.base import Format

__all__ = ["facts", "read", "suffixes"]


def read(path: str | os.PathLike[str]) -> Dataset:
    """Read a data set.

    The extension of the file, in any case, chooses the format; `suffixes` lists the known ones, and the class
    of each format in `structhash.io.formats` describes what its files hold.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    data : Dataset
        X and Q as `check_matrix` returns them.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the extension is unknown, the path is a folder, the file is empty or damaged or holds Python objects,
        or its arrays are not a data set: X is missing or not finite, a cell is not a number, lengths differ.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
    >>> _ = path.write_text("height,width,label\\n1,2,cat\\n3,4.5,dog\\n")
    >>> data = read(path)
    >>> data.X, data.y, data.names
    (array([[1. , 2. ],
           [3. , 4.5]]), array(['cat', 'dog'], dtype='<U3'), ['height', 'width'])
    """
    path = Path(path)
    return check_dataset(_format_of(path).read(path), path)


def facts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Describe a data file by its kind, sizes and dtypes; errors as `read`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "toy.csv"
    >>> _ = path.write_text("1,2\\n3,4.5\\n")
    >>> facts(path)
    {'kind': 'data', 'rows': 2, 'features': 2, 'dtype': 'float64'}
    """
    path = Path(path)
    return _format_of(path).facts(path)


def suffixes() -> tuple[str, ...]:
    """Extensions of data files, lower case, with the dot.

    >>> suffixes()
    ('.csv', '.npy', '.npz')
    """
    return tuple(_formats())


def _formats() -> dict[str, type[Format]]:
    """The format of each extension."""
    found: dict[str, Any] = dict(pieces.classes("formats"))
    return {suffix: piece for piece in found.values() for suffix in piece.suffixes}


def _format_of(path: Path) -> Format:
    """The format of an existing file."""
    known = _formats()
    check_file(path, known)
    return known[path.suffix.lower()]()
