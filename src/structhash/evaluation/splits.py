"""Splits of labelled rows into training rows, queries and database: protocols of seen and of new classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import read_classes
from structhash._numerics.validation import counted

__all__ = [
    "Split",
    "labelled_queries",
    "mixed_known_classes",
    "mixed_new_classes",
    "seen_classes",
    "unseen_classes",
]

_SEEN_SHARE = 0.75  # of the classes, on which the protocols with new classes train


class Split(NamedTuple):
    """Row numbers of one evaluation, each array in random order.

    Attributes
    ----------
    train : int64 array
        Rows that a method learns from.
    queries : int64 array
        Rows that are searched with. No method learns from them.
    database : int64 array
        Rows that are searched in.
    """

    train: NDArray[np.int64]
    queries: NDArray[np.int64]
    database: NDArray[np.int64]


def seen_classes(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_train: int = 2000) -> Split:
    """Draw queries at random; the other rows are the database, and part of them train.

    This is the protocol of Section 5 of the paper, https://doi.org/10.1007/s11263-016-0984-4.

    Parameters
    ----------
    y : ndarray (n,) or (n, L)
        Labels; only the number of rows counts.
    seed : int
        Draws the split.
    n_queries : int
        Number of queries, at most a quarter of the rows.
    n_train : int
        Number of training rows, at most the whole database.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If there are fewer than 4 rows.
    """
    if len(y) < 4:
        raise ValueError(
            f"the data have {counted(len(y), 'row')}, a quarter of which are queries; give at least 4"
        )
    order = np.random.default_rng(seed).permutation(len(y))
    n_queries = min(n_queries, len(y) // 4)
    database = order[n_queries:]
    return Split(database[:n_train], order[:n_queries], database)


def labelled_queries(split: Split, y: NDArray[Any]) -> Split:
    """Leave out the queries that have no label.

    Parameters
    ----------
    split : Split
    y : ndarray (n,) or bool (n, L)
        One label a row, or indicators of L labels.

    Returns
    -------
    Split
        The training rows and the database are those of `split`.

    Raises
    ------
    ValueError
        If no query is left.
    """
    if y.ndim == 1:
        return split
    asked = split.queries[y[split.queries].any(axis=1)]
    if not len(asked):
        raise ValueError(f"none of the {len(split.queries)} queries has a label; give more rows with labels")
    return split._replace(queries=asked)


def unseen_classes(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_train: int = 4000) -> Split:
    """Train on three quarters of the classes, rounded down, and search among rows of the others.

    Parameters
    ----------
    y : ndarray (n,)
        Labels.
    seed : int
        Draws the classes and the split.
    n_queries : int
        Number of queries, at most a quarter of the rows of the other classes. The rest is the database.
    n_train : int
        Number of training rows, at most all rows of their classes.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If there are fewer than 5 classes, or the classes left for search have fewer than 4 rows.
    """
    rng = np.random.default_rng(seed)
    seen, n_new = _draw_seen(y, rng)
    order = rng.permutation(len(y))
    train, rest = order[seen[order]][:n_train], order[~seen[order]]
    if len(rest) < 4:
        raise ValueError(
            f"the {n_new} classes left for retrieval have {counted(len(rest), 'row')}; give at least 4"
        )
    n_queries = min(n_queries, len(rest) // 4)
    return Split(train, rest[:n_queries], rest[n_queries:])


def mixed_known_classes(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_train: int = 2000) -> Split:
    """Search a database of known and new classes with queries of known classes.

    Three quarters of the classes, rounded down, are known: training rows are rows of the database of these. The
    database is the same as that of `mixed_new_classes` with this seed, and so are the training rows. Queries of
    both protocols together are those of `seen_classes`.

    Parameters
    ----------
    y : ndarray (n,)
        Labels.
    seed : int
        Draws the classes and the split.
    n_queries : int
        Number of queries of both kinds, at most a quarter of the rows.
    n_train : int
        Number of training rows, at most all rows of known classes in the database.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If there are fewer than 5 classes, or no query of a kind is drawn.
    """
    return _mixed_classes(y, seed, n_queries, n_train, new=False)


def mixed_new_classes(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_train: int = 2000) -> Split:
    """Search a database of known and new classes with queries of new classes; see `mixed_known_classes`.

    Parameters
    ----------
    y, seed, n_queries, n_train
        As in `mixed_known_classes`.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        As `mixed_known_classes`.
    """
    return _mixed_classes(y, seed, n_queries, n_train, new=True)


def _mixed_classes(y: NDArray[Any], seed: int, n_queries: int, n_train: int, new: bool) -> Split:
    """A split whose queries are those of new, or those of known, classes."""
    _, queries, database = seen_classes(y, seed, n_queries)
    seen, _ = _draw_seen(y, np.random.default_rng([seed, 1]))
    asked = queries[seen[queries] != new]
    train = database[seen[database]][:n_train]
    if not len(asked) or not len(train):
        raise ValueError(
            f"queries of {'new' if new else 'known'} classes: {len(asked)} of {len(queries)}, rows to train "
            f"on: {len(train)}; give more rows"
        )
    return Split(train, asked, database)


def _draw_seen(y: NDArray[Any], rng: np.random.Generator) -> tuple[NDArray[np.bool_], int]:
    """Which rows (n,) are of the classes that a protocol trains on, and the number of other classes."""
    classes, class_index = read_classes(y, len(y))
    n_seen = int(_SEEN_SHARE * len(classes))
    if n_seen < 2 or len(classes) - n_seen < 2:
        raise ValueError(
            "a protocol of new classes trains on three quarters of the classes and needs 2 others; the data "
            f"have {counted(len(classes), 'class', 'classes')}; give at least 5"
        )
    return np.isin(class_index, rng.permutation(len(classes))[:n_seen]), len(classes) - n_seen
