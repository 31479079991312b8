"""Judgements (query, document, grade): checked, split by query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import refuse_masked
from structhash.metrics import MAX_GRADE

__all__ = ["by_query", "check_judgements", "gain_steps"]


def check_judgements(judgements: Any, n_queries: int, n_documents: int) -> NDArray[np.int64]:
    """Judgements as an array, checked; the same judgement twice counts once.

    Parameters
    ----------
    judgements : int array (m, 3)
        Rows (query, document, grade), m >= 1, in any order.
    n_queries, n_documents : int
        Queries and documents are numbered from 0.

    Returns
    -------
    int64 (k, 3)
        Distinct rows, sorted by query, then by document.

    Raises
    ------
    ValueError
        If these are not integers of this shape, a number is out of range, or a document has two grades for one
        query.

    Examples
    --------
    >>> check_judgements([[0, 2, 1], [0, 1, 0], [0, 2, 1]], n_queries=1, n_documents=3).tolist()
    [[0, 1, 0], [0, 2, 1]]
    """
    refuse_masked("judgements", judgements)
    table = np.asarray(judgements)
    whole = table.dtype.kind in "iu" or all(type(number) is int for number in table.ravel())  # int: a huge one
    if table.ndim != 2 or table.shape[1] != 3 or len(table) == 0 or not whole:
        raise ValueError(
            f"judgements are {table.dtype} of shape {table.shape}; give integer rows (query, document, grade), "
            "by astype(int) where floats are whole numbers"
        )
    ends = {"queries": n_queries, "documents": n_documents, "grades": MAX_GRADE + 1}
    for (name, end), values in zip(ends.items(), table.T):
        if values.min() < 0 or values.max() >= end:
            raise ValueError(f"judged {name} run from {values.min()} to {values.max()}; give 0 to {end - 1}")
    table = np.unique(table.astype(np.int64), axis=0)
    twice = (table[1:, :2] == table[:-1, :2]).all(axis=1)
    if twice.any():
        query, document, grade = table[int(twice.argmax())].tolist()
        raise ValueError(
            f"document {document} has the grade {grade} and another for query {query}; give it one grade"
        )
    return table


def by_query(
    judgements: Any, n_queries: int, n_documents: int, within: bool
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Split judgements by query.

    Parameters
    ----------
    judgements, n_queries, n_documents
        As in `check_judgements`, which checks them.
    within : bool
        Whether the queries are documents too; a judgement of a row for itself is then left out.

    Yields
    ------
    query : int
        Number of a judged query, ascending.
    documents, grades : int64 (k,)
        Its judged documents, ascending, and their grades.

    Raises
    ------
    ValueError
        If the judgements are not allowed.
    """
    table = check_judgements(judgements, n_queries, n_documents)
    if within:
        table = table[table[:, 0] != table[:, 1]]
    queries, first = np.unique(table[:, 0], return_index=True)
    for query, rows in zip(queries.tolist(), np.split(table, first[1:])):
        yield query, rows[:, 1], rows[:, 2]


def gain_steps(grades: NDArray[Any]) -> list[tuple[int, float]]:
    """Each grade g > 0 that occurs, and how much its gain 2^g - 1 exceeds that of the next lower one.

    Examples
    --------
    >>> gain_steps(np.array([0, 3, 1, 3]))
    [(1, 1.0), (3, 6.0)]
    """
    levels = np.unique(np.append(grades, 0))
    return list(zip(levels[1:].tolist(), np.diff(2.0**levels).tolist()))
