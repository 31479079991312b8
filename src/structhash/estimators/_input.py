"""Training rows, checked without a change to the estimator."""

from __future__ import annotations

import copy
import logging
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from structhash._numerics.blocks import as_floats, float_type, row_slices
from structhash._numerics.matrices import check_finite_rows, open_matrix
from structhash._numerics.validation import join_names
from structhash.estimators._unit import doubt_unit, extreme_lengths
from structhash.supervision import Labels, Qrels, Supervision

logger = logging.getLogger("structhash")

_ABOUT_COLUMNS = ("n_features_in_", "feature_names_in_", "column_names_", "row_lengths_")


class CheckedInput(NamedTuple):
    """Training rows after the checks, and what is stored about the columns.

    Attributes
    ----------
    X : ndarray (n, d)
        As `training_rows` gives them: codes depend on the numbers alone.
    columns : dict
        ``n_features_in_`` and, where the columns have names other than 0, 1, 2, ..., ``column_names_``;
        where all names are text, also ``feature_names_in_``. ``row_lengths_``, too.
    """

    X: NDArray[Any]
    columns: dict[str, Any]


def check_input(estimator: BaseEstimator, X: Any, keep: bool, magnitudes: tuple[float, float]) -> CheckedInput:
    """Check X for `fit`; the estimator does not change.

    Parameters
    ----------
    estimator : HashEncoder
    X : array (n, d)
    keep : bool
        See `training_rows`.
    magnitudes : (float, float)
        See `HashEncoder`.

    Returns
    -------
    CheckedInput

    Raises
    ------
    ValueError, TypeError
        If X is not a finite matrix of at least two rows.
    """
    probe = copy.copy(estimator)  # scikit-learn writes the columns into the estimator it is given
    rows = training_rows(_validate(probe, X, reset=True, ensure_min_samples=2), keep)
    _check_magnitudes(type(estimator).__name__, rows, magnitudes)
    vars(probe).pop("column_names_", None)
    names = _names_in(X, rows.shape[1])
    if names is not None and ("feature_names_in_" in vars(probe) or names != _numbered_names(len(names))):
        probe.column_names_ = names
    probe.row_lengths_ = extreme_lengths(rows)
    return CheckedInput(rows, columns_of(probe))


def columns_of(estimator: BaseEstimator) -> dict[str, Any]:
    """What an estimator stores about the columns: see `CheckedInput`."""
    return {name: vars(estimator)[name] for name in _ABOUT_COLUMNS if name in vars(estimator)}


def training_rows(rows: NDArray[Any], keep: bool) -> NDArray[Any]:
    """Rows in C order, in the byte order of this machine and in a type that follows from their values.

    Rows of float32 numbers are float32, all others float64, whatever type they come in.

    Parameters
    ----------
    rows : ndarray (n, d)
        Of any number type and layout.
    keep : bool
        Whether to keep a type such as float16, which becomes the right floats later, a block at a time.

    Returns
    -------
    ndarray (n, d)
        Not a copy if they are so already.
    """
    dtype = np.dtype(np.float32 if _are_float32(rows) else np.float64)
    if keep and float_type(rows.dtype) == dtype:
        dtype = rows.dtype.newbyteorder("=")
    return rows.astype(dtype, order="C", copy=False)


def _are_float32(rows: NDArray[Any]) -> bool:
    """Whether float32 holds all numbers exactly, and none is near the end of its range."""
    if float_type(rows.dtype) == np.float32:
        return True
    for block in row_slices(len(rows)):
        X = as_floats(rows[block])
        with np.errstate(over="ignore"):
            exact = (X.astype(np.float32) == X) & (np.abs(X) <= _largest(np.float32))
        if not exact.all():
            return False
    return True


def _largest(dtype: Any) -> float:
    """The largest magnitude of training rows in a float type, so that sums of squares do not overflow soon."""
    return float(np.finfo(dtype).max) / 1e8


def open_rows(estimator: BaseEstimator, X: Any) -> NDArray[Any]:
    """Rows to encode: a matrix of the right width whose numbers are not checked yet."""
    opened: NDArray[Any] = _validate(estimator, X, reset=False, ensure_min_samples=0)
    names = _names_in(X, opened.shape[1])
    if names is not None:
        _check_names(names, estimator.column_names_)
    return opened


def open_in_unit(estimator: BaseEstimator, X: Any) -> NDArray[Any]:
    """`open_rows`, with a warning where rows are far longer or shorter than the training rows."""
    rows = open_rows(estimator, X)
    warn_of_unit("X", rows, estimator, stacklevel=4)
    return rows


def warn_of_unit(name: str, rows: NDArray[Any], estimator: BaseEstimator, stacklevel: int = 2) -> None:
    """Warn where rows (n, d), called `name`, are far longer or shorter than the training rows."""
    if doubt := doubt_unit(name, rows, estimator.row_lengths_):
        warnings.warn(f"{doubt}; give rows in the unit of the training rows", stacklevel=stacklevel)


def _names_in(X: Any, n_columns: int) -> list[str] | None:
    """The names of columns of a frame or an Arrow table, of any type, as text; None for anything else."""
    names = getattr(X, "column_names" if hasattr(type(X), "column_names") else "columns", ())
    return [str(name) for name in names] if len(names) == n_columns else None


def _numbered_names(n_columns: int) -> list[str]:
    """The names of columns that have none."""
    return [str(j) for j in range(n_columns)]


def _check_names(names: list[str], fitted: list[str] | None) -> None:
    """Refuse other columns than those fitted on, or another order.

    Rows without names had the columns 0, 1, 2, ...: a frame is held to that if its columns are numbered too.
    """
    if fitted is None and not all(map(str.isdecimal, names)):
        return
    needed = fitted or _numbered_names(len(names))
    if names != needed:
        first = next(j for j, (name, other) in enumerate(zip(names, needed, strict=True)) if name != other)
        raise ValueError(
            f"X has the columns {join_names(names)}; the model was fitted on {join_names(needed)}, in this "
            f"order, and column {first} is the first to differ; give these columns, or X.to_numpy() if the "
            "numbers are the right ones"
        )


def open_beside(estimator: BaseEstimator, checked: CheckedInput, rows: Any, name: str) -> NDArray[Any]:
    """Rows with the columns of the training rows, as `open_rows`; errors call them `name`."""
    probe = copy.copy(estimator)
    for about in _ABOUT_COLUMNS:  # of an earlier fit
        vars(probe).pop(about, None)
    vars(probe).update(checked.columns)
    try:
        return open_rows(probe, rows)
    except (TypeError, ValueError) as error:  # its message has "X"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None


def open_queries(estimator: BaseEstimator, checked: CheckedInput, y: Any) -> Any:
    """Check queries of y against X, with a warning where they are in another unit; keep any other y.

    A frame is checked against the columns of X, and its numbers are put in its place.
    """
    if not isinstance(y, Qrels) or y.Q is None:
        return y
    if hasattr(y.Q, "columns"):
        y = replace(y, Q=open_beside(estimator, checked, y.Q, "Q"))
    y.check_queries(checked.X.shape[1])
    Q = y.query_vectors()
    if Q is not None and (doubt := doubt_unit("Q", Q, checked.columns.get("row_lengths_"))):
        logger.warning("%s; check that Q and X are in the same unit", doubt)
    return y


def refuse_supervision(estimator: BaseEstimator, y: Any, learns_from: str) -> None:
    """ValueError if y is a supervision, for a method that takes labels one a row."""
    if isinstance(y, Supervision):
        advice = "pass its y itself" if isinstance(y, Labels) else "give it to StructHash or CGHash"
        raise ValueError(
            f"{type(estimator).__name__} learns from {learns_from}; y is {type(y).__name__}: {advice}"
        )


def _check_magnitudes(method: str, rows: NDArray[Any], allowed: tuple[float, float]) -> None:
    """Refuse training rows with a number that is not finite, or too large or too small for the method."""
    largest = 0.0
    for block in row_slices(len(rows)):
        X = as_floats(rows[block])
        check_finite_rows(X, f"{method}: X", block.start)
        here = max(X.max(), -X.min())
        if here > _largest(X.dtype):
            raise ValueError(f"X reaches {here:.3g}, near the end of {X.dtype}; divide it by that")
        largest = max(largest, float(here))
    if largest and not allowed[0] <= largest <= allowed[1]:
        raise ValueError(f"X reaches {largest:.3g}, whose square {method} cannot hold; divide X by that")


def _validate(estimator: BaseEstimator, X: Any, **settings: Any) -> Any:
    """X with names, shape and type checked by scikit-learn, but not whether the numbers are finite.

    An array of numbers stays as it is.
    """
    X = open_matrix(X)
    if hasattr(X, "iloc"):
        _check_frame(X)
    dtype = _number_type(X)
    if dtype is not None and dtype.kind in "mM":
        raise TypeError(f"X is {dtype}; give numbers, such as days since a date")
    if dtype is not None and dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is {dtype}; give real numbers, such as np.abs(X)")
    if dtype is not None and dtype.kind == "V":
        raise TypeError(f"X has named fields ({', '.join(dtype.names or ())}); give a plain matrix (n, d)")
    if isinstance(X, np.ndarray) and X.ndim != 2:
        raise ValueError(
            f"X has shape {X.shape}; give a matrix (n, d). Reshape your data: X.reshape(1, -1) is one row, "
            "X.reshape(len(X), -1) a row for each entry"
        )
    number = dtype is not None and dtype.kind in "fiub"
    allowed: Any = [np.float64, np.float32]
    if number and isinstance(X, np.ndarray):
        allowed = None
    elif dtype is not None and number and dtype.itemsize <= 2:
        allowed = np.float32
    try:
        return validate_data(estimator, X, dtype=allowed, ensure_all_finite=False, **settings)
    except OverflowError as error:
        raise ValueError(f"X holds a number beyond float64 ({error}); give smaller ones") from None
    except (TypeError, ValueError) as error:
        _name_column(X, error)
        raise


def _check_frame(X: Any) -> None:
    """Refuse a pandas frame where two columns have one name, or that is sparse."""
    if not X.columns.is_unique:
        name = X.columns[X.columns.duplicated()].tolist()[0]
        raise ValueError(f"X has several columns named {name!r}; give each a name of its own")
    if any(hasattr(dtype, "fill_value") for dtype in X.dtypes):
        raise TypeError("X is a sparse frame; give X.astype(float), which is dense")


def _name_column(X: Any, error: Exception) -> None:
    """ValueError that names the first column of a pandas frame that is not of numbers, or lacks some."""
    frame = hasattr(X, "iloc")
    for place, name in enumerate(X.columns if frame else ()):
        column = X.iloc[:, place]
        try:
            if np.asarray(column).dtype.kind not in "mM":
                column.to_numpy(np.float64, na_value=np.nan)
                continue
        except (TypeError, ValueError):
            pass
        raise ValueError(f"column {name!r} of X is {column.dtype}; give columns of numbers only") from error
    if frame and isinstance(error, TypeError) and X.isna().any(axis=None):  # pandas.NA among objects
        row, place = np.argwhere(X.isna().to_numpy())[0]
        name = X.columns.tolist()[place]
        raise ValueError(
            f"X lacks the number of row {row}, column {name!r}; remove or replace such numbers"
        ) from error


def _number_type(X: Any) -> np.dtype[Any] | None:
    """The numpy type of an array, or the one that holds all columns of a frame; None where there is none."""
    if isinstance(dtype := getattr(X, "dtype", None), np.dtype):
        return dtype
    try:
        return np.result_type(*(getattr(each, "numpy_dtype", each) for each in X.dtypes))
    except (AttributeError, TypeError, ValueError):  # no frame, or a column that is not of numbers
        return None
