"""Columns of Arrow tables as numpy arrays. Only `import_arrow` needs pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.optional import not_installed
from structhash._numerics.validation import describe

__all__ = [
    "holds_ids",
    "holds_numbers",
    "holds_text",
    "holds_vectors",
    "import_arrow",
    "plain_ids",
    "plain_values",
    "vectors",
]


def import_arrow(needed_by: str) -> Any:
    """The module pyarrow; ImportError that names what needs it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise not_installed("pyarrow", needed_by, "parquet", error) from error
    return pyarrow


def holds_vectors(kind: Any, of: str = "f") -> bool:
    """Whether a type of Arrow is a list of numbers, of the kinds of numpy in `of`."""
    types = import_arrow("an Arrow table").types
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(each(kind) for each in lists) and _number_kind(kind.value_type) in set(of)


def holds_numbers(kind: Any) -> bool:
    """Whether a type of Arrow is a number or a boolean."""
    return _number_kind(kind) != ""


def holds_ids(kind: Any) -> bool:
    """Whether a type of Arrow is text or a whole number, so that its values can be ids."""
    return holds_text(kind) or _number_kind(_plain(kind)) in set("iu")


def holds_text(kind: Any) -> bool:
    """Whether a type of Arrow is text."""
    types, kind = import_arrow("an Arrow table").types, _plain(kind)
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _number_kind(kind: Any) -> str:
    """The kind of a numpy type, "" where the type of Arrow is no number."""
    types = import_arrow("an Arrow table").types
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        return ""
    return np.dtype(kind.to_pandas_dtype()).kind


def _plain(kind: Any) -> Any:
    """The type of the values, where each value is kept once."""
    return kind.value_type if import_arrow("an Arrow table").types.is_dictionary(kind) else kind


def vectors(column: Any, name: str, n_columns: int | None = None, first_row: int = 0) -> NDArray[Any]:
    """A column of lists as a matrix, which shares the memory of the column where it can.

    Parameters
    ----------
    column : pyarrow.Array
        Of lists, in which `holds_vectors`.
    name : str
        What error messages call the column.
    n_columns : int, optional
        Length of each list; by default that of the first.
    first_row : int
        Number of the first row, for error messages.

    Returns
    -------
    ndarray (n, n_columns)

    Raises
    ------
    ValueError
        If a list or a number is missing, or a list has another length.
    """
    compute = import_arrow("an Arrow table").compute
    _refuse_nulls(column, name, first_row, "the vector")
    lengths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    n_columns = n_columns if n_columns is not None else int(lengths[0]) if len(lengths) else 0
    if n_columns == 0 and len(lengths):
        raise ValueError(f"{name} has no numbers in row {first_row}; give vectors of one length")
    if (other := lengths != n_columns).any():
        row = int(other.argmax())
        raise ValueError(
            f"{name} has {lengths[row]} numbers in row {first_row + row}, not {n_columns}; give vectors of one "
            "length"
        )
    numbers = column.flatten()
    if numbers.null_count:
        row, place = divmod(_first_null(numbers), n_columns)
        raise ValueError(
            f"{name} lacks number {place} of the vector in row {first_row + row}; remove or fill it"
        )
    matrix: NDArray[Any] = numbers.to_numpy(zero_copy_only=False).reshape(len(column), n_columns)
    return matrix


def plain_values(column: Any, name: str, first_row: int = 0, what: str = "the number") -> NDArray[Any]:
    """A column of plain values as an array (n,), text as objects; ValueError if one is missing.

    Parameters
    ----------
    column : pyarrow.Array
    name : str
        What error messages call the column.
    first_row : int
        Number of the first row, for error messages.
    what : str
        What error messages call a value.

    Returns
    -------
    ndarray (n,)
    """
    if import_arrow("an Arrow table").types.is_dictionary(column.type):
        column = column.dictionary_decode()
    _refuse_nulls(column, name, first_row, what)
    if holds_text(column.type):
        try:
            column.validate(full=True)
        except ValueError as error:
            raise ValueError(f"{name} holds text that is not UTF-8 ({error}); write it as UTF-8") from None
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def plain_ids(column: Any, name: str, first_row: int = 0) -> NDArray[Any]:
    """A column of ids as int64, or as an object array of str; ValueError if one is missing or is neither."""
    if not holds_ids(column.type):
        raise ValueError(f"{name} is {column.type}; ids are whole numbers or text")
    values = plain_values(column, name, first_row, "the id")
    if values.dtype == object:
        return values
    if values.size and values.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} holds the id {describe(int(values.max()))}; give ids below 2^63, or text")
    return values.astype(np.int64)


def _refuse_nulls(column: Any, name: str, first_row: int, what: str) -> None:
    """ValueError that names the first row without a value."""
    if column.null_count:
        raise ValueError(f"{name} lacks {what} of row {first_row + _first_null(column)}; remove or fill it")


def _first_null(column: Any) -> int:
    """Position of the first value that is missing."""
    return int(column.is_null().to_numpy(zero_copy_only=False).argmax())
