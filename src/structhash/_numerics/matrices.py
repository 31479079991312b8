"""Vectors of any container as one matrix, and the check that its numbers are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash._numerics.validation import describe, refuse_masked

__all__ = ["check_finite_rows", "open_matrix", "read_matrix"]


def open_matrix(X: Any, name: str = "X") -> Any:
    """Open rows as an array; a frame and a sparse matrix stay as they are.

    A column of vectors, such as a Series of arrays, becomes the matrix of its vectors.

    Parameters
    ----------
    X : array (n, d), frame, list, or column of n vectors
    name : str
        What error messages call X.

    Returns
    -------
    ndarray, frame or sparse matrix

    Raises
    ------
    ValueError, TypeError
        If X is masked or no rows at all, or its vectors have several lengths.

    Examples
    --------
    >>> column = np.empty(2, object)
    >>> column[:] = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    >>> open_matrix(column).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    refuse_masked(name, X)
    if hasattr(X, "collect") and not hasattr(X, "shape"):  # a LazyFrame of polars
        raise TypeError(f"{name} is {describe(X)}, which has no rows yet; give {name}.collect()")
    if hasattr(X, "toarray") or (hasattr(X, "columns") and X.shape[1] != 1):
        return X
    try:
        rows = np.asarray(X)
    except ValueError:  # a list of rows of several lengths
        rows = np.empty(len(X), object)
        rows[:] = X
    if rows.ndim == 0 and rows.dtype.kind in "OSU":  # None, a path, a dict, an iterator
        raise TypeError(f"{name} is {describe(X)}; give a matrix of numbers (n, d)")
    if rows.dtype == object and rows.ndim and rows.size == len(rows):  # also a frame with one column
        vectors = [np.asarray(row) for row in rows.ravel()]
        lengths = {vector.shape for vector in vectors}
        if len(lengths) > 1:
            first = next(row for row, vector in enumerate(vectors) if vector.shape != vectors[0].shape)
            raise ValueError(
                f"{name} holds rows of several lengths: row 0 has shape {vectors[0].shape} and row {first} has "
                f"shape {vectors[first].shape}; give vectors of one length"
            )
        if lengths and vectors[0].ndim == 1:
            return np.stack(vectors)
    return X if hasattr(X, "columns") else rows


def read_matrix(X: Any, name: str = "X") -> NDArray[Any]:
    """Rows of any container as a matrix (n, d) of finite numbers; ValueError or TypeError where they are none.

    >>> read_matrix([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    opened = open_matrix(X, name)
    if hasattr(opened, "toarray"):
        raise TypeError(f"{name} is sparse; give {name}.toarray()")
    rows = np.asarray(opened)
    if rows.dtype.kind in "OSU":
        try:
            rows = rows.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} holds what is no number ({error}); give numbers") from None
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        raise ValueError(f"{name} is {rows.dtype} of shape {rows.shape}; give a matrix of numbers (n, d)")
    for block in row_slices(len(rows)):
        check_finite_rows(rows[block], name, block.start)
    return rows


def check_finite_rows(X: NDArray[Any], name: str = "X", first_row: int = 0) -> None:
    """Raise ValueError where a float matrix (n, d) holds NaN or infinity, and say where the first one is.

    Parameters
    ----------
    X : ndarray (n, d)
        A block of rows.
    name : str
        What the error message calls the rows.
    first_row : int
        Number of the first row of the block.

    Examples
    --------
    >>> check_finite_rows(np.array([[0.0, np.nan]]), "X", 5)
    Traceback (most recent call last):
    ...
    ValueError: X holds NaN in row 5, column 1; remove or replace such numbers
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):  # fast, and right wherever it is finite
            return
    finite = np.isfinite(X)
    if not finite.all():
        row, column = np.unravel_index(int(finite.argmin()), X.shape)
        what = "NaN" if np.isnan(X[row, column]) else "infinity"
        raise ValueError(
            f"{name} holds {what} in row {first_row + row}, column {column}; remove or replace such numbers"
        )
