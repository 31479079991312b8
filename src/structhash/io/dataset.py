"""A data set in memory, and the checks that its arrays pass before anything is computed from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.labels import refuse_look_alikes

__all__ = ["Dataset", "check_dataset", "check_matrix"]


class Dataset(NamedTuple):
    """The content of one data file; a part that the file lacks is None.

    Attributes
    ----------
    X : float32 or float64 array of shape (n, n_features)
        The rows.
    y : array whose first axis has length n, or None
        Labels.
    Q : float32 or float64 array of shape (n_queries, n_features), or None
        Queries.
    qrels : array or None
        Judgements, as they are in the file.
    names : list of str, or None
        Names of the features.
    label : str, or None
        Name of the column or array that holds the labels.
    ids : array of shape (n,), or None
        Ids of the rows: int64, or an object array of str.
    id_candidates : tuple of str
        Where the file has no ids: names of columns that are left out and may hold them.
    held : tuple of str
        Names of all columns or arrays that the file has; empty where labels have no name in files of its kind.
    """

    X: NDArray[Any]
    y: NDArray[Any] | None = None
    Q: NDArray[Any] | None = None
    qrels: NDArray[Any] | None = None
    names: list[str] | None = None
    label: str | None = None
    ids: NDArray[Any] | None = None
    id_candidates: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Sizes and dtypes, as `structhash info` prints them.

        >>> Dataset(np.zeros((3, 2)), y=np.array([0, 1, 1])).facts()
        {'kind': 'data', 'rows': 3, 'features': 2, 'dtype': 'float64', 'labels': 'int64', 'classes': 2}
        """
        facts: dict[str, Any] = {"kind": "data", "rows": len(self.X), "features": self.X.shape[1]}
        facts["dtype"] = str(self.X.dtype)
        if self.y is not None:
            indicators = self.y.ndim == 2 and self.y.shape[1] > 1
            n_classes = self.y.shape[1] if indicators else len(np.unique(self.y))
            facts |= {"labels": str(self.y.dtype), "classes": n_classes}
        if self.ids is not None:
            facts["ids"] = "text" if self.ids.dtype == object else str(self.ids.dtype)
        if self.Q is not None:
            facts["queries"] = len(self.Q)
        if self.qrels is not None:
            facts["judgements"] = len(self.qrels)
        return facts


def check_dataset(data: Dataset, path: Path) -> Dataset:
    """Return a data set whose arrays fit each other.

    Parameters
    ----------
    data : Dataset
        As a format read it.
    path : Path
        The file that it came from, for error messages.

    Returns
    -------
    data : Dataset
        X and Q as `check_matrix` returns them.

    Raises
    ------
    ValueError
        If `check_matrix` refuses X or Q, y does not have one label for each row or lacks one, or X and Q have
        different numbers of columns.
    """
    X, Q = check_matrix(data.X, f"X of {path}"), data.Q
    if data.y is not None and (data.y.ndim == 0 or len(data.y) != len(X)):
        raise ValueError(
            f"y of {path} has shape {data.y.shape}, but X has {len(X)} rows; give one label for each row"
        )
    if data.y is not None:
        _check_text_labels(data.y, f"{data.label or 'y'} of {path}")
    if Q is not None:
        Q = check_matrix(Q, f"Q of {path}")
        if Q.shape[1] != X.shape[1]:
            raise ValueError(
                f"Q of {path} has {Q.shape[1]} columns, but X has {X.shape[1]}; give both the same columns"
            )
    return data._replace(X=X, Q=Q)


def _check_text_labels(y: NDArray[Any], name: str) -> None:
    """Refuse text labels if one is missing (a file has no other way to say so) or two look the same."""
    if y.dtype.kind != "U":
        return
    if (missing := np.isin(y, ("", "nan", "NaN", "NaT", "None"))).any():
        row = int(np.argwhere(missing)[0][0])
        raise ValueError(f"{name} lacks the label of row {row}: it is {str(y[missing][0])!r}; give it a label")
    refuse_look_alikes(sorted(set(y.ravel().tolist())), name)


def check_matrix(X: ArrayLike, name: str = "X", first_row: int = 0) -> NDArray[Any]:
    """Return `X` as a finite float matrix.

    Parameters
    ----------
    X : array of shape (n, n_features)
        float32 and float64 stay. bool, float16 and integers up to 16 bits become float32, which holds them
        exactly. Longer integers become float64.
    name : str
        Name of the array in an error message.
    first_row : int
        Number of the first row in an error message, where X is a block of rows.

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
            f"{name} holds {n_nan} NaN and {n_inf} infinite values, the first at row {first_row + row}, "
            f"column {column}; remove or fill them"
        )
    return X
