"""Protocols of few, uneven or coarse labels: queries and database are those of `seen_classes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import read_classes
from structhash._numerics.validation import check_count, counted
from structhash.evaluation.splits import Split, seen_classes

__all__ = ["coarse_labels", "few_labels", "tail_classes"]

_TAIL = (300, 2)  # training rows of the largest and of the smallest class


def few_labels(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_labelled: int = 5) -> Split:
    """Train on a few rows of each class.

    Training rows of fewer labels are among those of more, at one seed.

    Parameters
    ----------
    y : ndarray (n,)
        Labels.
    seed : int
        Draws the split.
    n_queries : int
        Number of queries, at most a quarter of the rows.
    n_labelled : int
        Training rows of each class; all rows of the database where a class has fewer.

    Returns
    -------
    Split
        Queries and database are those of `seen_classes` at this seed.

    Raises
    ------
    ValueError
        If `n_labelled` is no integer of at least 1, or there are fewer than 4 rows.
    """
    check_count("n_labelled", n_labelled, most=None)
    _, queries, database = seen_classes(y, seed, n_queries)
    classes, class_index = read_classes(y, len(y))
    return Split(_first_rows(database, class_index, [n_labelled] * len(classes)), queries, database)


def tail_classes(y: NDArray[Any], seed: int = 0, n_queries: int = 2000) -> Split:
    """Train on classes whose sizes fall geometrically from 300 rows to 2, in random order of the classes.

    Parameters
    ----------
    y : ndarray (n,)
        Labels. A class with fewer rows in the database than its share gives all of them.
    seed : int
        Draws the split and the order of the classes.
    n_queries : int
        Number of queries, at most a quarter of the rows.

    Returns
    -------
    Split
        Queries and database are those of `seen_classes` at this seed.

    Raises
    ------
    ValueError
        If there are fewer than 4 rows.
    """
    _, queries, database = seen_classes(y, seed, n_queries)
    classes, class_index = read_classes(y, len(y))
    sizes = np.rint(np.geomspace(*_TAIL, len(classes))).astype(int)
    drawn = np.random.default_rng([seed, 3]).permutation(sizes)
    return Split(_first_rows(database, class_index, drawn.tolist()), queries, database)


def coarse_labels(y: NDArray[Any], seed: int = 0) -> NDArray[np.int64]:
    """Merge the classes in random pairs; the last of an odd number stays alone.

    Parameters
    ----------
    y : ndarray (n,)
        Labels.
    seed : int
        Draws the pairs.

    Returns
    -------
    int64 (n,)
        Number of each row's pair.

    Raises
    ------
    ValueError
        If there are fewer than 3 classes.

    Examples
    --------
    >>> coarse_labels(np.array(["a", "b", "c", "d", "a"]))
    array([1, 0, 0, 1, 1])
    """
    classes, class_index = read_classes(y, len(y))
    if len(classes) < 3:
        raise ValueError(
            f"coarse labels merge classes in pairs; the data have {counted(len(classes), 'class', 'classes')}; "
            "give at least 3"
        )
    places = np.random.default_rng([seed, 2]).permutation(len(classes))
    pairs: NDArray[np.int64] = places[class_index] // 2
    return pairs


def _first_rows(
    rows: NDArray[np.int64], class_index: NDArray[np.int64], sizes: Sequence[int]
) -> NDArray[np.int64]:
    """The first sizes[c] rows of each class c, in the order of `rows`."""
    found = [rows[class_index[rows] == c][:size] for c, size in enumerate(sizes)]
    return rows[np.isin(rows, np.concatenate(found))]
