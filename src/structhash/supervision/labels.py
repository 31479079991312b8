"""Class labels, one or several a row: what shares a label belongs together."""

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
from structhash.supervision.nearest import blocks, closest, distances, kth, scaled
from structhash.supervision.shared import Supervision, check_partners, draw, gather, list_triplets

logger = logging.getLogger(__name__)

SAMPLING = ("random", "hard")


@dataclass(frozen=True)
class Labels:
    """Class labels; relevant = same label, or at least one label in common.

    For each point `n_near` relevant and `n_far` irrelevant points are drawn, all where there are fewer. A point
    without a relevant or without an irrelevant partner asks nothing: it is skipped as a query, with a warning
    in the log that counts such points.

    Parameters
    ----------
    y : ndarray (n,), any dtype with an order, or (n, L) of 0/1, L >= 2
        One label a row; or which of L labels a row has. A row that has none is no query and never relevant.
    n_near, n_far : int
        Partners drawn for each point (the paper: 50 and 100, Section 5.1).
    sampling : str
        ``"random"`` draws all partners at random; ``"hard"`` takes the irrelevant points that are nearest by
        L2, equal distances by row number, and draws the relevant ones.

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
            If labels and rows differ in number, or no point has both kinds of partner, or labels have no order
            or are no indicators, or a number of partners or the sampling is not allowed.
        """
        y = np.asarray(self.y)
        several = y.ndim == 2 and y.shape[1] > 1
        if len(y.shape) == 0 or len(y) != len(X) or not (several or y.ndim == 1):
            raise ValueError(f"labels have shape {y.shape}; give one label for each of the {len(X)} rows")
        check_partners(self.n_near, self.n_far)
        if self.sampling not in SAMPLING:
            raise ValueError(f"sampling={describe(self.sampling)}: give {' or '.join(SAMPLING)}")
        if several:
            if not is_indicator(y):
                raise ValueError(f"labels of shape {y.shape} must be 0 or 1, which of {y.shape[1]} a row has")
            Y = y.astype(np.float32)
            return self.by_block(X, lambda rows: Y[rows] @ Y.T > 0, rng)
        label, size = classify(y)
        if self.sampling == "random":
            return self.by_class(label, size, rng)
        return self.by_block(X, lambda rows: label[rows, None] == label, rng)

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Every (query, near, far) of `comparisons`, listed: int32 (T, 3)."""
        return list_triplets(self.comparisons(X, rng)), None

    def by_class(self, label: NDArray[Any], size: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Random partners where classes do not overlap, without a look at all pairs."""
        n = len(label)
        order = np.argsort(label, kind="stable")
        begin = np.concatenate([[0], np.cumsum(size)])
        queries = np.flatnonzero(size[label] > 1)
        if len(queries) < n:
            logger.warning(
                "%d of %d points are the only ones of their class: skipped as queries", n - len(queries), n
            )
        rank = np.empty(n, np.int64)  # place of a row among the rows of its class
        rank[order] = np.arange(n) - np.repeat(begin[:-1], size)
        own = size[label[queries]]
        near_ptr = np.append(0, np.cumsum(np.minimum(self.n_near, own - 1)))
        far_ptr = np.append(0, np.cumsum(np.minimum(self.n_far, n - own)))
        near, far = allocate(near_ptr[-1], np.int32), allocate(far_ptr[-1], np.int32)
        for q, i in enumerate(queries):
            c, ours, theirs = label[i], slice(*near_ptr[q : q + 2]), slice(*far_ptr[q : q + 2])
            place = rng.choice(size[c] - 1, near_ptr[q + 1] - near_ptr[q], replace=False)
            near[ours] = order[begin[c] + place + (place >= rank[i])]
            place = rng.choice(n - size[c], far_ptr[q + 1] - far_ptr[q], replace=False)
            far[theirs] = order[place + size[c] * (place >= begin[c])]
        return Comparisons(queries, near, near_ptr, far, far_ptr)

    def by_block(
        self, X: NDArray[Any], shares: Callable[[slice], NDArray[np.bool_]], rng: np.random.Generator
    ) -> Comparisons:
        """Partners from who `shares` a label with some rows, bool (rows, n), a block of rows at a time."""
        n, hard = len(X), self.sampling == "hard"
        space = scaled(X) if hard else None
        queries, near, far = [], [], []
        for rows in blocks(n):
            together = shares(rows)
            if space is not None:
                apart = distances(space, rows)
                apart[together] = np.inf
                edges = kth(apart, min(self.n_far, n))
            for i, same in enumerate(together, rows.start):
                relevant, others = np.flatnonzero(same), np.flatnonzero(~same)
                relevant = relevant[relevant != i]
                if len(relevant) == 0 or len(others) == 0:
                    continue
                queries.append(i)
                near.append(draw(rng, relevant, self.n_near))
                if hard:
                    row = i - rows.start
                    far.append(closest(X, i, apart[row], edges[row], self.n_far))
                else:
                    far.append(draw(rng, others, self.n_far))
        if not queries:
            raise ValueError(
                f"none of the {n} rows shares a label with some row and none with another; give other labels"
            )
        if len(queries) < n:
            logger.warning(
                "%d of %d points have no relevant or no irrelevant partner: skipped as queries",
                n - len(queries),
                n,
            )
        return gather(queries, near, far)


def classify(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Class number of each row and rows of each class; ValueError where they say nothing."""
    try:
        names, label, size = np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise ValueError(f"labels have no common order ({error}); give numbers only or text only") from error
    if len(names) < 2:
        raise ValueError(f"all {len(y)} rows have the label {names.tolist()[0]!r}; give at least 2 classes")
    if size.max() == 1:
        raise ValueError(f"each of the {len(y)} rows has a label of its own; at least one class needs 2 rows")
    return label, size


def check_labels(y: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Class number of each row, int64 (n,), and the number of classes; ValueError where labels say nothing."""
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError("Unknown label type: continuous; y holds fractions, give classes or a supervision")
    label, size = classify(y)
    return label.astype(np.int64), len(size)


def is_indicator(y: Any) -> bool:
    """Whether y says by 0/1 which of L >= 2 labels each row has."""
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
    """`y` itself where it is a supervision, else `Labels` of it."""
    if isinstance(y, type):
        raise TypeError(f"y is the class {y.__name__}; give an instance of it")
    return y if isinstance(y, Supervision) else Labels(np.asarray(y), n_near, n_far)
