"""Judgements (query, document, grade): read, checked, split by query."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import refuse_masked
from structhash.metrics import MAX_GRADE

__all__ = ["by_query", "check_judgements", "gain_steps", "read_trec"]

logger = logging.getLogger(__name__)

_UNKNOWN = ("error", "skip")


def read_trec(
    path: str | PathLike[str], queries: Sequence[Any], documents: Sequence[Any], unknown: str = "error"
) -> NDArray[np.int64]:
    """Judgements of a TREC qrels file, with row numbers in place of its ids: see `Qrels.read`.

    Parameters
    ----------
    path : str or path
        File of lines ``query-id iteration document-id grade``.
    queries, documents : sequence of str
        The id of each query and of each document, in row order.
    unknown : str
        A line with another id is an ``"error"``, or is skipped (``"skip"``) and counted in the log.

    Returns
    -------
    int64 (m, 3)
        Rows (query, document, grade), in the order of the lines; a grade below 0 becomes 0.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a line is malformed, a grade is too high, an id is not known or belongs to two rows, or no judgement
        is left.
    """
    if unknown not in _UNKNOWN:
        raise ValueError(f"unknown={unknown!r}: give {' or '.join(_UNKNOWN)}")
    query_rows, document_rows = _number("query", queries), _number("document", documents)
    found: list[tuple[int, int, int]] = []
    strange: list[str] = []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for place, line in enumerate(file, 1):
            words = line.split()
            if not words:
                continue
            query, document, grade = _parse(words, f"{path}, line {place}", line)
            rows = query_rows.get(query), document_rows.get(document)
            if rows[0] is None or rows[1] is None:
                kind, name = ("query", query) if rows[0] is None else ("document", document)
                strange.append(f"line {place} has the unknown {kind} id {name!r}")
            else:
                found.append((rows[0], rows[1], grade))
    if strange and unknown == "error":
        raise ValueError(
            f"{path}: {strange[0]}; {len(strange)} of {len(strange) + len(found)} judgements have one; "
            'give all ids, or unknown="skip"'
        )
    if strange:
        logger.warning("%d of %d judgements have unknown ids: skipped", len(strange), len(strange) + len(found))
    if not found:
        raise ValueError(f"{path}: no judgement of known ids is in it")
    return np.array(found, np.int64)


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


def _parse(words: list[str], place: str, line: str) -> tuple[str, str, int]:
    """Query id, document id and grade of a line."""
    try:
        query, _, document, text = words
        grade = int(text)
    except ValueError:
        grade = MAX_GRADE + 1
    if grade > MAX_GRADE:
        raise ValueError(
            f"{place}: {line.strip()[:80]!r} is no judgement; "
            f"give query-id iteration document-id grade, the grade a whole number of at most {MAX_GRADE}"
        )
    return query, document, max(0, grade)


def _number(kind: str, ids: Sequence[Any]) -> dict[str, int]:
    """Row number of each id, as text."""
    rows = {str(name): row for row, name in enumerate(ids)}
    if len(rows) < len(ids):
        names = [str(name) for name in ids]
        twice = next(name for row, name in enumerate(names) if rows[name] != row)
        raise ValueError(f"{kind} id {twice!r} belongs to two rows; give each row an id of its own")
    return rows
