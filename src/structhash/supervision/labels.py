"""Class labels, one or several a row: rows that share a label belong together."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.memory import allocate
from structhash._numerics.validation import describe
from structhash.pair_weights import Comparisons
from structhash.supervision._draw import draw_some, make_comparisons
from structhash.supervision._nearest import (
    kth_smallest,
    nearest_rows,
    query_slices,
    scale_rows,
    squared_distances,
)
from structhash.supervision.base import Supervision, check_partners

__all__ = ["Labels", "as_supervision", "check_labels", "classify", "is_indicator"]

logger = logging.getLogger(__name__)

_SAMPLING = ("random", "hard")


@dataclass(frozen=True)
class Labels(Supervision):
    """Class labels; relevant = same label, or at least one label in common.

    For each point `n_near` relevant and `n_far` irrelevant points are drawn, all of them where there are fewer.
    A point without a relevant or without an irrelevant partner is skipped as a query; a warning in the log
    counts such points.

    Parameters
    ----------
    y : ndarray (n,), any dtype with an order, or (n, L) of 0/1, L >= 2
        One label a row, or an indicator matrix of L labels. A row without a label is never a query and never
        relevant.
    n_near, n_far : int
        Partners drawn for each point (the paper: 50 and 100, Section 5.1).
    sampling : str
        ``"random"`` draws all partners at random. ``"hard"`` takes the irrelevant points that are nearest by L2
        (of equal distances the lower row number first) and draws the relevant ones.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((4, 1))
    >>> r = Labels(np.array(["a", "a", "b", "b"])).comparisons(X, np.random.default_rng(0))
    >>> r.near.tolist(), r.near_ptr.tolist()
    ([1, 0, 3, 2], [0, 1, 2, 3, 4])
    """

    y: NDArray[Any]
    n_near: int = 50
    n_far: int = 100
    sampling: str = "random"

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Draw the partners of every point.

        Raises
        ------
        ValueError
            If labels and rows differ in number, no point has both kinds of partner, labels have no order or are
            not indicators, or a number of partners or the sampling is not allowed.
        """
        y = np.asarray(self.y)
        several = y.ndim == 2 and y.shape[1] > 1
        if len(y.shape) == 0 or len(y) != len(X) or not (several or y.ndim == 1):
            raise ValueError(f"labels have shape {y.shape}; give one label for each of the {len(X)} rows")
        check_partners(self.n_near, self.n_far)
        if self.sampling not in _SAMPLING:
            raise ValueError(f"sampling={describe(self.sampling)}: give {' or '.join(_SAMPLING)}")
        if several:
            if not is_indicator(y):
                raise ValueError(f"labels of shape {y.shape} must be 0 or 1, which of {y.shape[1]} a row has")
            Y = y.astype(np.float32)
            return self._draw_by_block(X, lambda rows: Y[rows] @ Y.T > 0, rng)
        index, sizes = classify(y)
        if self.sampling == "random":
            return self._draw_by_class(index, sizes, rng)
        return self._draw_by_block(X, lambda rows: index[rows, None] == index, rng)

    def _draw_by_class(
        self, index: NDArray[np.int64], sizes: NDArray[np.int64], rng: np.random.Generator
    ) -> Comparisons:
        """Random partners where classes do not overlap, without a look at all pairs."""
        n = len(index)
        order = np.argsort(index, kind="stable")
        begin = np.concatenate([[0], np.cumsum(sizes)])
        queries = np.flatnonzero(sizes[index] > 1)
        if len(queries) < n:
            logger.warning(
                "%d of %d points are the only ones of their class: skipped as queries", n - len(queries), n
            )
        rank = np.empty(n, np.int64)  # place of a row among the rows of its class
        rank[order] = np.arange(n) - np.repeat(begin[:-1], sizes)
        own = sizes[index[queries]]
        near_ptr = np.append(0, np.cumsum(np.minimum(self.n_near, own - 1)))
        far_ptr = np.append(0, np.cumsum(np.minimum(self.n_far, n - own)))
        near, far = allocate(near_ptr[-1], np.int32), allocate(far_ptr[-1], np.int32)
        for q, i in enumerate(queries):
            c, ours, theirs = index[i], slice(*near_ptr[q : q + 2]), slice(*far_ptr[q : q + 2])
            place = rng.choice(sizes[c] - 1, near_ptr[q + 1] - near_ptr[q], replace=False)
            near[ours] = order[begin[c] + place + (place >= rank[i])]
            place = rng.choice(n - sizes[c], far_ptr[q + 1] - far_ptr[q], replace=False)
            far[theirs] = order[place + sizes[c] * (place >= begin[c])]
        return Comparisons(queries, near, near_ptr, far, far_ptr)

    def _draw_by_block(
        self, X: NDArray[Any], shares: Callable[[slice], NDArray[np.bool_]], rng: np.random.Generator
    ) -> Comparisons:
        """Partners by `shares`, bool (rows, n), which marks the rows that share a label with a run of rows."""
        n, hard = len(X), self.sampling == "hard"
        space = scale_rows(X) if hard else None
        queries, near, far = [], [], []
        for rows in query_slices(n):
            together = shares(rows)
            if space is not None:
                distances = squared_distances(space, rows)
                distances[together] = np.inf
                edges = kth_smallest(distances, min(self.n_far, n))
            for i, same in enumerate(together, rows.start):
                relevant, others = np.flatnonzero(same), np.flatnonzero(~same)
                relevant = relevant[relevant != i]
                if len(relevant) == 0 or len(others) == 0:
                    continue
                queries.append(i)
                near.append(draw_some(rng, relevant, self.n_near))
                if hard:
                    row = i - rows.start
                    far.append(nearest_rows(X, i, distances[row], edges[row], self.n_far))
                else:
                    far.append(draw_some(rng, others, self.n_far))
        if not queries:
            raise ValueError(f"none of the {n} rows has both kinds of partner; give other labels")
        if len(queries) < n:
            logger.warning(
                "%d of %d points have no relevant or no irrelevant partner: skipped as queries",
                n - len(queries),
                n,
            )
        return make_comparisons(queries, near, far)


def check_labels(y: Any, n_rows: int) -> tuple[NDArray[np.int64], int]:
    """Class index of each row, and number of classes, of labels given to `fit`.

    Parameters
    ----------
    y : array (n,), any dtype with an order
        One label a row.
    n_rows : int
        Number of rows that need a label.

    Returns
    -------
    index : int64 (n,)
        Classes are numbered from 0, in the order of their labels.
    n_classes : int

    Raises
    ------
    ValueError
        If y is not one label a row, holds fractions, has no order, or has labels that are all the same or all
        distinct.

    Examples
    --------
    >>> index, n_classes = check_labels(["b", "a", "b"], 3)
    >>> index.tolist(), n_classes
    ([1, 0, 1], 2)
    """
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"labels have shape {labels.shape}; give one label for each of the {n_rows} rows")
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise ValueError("Unknown label type: continuous; y holds fractions, give classes or a supervision")
    index, sizes = classify(labels)
    return index, len(sizes)


def classify(y: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Class index of each row (n,), and rows of each class; ValueError where labels tell no rows apart."""
    try:
        names, index, sizes = np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise ValueError(f"labels have no common order ({error}); give numbers only or text only") from error
    if len(names) < 2:
        raise ValueError(f"all {len(y)} rows have the label {names.tolist()[0]!r}; give at least 2 classes")
    if sizes.max() == 1:
        raise ValueError(f"each of the {len(y)} rows has a label of its own; at least one class needs 2 rows")
    return index, sizes


def is_indicator(y: Any) -> bool:
    """Whether y is an indicator matrix (n, L) of 0/1, L >= 2."""
    if getattr(y, "ndim", 2) != 2 or isinstance(y, str | bytes | type(None)):
        return False
    try:
        y = np.asarray(y)
    except ValueError:  # rows of different lengths
        return False
    return bool(
        y.ndim == 2 and y.shape[1] > 1 and y.dtype.kind in "biuf" and len(y) and ((y == 0) | (y == 1)).all()
    )


def as_supervision(y: Any, n_near: int = 50, n_far: int = 100) -> Supervision:
    """`y` itself where it is a supervision, else `Labels` of it.

    Parameters
    ----------
    y : Supervision or array
    n_near, n_far : int
        Settings of the `Labels`.

    Returns
    -------
    Supervision

    Raises
    ------
    TypeError
        If y is a class, not an instance.
    """
    if isinstance(y, type):
        raise TypeError(f"y is the class {y.__name__}; give an instance of it")
    return y if isinstance(y, Supervision) else Labels(np.asarray(y), n_near, n_far)
