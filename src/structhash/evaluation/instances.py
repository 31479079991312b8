"""Whether codes keep the order of the vectors inside a class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import read_classes
from structhash.evaluation.scoring import Block, Relevance, float_blocks, same_label
from structhash.evaluation.splits import Split, seen_classes

__all__ = ["inside_class", "instance_queries", "nearest_in_class"]

_MIN_CLASS_ROWS = 50  # of the database, for a class to be searched in


def instance_queries(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_train: int = 2000) -> Split:
    """The split of `seen_classes`, with the queries of classes that have at least 50 rows in the database.

    Parameters
    ----------
    y, seed, n_queries, n_train
        As in `seen_classes`.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If no query is left, or there are fewer than 4 rows.
    """
    train, queries, database = seen_classes(y, seed, n_queries, n_train)
    _, class_index = read_classes(y, len(y))
    sizes = np.bincount(class_index[database], minlength=class_index.max() + 1)
    asked = queries[sizes[class_index[queries]] >= _MIN_CLASS_ROWS]
    if not len(asked):
        raise ValueError(
            f"no class of the {len(queries)} queries has {_MIN_CLASS_ROWS} rows in the database; give more rows"
        )
    return Split(train, asked, database)


def nearest_in_class(
    queries: NDArray[Any], rows: NDArray[Any], y_queries: NDArray[Any], y: NDArray[Any], k: int = 10
) -> Relevance:
    """Relevance by vectors: the k rows of the query's class that are nearest to it are relevant.

    Parameters
    ----------
    queries, rows : ndarrays (q, d), (n, d)
        Vectors of the queries and of the database, compared by Euclidean distance. Of equal distances the lower
        row numbers come first.
    y_queries, y : ndarrays (q,), (n,)
        Their labels.
    k : int
        All rows of a class with fewer are relevant.

    Returns
    -------
    callable
        Takes a slice or an array of query numbers and returns bools (q, n).

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [2.0], [0.1]])
    >>> nearest_in_class(rows[:1], rows, np.array([0]), np.array([0, 0, 0, 1]), k=2)(slice(0, 1))
    array([[ True,  True, False, False]])
    """
    nearest: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(queries)
    for label in np.intersect1d(y_queries, y):
        asked, found = np.flatnonzero(y_queries == label), np.flatnonzero(y == label)
        blocks = float_blocks(queries[asked], rows[found], same_label(y_queries[asked], y[found]))
        ranked = (row for distances, _ in blocks for row in np.argsort(distances, axis=1, kind="stable"))
        for query, order in zip(asked, ranked, strict=True):
            nearest[query] = found[order[:k]]

    def relevance(numbers: Any) -> NDArray[np.bool_]:
        wanted = np.arange(len(queries))[numbers]
        relevant = np.zeros((len(wanted), len(rows)), bool)
        for row, query in zip(relevant, wanted, strict=True):
            row[nearest[query]] = True
        return relevant

    return relevance


def inside_class(blocks: Iterable[Block], same_class: Relevance) -> Iterator[Block]:
    """Rank only the documents of each query's own class.

    Parameters
    ----------
    blocks : iterable of (distances (q, n), relevance (q, n))
        Of all queries in order, as for `retrieval`.
    same_class : callable
        Takes a slice of query numbers and returns bools (q, n): which documents are ranked.

    Yields
    ------
    distances, relevance : ndarrays (1, m)
        A block a query.
    """
    first = 0
    for distances, relevance in blocks:
        ranked = same_class(slice(first, first + len(distances)))
        first += len(distances)
        for kept, apart, relevant in zip(ranked, distances, relevance, strict=True):
            yield apart[None, kept], relevant[None, kept]
