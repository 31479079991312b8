"""Data sets in: .npy, .npz and .csv files, checked before anything is computed from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from structhash._numerics.validation import join_names
from structhash.io._csv import read_csv
from structhash.io.container import atomic, what

__all__ = ["Dataset", "check_matrix", "read", "read_codes", "unreadable", "write_npy"]

ARRAYS = ("X", "y", "Q", "qrels")  # of a .npz file


class Dataset(NamedTuple):
    """What one file holds; None for what it does not."""

    X: np.ndarray  # float32 or float64 (n, n_features)
    y: np.ndarray | None = None  # labels, first axis n
    Q: np.ndarray | None = None  # float32 or float64 (n_queries, n_features)
    qrels: np.ndarray | None = None  # relevance judgements, as they are in the file
    names: list[str] | None = None  # of the features


def read(path):
    """Read a data set.

    Parameters
    ----------
    path : str or path
        ``.npy``: X. ``.npz``: X, and where they are there y, Q and qrels; other arrays are ignored.
        ``.csv``: the first line is a header if a cell in it is no number (an empty one does not count); a
        column named y or label, in any case, is y and may hold text; every other cell is a number.

    Returns
    -------
    data : Dataset
        X and Q as `check_matrix` gives them. y of a .csv is int64, float64 or text, the first that fits.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it has another extension, is a folder, is empty or damaged, holds Python objects, or its arrays are
        no data set: X missing or not finite, a cell that is no number, lengths that differ.

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
    readers = {".npy": _read_npy, ".npz": _read_npz, ".csv": _read_csv}
    _check_file(path, readers)
    data = readers[path.suffix.lower()](path)
    X, Q = check_matrix(data.X, f"X of {path}"), data.Q
    if data.y is not None and (data.y.ndim == 0 or len(data.y) != len(X)):
        raise ValueError(
            f"y of {path} has shape {data.y.shape}, but X has {len(X)} rows; one label a row is needed"
        )
    if Q is not None:
        Q = check_matrix(Q, f"Q of {path}")
        if Q.shape[1] != X.shape[1]:
            raise ValueError(f"Q of {path} has {Q.shape[1]} columns, but X has {X.shape[1]}")
    return data._replace(X=X, Q=Q)


def read_codes(path):
    """Read packed codes from a .npy file; the inverse of `write_npy`.

    Returns
    -------
    codes : uint8 array of shape (n, n_bytes)

    Raises
    ------
    FileNotFoundError, ValueError
        As `read`, and where the array is not a uint8 matrix.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "codes.npy"
    >>> write_npy(path, np.array([[5, 1]], dtype=np.uint8))
    >>> read_codes(path)
    array([[5, 1]], dtype=uint8)
    """
    path = Path(path)
    maker = "; structhash encode makes codes"
    _check_file(path, (".npy",), maker)
    codes = _read_npy(path).X
    if codes.dtype != np.uint8 or codes.ndim != 2:
        raise ValueError(
            f"codes of {path} must be uint8 of shape (n, n_bytes), "
            f"got {codes.dtype} of shape {codes.shape}{maker}"
        )
    return codes


def check_matrix(X, name="X"):
    """Return `X` as a finite float matrix.

    Parameters
    ----------
    X : array of shape (n, n_features)
        float32 and float64 stay; bool, float16 and integers up to 16 bits become float32, which holds them
        exactly, longer integers float64.
    name : str
        What to call the array in an error message.

    Returns
    -------
    X : float32 or float64 array of shape (n, n_features)

    Raises
    ------
    ValueError
        If it has another dtype, is not 2-D, has no row or column, or holds NaN or infinity.

    Examples
    --------
    >>> check_matrix([[1, 2], [3, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: X holds 1 NaN and 0 infinite values, the first at row 1, column 1; remove or fill them
    """
    X = np.asarray(X)
    if X.ndim != 2:
        hint = "; is it sparse? use X.toarray()" if X.dtype == object else ""
        raise ValueError(f"{name} must have shape (n, n_features), got {X.shape}{hint}")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"{name} must have at least one row and one column, got shape {X.shape}")
    kind, size = X.dtype.kind, X.dtype.itemsize
    if kind == "b" or (kind in "iu" and size <= 2) or (kind == "f" and size == 2):
        X = X.astype(np.float32)
    elif kind in "iu":
        X = X.astype(np.float64)
    elif kind != "f" or size > 8:
        raise ValueError(f"{name} must be bool, integer, float16, float32 or float64, got {X.dtype}")
    X = X.astype(X.dtype.newbyteorder("="), copy=False)
    finite = np.isfinite(X)
    if not finite.all():
        row, column = np.unravel_index(finite.argmin(), X.shape)
        n_nan, n_inf = np.isnan(X).sum(), np.isinf(X).sum()
        raise ValueError(
            f"{name} holds {n_nan} NaN and {n_inf} infinite values, the first at row {row}, column {column}; "
            "remove or fill them"
        )
    return X


def write_npy(path, array):
    """Write an array to a .npy file, atomically.

    Raises
    ------
    ValueError
        If the array holds Python objects or `path` does not end in .npy.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.npy"
    >>> write_npy(path, np.arange(3))
    >>> np.load(path)
    array([0, 1, 2])
    """
    array = np.asarray(array)
    if Path(path).suffix.lower() != ".npy":
        raise ValueError(f"cannot write {path}: the name must end in .npy")
    if array.dtype.hasobject:
        raise ValueError(f"cannot write {path}: the array holds Python objects; convert it to numbers")
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.save(file, array, allow_pickle=False)


def unreadable(path, suffix, error):
    """The ValueError for a file that should be such as its suffix says, after what numpy or zipfile said of it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.npy"
    >>> _ = path.write_text("1 2")
    >>> unreadable(path, ".npy", "no magic string")  # doctest: +ELLIPSIS
    ValueError('cannot read .../x.npy: it is text, not a .npy file')
    """
    found = what(path)
    if found and suffix not in found:
        return ValueError(f"cannot read {path}: it is {found}, not a {suffix} file")
    if "pickle" in str(error):  # numpy's advice would be to load it unsafely
        error = "no numbers in numpy's format; save arrays of numbers"
    return ValueError(f"cannot read {path}: it is damaged or holds Python objects ({error})")


def _check_file(path, suffixes, maker=""):
    if path.suffix.lower() not in suffixes:
        reason = f"unknown extension {path.suffix!r}, known are {', '.join(suffixes)}"
        if path.is_file() and (found := what(path)):
            reason += f"; it is {found}"
        raise ValueError(f"cannot read {path}: {reason}{maker}")
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not path.is_file():
        raise ValueError(f"cannot read {path}: it is not a file")
    if path.stat().st_size == 0:
        raise ValueError(f"cannot read {path}: it is empty")


def _read_npy(path):
    def load():
        with open(path, "rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)

    return Dataset(_load(path, load))


def _read_npz(path):
    def load():
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
            return sorted(found.files), {name: found[name] for name in ARRAYS if name in found.files}

    names, arrays = _load(path, load)
    if "X" not in arrays:
        raise ValueError(f"cannot read {path}: it needs an array X, but holds {join_names(names) or 'nothing'}")
    return Dataset(**arrays)


def _read_csv(path):
    X, y, names = read_csv(path)
    return Dataset(X, y, names=names)


def _load(path, load) -> Any:
    """What `load` gives; numpy and zipfile raise a dozen kinds of error on damaged files, here ValueError."""
    try:
        return load()
    except PermissionError:
        raise
    except Exception as error:
        raise unreadable(path, path.suffix.lower(), error) from None
