"""What a user knows about which points belong together, in the two shapes that masters read.

Every supervision gives `triplets` (i, j, k: i is nearer to j than to k) and `rankings` (a query with its
relevant and its irrelevant points). Row numbers refer to the training matrix.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from structhash.pieces import Rankings

logger = logging.getLogger(__name__)


@runtime_checkable
class Supervision(Protocol):
    """Anything `fit` takes as `y` besides an array of labels."""

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]: ...

    def rankings(self, X: NDArray[Any], rng: np.random.Generator) -> Rankings: ...


@dataclass(frozen=True)
class Labels:
    """One class label a row; relevant = same label.

    For each point `n_near` relevant and `n_far` irrelevant points are drawn at random, all where there are
    fewer. A point without a relevant or without an irrelevant partner asks nothing: it is skipped as a
    query, with a warning in the log that counts such points.

    Parameters
    ----------
    y : ndarray (n,), any dtype with an order
    n_near, n_far : int
        Partners drawn for each point (the paper: 50 and 100, Section 5.1).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((4, 1))
    >>> r = Labels(np.array(["a", "a", "b", "b"])).rankings(X, np.random.default_rng(0))
    >>> r.near.tolist(), r.near_ptr.tolist()
    ([1, 0, 3, 2], [0, 1, 2, 3, 4])
    """

    y: NDArray[Any]
    n_near: int = 50
    n_far: int = 100

    def rankings(self, X: NDArray[Any], rng: np.random.Generator) -> Rankings:
        """Draw the partners of every point.

        Raises
        ------
        ValueError
            If labels and rows differ in number, or no point has both kinds of partner, or labels have no order,
            or a number of partners is not allowed.
        """
        y = np.asarray(self.y)
        if y.shape != (len(X),):
            raise ValueError(f"labels have shape {y.shape}; give one label for each of the {len(X)} rows")
        for name, count in (("n_near", self.n_near), ("n_far", self.n_far)):
            if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
                raise ValueError(f"{name}={count!r}: give an integer of at least 1, the points to draw")
        try:
            names, label = np.unique(y, return_inverse=True)
        except TypeError as error:
            raise ValueError(
                f"labels have no common order ({error}); give numbers only or text only"
            ) from error
        if len(names) < 2:
            raise ValueError(f"all {len(y)} rows have the label {names.tolist()[0]!r}; give at least 2 classes")
        order = np.argsort(label, kind="stable")
        begin = np.searchsorted(label[order], np.arange(len(names) + 1))
        size = np.diff(begin)
        queries = np.flatnonzero(size[label] > 1)
        if len(queries) == 0:
            raise ValueError(
                f"each of the {len(y)} rows has a label of its own; at least one class needs 2 rows"
            )
        if len(queries) < len(y):
            logger.warning(
                "%d of %d points are the only ones of their class: skipped as queries",
                len(y) - len(queries),
                len(y),
            )
        rank = np.empty(len(y), np.int64)  # place of a row among the rows of its class
        rank[order] = np.arange(len(y)) - np.repeat(begin[:-1], size)
        near, far = [], []
        for i in queries:
            c = label[i]
            draw = rng.choice(size[c] - 1, min(self.n_near, size[c] - 1), replace=False)
            near.append(order[begin[c] + draw + (draw >= rank[i])])
            n_other = len(y) - size[c]
            draw = rng.choice(n_other, min(self.n_far, n_other), replace=False)
            far.append(order[draw + size[c] * (draw >= begin[c])])
        return Rankings(queries, np.concatenate(near), pointers(near), np.concatenate(far), pointers(far))

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Every (query, near, far) of `rankings`, listed: int32 (T, 3)."""
        return list_triplets(self.rankings(X, rng)), None


@dataclass(frozen=True)
class Triplets:
    """Explicit comparisons: row i is nearer to row j than to row k.

    Parameters
    ----------
    indices : int array (T, 3)
        Row numbers i, j, k of the training matrix.
    weights : float array (T,), optional
        Non-negative importance of each triplet; all alike by default.

    Examples
    --------
    >>> import numpy as np
    >>> r = Triplets(np.array([[0, 1, 2]])).rankings(np.zeros((3, 1)), np.random.default_rng(0))
    >>> r.queries, r.near, r.far
    (array([0]), array([1]), array([2]))
    """

    indices: NDArray[Any]
    weights: NDArray[np.float64] | None = None

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """The triplets (T, 3) int32 and weights, checked against the rows of X.

        Raises
        ------
        ValueError
            On a wrong shape or dtype, a row number outside X, equal rows in a triplet, or bad weights.
        """
        t = np.asarray(self.indices)
        if t.ndim != 2 or t.shape[1] != 3 or len(t) == 0 or not np.issubdtype(t.dtype, np.integer):
            raise ValueError(
                f"triplets are {t.dtype} of shape {t.shape}; give integers of shape (T, 3), T >= 1"
            )
        if t.min() < 0 or t.max() >= len(X):
            raise ValueError(
                f"triplets name rows {t.min()} to {t.max()}; the matrix has rows 0 to {len(X) - 1}"
            )
        same = (t[:, 0] == t[:, 1]) | (t[:, 0] == t[:, 2]) | (t[:, 1] == t[:, 2])
        if same.any():
            first = int(same.argmax())
            raise ValueError(f"triplet {first} is {t[first].tolist()}; its three rows must differ")
        weights = None if self.weights is None else np.asarray(self.weights, np.float64)
        if weights is not None and (
            weights.shape != (len(t),)
            or not np.isfinite(weights).all()
            or weights.min() < 0
            or weights.sum() == 0
        ):
            raise ValueError(
                f"triplet weights must be {len(t)} finite numbers >= 0, not all 0; got shape {weights.shape}"
            )
        return t.astype(np.int32), weights

    def rankings(self, X: NDArray[Any], rng: np.random.Generator) -> Rankings:
        """Each triplet as a query with one near and one far point."""
        t, weights = self.triplets(X, rng)
        i, j, k = t.astype(np.int64).T
        pointer = np.arange(len(t) + 1)
        return Rankings(i, j, pointer, k, pointer, weights)


def as_supervision(y: Any, n_near: int = 50, n_far: int = 100) -> Supervision:
    """`y` itself where it is a supervision, else `Labels` of it."""
    if isinstance(y, type):
        raise TypeError(f"y is the class {y.__name__}; give an instance of it")
    return y if isinstance(y, Supervision) else Labels(np.asarray(y), n_near, n_far)


def pointers(parts: list[NDArray[Any]]) -> NDArray[np.int64]:
    """CSR pointers of a list of arrays."""
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def list_triplets(rankings: Rankings) -> NDArray[np.int32]:
    """Every (query, near, far), int32 (T, 3)."""
    rows = []
    for q, i in enumerate(rankings.queries):
        near = rankings.near[rankings.near_ptr[q] : rankings.near_ptr[q + 1]]
        far = rankings.far[rankings.far_ptr[q] : rankings.far_ptr[q + 1]]
        j, k = np.repeat(near, len(far)), np.tile(far, len(near))
        rows.append(np.column_stack([np.full(len(j), i), j, k]))
    return np.concatenate(rows).astype(np.int32)
