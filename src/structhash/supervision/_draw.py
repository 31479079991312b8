"""Draws of partners, and `Comparisons` from lists of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.pair_weights import Comparisons


def draw_some(rng: np.random.Generator, pool: NDArray[Any], count: int) -> NDArray[Any]:
    """`count` members of a pool at random; all of them where there are fewer."""
    return rng.choice(pool, min(count, len(pool)), replace=False)


def draw_others(rng: np.random.Generator, n: int, taken: NDArray[Any], count: int) -> NDArray[Any]:
    """`count` numbers below n at random that are not taken; all of them where there are fewer.

    Parameters
    ----------
    rng : Generator
    n : int
    taken : int array (m,)
        Distinct numbers below n, sorted.
    count : int

    Returns
    -------
    int array

    Examples
    --------
    >>> sorted(draw_others(np.random.default_rng(0), 5, np.array([0, 3]), 9).tolist())
    [1, 2, 4]
    """
    n_free = n - len(taken)
    place = rng.choice(n_free, min(count, n_free), replace=False) if n_free else np.zeros(0, np.int64)
    return place + np.searchsorted(taken - np.arange(len(taken)), place, side="right")


def make_comparisons(
    queries: list[Any],
    near: list[NDArray[Any]],
    far: list[NDArray[Any]],
    weights: NDArray[np.float64] | None = None,
) -> Comparisons:
    """`Comparisons` from lists.

    Parameters
    ----------
    queries : list of int
        Row number of each of Q queries.
    near, far : lists of Q int arrays
        Partners of each query.
    weights : float64 (Q,), optional

    Returns
    -------
    Comparisons
    """
    flat_near, flat_far = (np.concatenate(parts).astype(np.int32) for parts in (near, far))
    return Comparisons(
        np.array(queries, np.int64), flat_near, pointers(near), flat_far, pointers(far), weights
    )  # fmt: skip


def pointers(parts: list[NDArray[Any]]) -> NDArray[np.int64]:
    """CSR pointers of a list of arrays."""
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
