"""Class labels, one or several a row: rows that share a label belong together."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import labels_in_use, read_labels, share_a_label
from structhash._numerics.memory import allocate
from structhash._numerics.validation import counted, describe
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

__all__ = ["Labels", "check_classes", "check_labels"]

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
    y : array (n,), (n, 1), or (n, L) of 0/1, L >= 2
        One label a row (text, bytes, booleans, whole numbers or dates), or an indicator matrix of L labels. A
        row without a label is never a query and never relevant. Where each row has exactly one label, the
        columns of an indicator matrix are classes.
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

    y: Any
    n_near: int = 50
    n_far: int = 100
    sampling: str = "random"

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Draw the partners of every point.

        Raises
        ------
        ValueError
            If `read_labels` refuses y, no point has both kinds of partner, or a number of partners or the
            sampling is not allowed.
        """
        values, index, indicators = read_labels(self.y, len(X))
        check_partners(self.n_near, self.n_far)
        if self.sampling not in _SAMPLING:
            raise ValueError(f"sampling={describe(self.sampling)}: give {' or '.join(_SAMPLING)}")
        if indicators is not None:
            return self._draw_by_block(X, lambda rows: share_a_label(indicators[rows], indicators), rng)
        index, sizes = check_classes(values, index)
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


def check_labels(y: Any, n_rows: int, single_rows: bool = False) -> NDArray[Any]:
    """Labels that can be learned from, one or several a row.

    Parameters
    ----------
    y : array (n,), (n, 1) or (n, L)
        Labels as `structhash._numerics.labels.read_labels` takes them.
    n_rows : int
        Number of rows that need labels.
    single_rows : bool
        Whether one row a class is enough, where each row has one label.

    Returns
    -------
    int64 (n,) or bool (n, k)
        Class numbers from 0, in the order of the labels. Where some row has none or several labels: which each
        row has, of the k labels that are in use.

    Raises
    ------
    ValueError, TypeError
        If `read_labels` refuses y, no two rows share a label (unless one row a class is enough), or all rows
        have the same labels.

    Examples
    --------
    >>> check_labels(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    >>> check_labels([[1, 0, 1], [1, 0, 0], [0, 0, 1]], 3).astype(int).tolist()
    [[1, 1], [1, 0], [0, 1]]
    """
    values, index, indicators = read_labels(y, n_rows)
    if indicators is None:
        if not (single_rows and 1 < len(values) == n_rows):
            check_classes(values, index)
        return index
    used = indicators[:, labels_in_use(indicators)]
    if used.sum(axis=0).max() < 2:
        raise ValueError(f"no two of the {n_rows} rows share a label; give rows that do")
    return used


def check_classes(
    values: NDArray[Any], index: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The class index of each row, and the rows of each class; ValueError where labels tell no rows apart."""
    n, sizes = len(index), np.bincount(index)
    if len(values) < 2:
        who = "the only row has" if n == 1 else f"all {n} rows have"
        raise ValueError(f"{who} the label {values.tolist()[0]!r}; give at least 2 classes")
    if sizes.max() == 1:
        raise ValueError(f"each of the {n} rows has a label of its own; at least one class needs 2 rows")
    if values.dtype.kind == "i" and len(values) > 2 and values[0] == -1:
        logger.warning(
            "the label -1 is a class like any other, of %s; give rows that have no label as unlabeled=",
            counted(sizes[0], "row"),
        )
    return index, sizes
