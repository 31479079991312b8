"""What the kinds of supervision share: the protocol, checks, draws, and the shapes that masters read."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.pair_weights import Comparisons


@runtime_checkable
class Supervision(Protocol):
    """Anything `fit` takes as `y` besides an array of labels.

    One with query vectors of its own has `points(X)` too, which stacks them after the rows of X; row numbers
    then refer to it, and to X where there is none: see `points`.
    """

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]: ...

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons: ...


def points(supervision: Supervision, X: NDArray[Any]) -> NDArray[Any]:
    """The matrix to whose rows a supervision refers: its own `points(X)`, X where it has none."""
    own = getattr(supervision, "points", None)
    return X if own is None else own(X)


def check_partners(n_near: Any, n_far: Any) -> None:
    """ValueError unless both are integers >= 1."""
    for name, count in (("n_near", n_near), ("n_far", n_far)):
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise ValueError(f"{name}={describe(count)}: give an integer of at least 1, the points to draw")


def draw(rng: np.random.Generator, pool: NDArray[Any], count: int) -> NDArray[Any]:
    """`count` members of a pool at random, all where there are fewer."""
    return rng.choice(pool, min(count, len(pool)), replace=False)


def draw_outside(rng: np.random.Generator, n: int, taken: NDArray[Any], count: int) -> NDArray[Any]:
    """`count` numbers below n at random that are not among the sorted distinct ones `taken`, or all of them.

    Examples
    --------
    >>> sorted(draw_outside(np.random.default_rng(0), 5, np.array([0, 3]), 9).tolist())
    [1, 2, 4]
    """
    n_free = n - len(taken)
    place = rng.choice(n_free, min(count, n_free), replace=False) if n_free else np.zeros(0, np.int64)
    return place + np.searchsorted(taken - np.arange(len(taken)), place, side="right")


def gather(
    queries: list[Any], near: list[NDArray[Any]], far: list[NDArray[Any]], weights: Any = None
) -> Comparisons:
    """`Comparisons` from a list of queries and of their partners."""
    flat = [np.concatenate(side).astype(np.int32) for side in (near, far)]
    return Comparisons(
        np.array(queries, np.int64), flat[0], pointers(near), flat[1], pointers(far), weights
    )  # fmt: skip


def pointers(parts: list[NDArray[Any]]) -> NDArray[np.int64]:
    """CSR pointers of a list of arrays."""
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def list_triplets(rankings: Comparisons) -> NDArray[np.int32]:
    """Every (query, near, far), int32 (T, 3)."""
    rows = []
    for q, i in enumerate(rankings.queries):
        near = rankings.near[rankings.near_ptr[q] : rankings.near_ptr[q + 1]]
        far = rankings.far[rankings.far_ptr[q] : rankings.far_ptr[q + 1]]
        j, k = np.repeat(near, len(far)), np.tile(far, len(near))
        rows.append(np.column_stack([np.full(len(j), i), j, k]))
    return np.concatenate(rows).astype(np.int32)
