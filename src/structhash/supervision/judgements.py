"""Tables of judgements (query, document, grade): read, checked, cut into queries."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.metrics import MAX_GRADE

logger = logging.getLogger(__name__)

UNKNOWN = ("error", "skip")


def read_trec(
    path: str | PathLike[str], queries: Sequence[Any], documents: Sequence[Any], unknown: str = "error"
) -> NDArray[np.int64]:
    """Judgements (m, 3) of a TREC qrels file, with row numbers for its ids: see `Qrels.read`."""
    if unknown not in UNKNOWN:
        raise ValueError(f"unknown={unknown!r}: give {' or '.join(UNKNOWN)}")
    rows_of = number("query", queries), number("document", documents)
    found: list[tuple[int, int, int]] = []
    strange: list[str] = []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for place, line in enumerate(file, 1):
            words = line.split()
            if not words:
                continue
            try:
                query, _, document, grade = words
                value = max(0, int(grade))
            except ValueError:
                raise ValueError(
                    f"{path}, line {place}: {line.strip()[:80]!r} is no judgement; "
                    "give query-id iteration document-id grade, the grade a whole number"
                ) from None
            rows = rows_of[0].get(query), rows_of[1].get(document)
            if rows[0] is None or rows[1] is None:
                kind, name = ("query", query) if rows[0] is None else ("document", document)
                strange.append(f"line {place} has the unknown {kind} id {name!r}")
            else:
                found.append((rows[0], rows[1], value))
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


def number(kind: str, ids: Sequence[Any]) -> dict[str, int]:
    """Row number of each id, as text."""
    rows = {str(name): row for row, name in enumerate(ids)}
    if len(rows) < len(ids):
        names = [str(name) for name in ids]
        twice = next(name for row, name in enumerate(names) if rows[name] != row)
        raise ValueError(f"{kind} id {twice!r} stands for two rows; give each row an id of its own")
    return rows


def by_query(
    judgements: Any, n_queries: int, n: int, within: bool
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Each judged query's number, its documents in order, and their grades, checked.

    `within`: queries are documents too; what is judged for itself is left out.
    """
    table = np.asarray(judgements)
    if table.ndim != 2 or table.shape[1] != 3 or len(table) == 0 or table.dtype.kind not in "iu":
        raise ValueError(
            f"judgements are {table.dtype} of shape {table.shape}; give integer rows (query, document, grade)"
        )
    for name, values, end in zip(("queries", "documents", "grades"), table.T, (n_queries, n, MAX_GRADE + 1)):
        if values.min() < 0 or values.max() >= end:
            raise ValueError(f"judged {name} run from {values.min()} to {values.max()}; give 0 to {end - 1}")
    table = np.unique(table.astype(np.int64), axis=0)
    twice = (table[1:, :2] == table[:-1, :2]).all(axis=1)
    if twice.any():
        q, document, grade = table[int(twice.argmax())].tolist()
        raise ValueError(
            f"document {document} has the grade {grade} and another for query {q}; give it one grade"
        )
    if within:
        table = table[table[:, 0] != table[:, 1]]
    queries, first = np.unique(table[:, 0], return_index=True)
    for q, rows in zip(queries.tolist(), np.split(table, first[1:])):
        yield q, rows[:, 1], rows[:, 2]


def gain_steps(grades: NDArray[Any]) -> list[tuple[int, float]]:
    """Each grade above 0 that is there, and how much its gain 2^g - 1 exceeds that of the next lower one.

    Examples
    --------
    >>> gain_steps(np.array([0, 3, 1, 3]))
    [(1, 1.0), (3, 6.0)]
    """
    levels = np.unique(np.append(grades, 0))
    return list(zip(levels[1:].tolist(), np.diff(2.0**levels).tolist()))
