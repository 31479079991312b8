"""Single arrays in .npy files: packed codes, ids, and any other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.addresses import as_path
from structhash.io._opening import check_file, guard, unreadable
from structhash.io._signatures import check_is_file
from structhash.io.container import atomic, check_replaced

__all__ = ["load_array", "map_array", "read_codes", "write_npy"]


def load_array(path: Path) -> NDArray[Any]:
    """Read any array of a .npy file into memory; ValueError if the file is damaged or holds Python objects."""
    check_is_file(path)
    with guard(path, suffix=".npy"), open(path, "rb") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        _check_end(file.tell(), path)
    return array


def map_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Map any array of a .npy file; its values are read from disk when they are used.

    A map is for files that stay as they are while they are used. If another program shortens or overwrites the
    file meanwhile, values change, or the system ends this process (SIGBUS); `load_array` has no such limit.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a .npy file, is damaged, or holds Python objects.
    """
    path = as_path(path)
    check_is_file(path)
    try:
        array = np.lib.format.open_memmap(path, mode="r")
        _check_end(array.offset + array.nbytes, path)
    except Exception as error:  # numpy raises a dozen kinds of error on damaged files
        raise unreadable(path, ".npy", error) from None
    return array


def _check_end(end: int, path: Path) -> None:
    """ValueError if a file goes on after its array, as one that `np.save` wrote to twice does."""
    if more := path.stat().st_size - end:
        raise ValueError(f"{more} bytes follow its array; save one array a file")


def read_codes(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """Read packed codes from a .npy file; the inverse of `write_npy`.

    Returns
    -------
    codes : uint8 array of shape (n, n_bytes)

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a .npy file, is empty or damaged, or its array is not a uint8 matrix.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "codes.npy"
    >>> write_npy(path, np.array([[5, 1]], dtype=np.uint8))
    >>> read_codes(path)
    array([[5, 1]], dtype=uint8)
    """
    path, hint = Path(path), "; structhash encode makes codes"
    check_file(path, (".npy",), hint)
    codes = load_array(path)
    if codes.dtype != np.uint8 or codes.ndim != 2:
        raise ValueError(
            f"codes of {path} must be uint8 of shape (n, n_bytes), "
            f"got {codes.dtype} of shape {codes.shape}{hint}"
        )
    return codes


def write_npy(path: str | os.PathLike[str], array: ArrayLike) -> None:
    """Write an array to a .npy file, atomically.

    Raises
    ------
    FileExistsError
        If `path` is a structhash file, such as a model.
    FileNotFoundError
        If the folder does not exist.
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
    check_replaced(path)
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.save(file, array, allow_pickle=False)
