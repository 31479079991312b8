"""Files of judgements whose queries and documents have ids: TREC qrels, and tables of three columns."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.addresses import as_path
from structhash._numerics.arrow import plain_ids, plain_values
from structhash._numerics.validation import describe, join_names
from structhash.io._opening import check_file, suffix_of
from structhash.io._remote import fetched
from structhash.io.formats._tables import open_table
from structhash.metrics import MAX_GRADE

__all__ = ["read_qrels"]

_LOG = logging.getLogger(__name__)
_UNKNOWN = ("error", "skip")
_TABLES = (".parquet", ".arrow", ".feather")
_ROWS_AT_ONCE = 1 << 16
_COLUMNS = {  # what collections call a column, in lower case and without marks between words
    "query": ("query", "queryid", "qid"),
    "document": ("document", "documentid", "docid", "doc", "corpusid"),
    "grade": ("grade", "relevance", "rel", "score"),
}


def read_qrels(
    path: str | PathLike[str], queries: Sequence[Any], documents: Sequence[Any], unknown: str = "error"
) -> NDArray[np.int64]:
    """Read judgements, with row numbers in place of ids.

    Parameters
    ----------
    path : str or path
        A .parquet, .arrow or .feather file with columns such as `query-id`, `doc-id` and `grade`; or else a
        TREC file of lines ``query-id iteration document-id grade``.
    queries, documents : sequence of str or int
        The id of each query and of each document, in row order. Ids are compared as text.
    unknown : str
        A judgement of another id is an ``"error"``, or is skipped (``"skip"``) and counted in the log.

    Returns
    -------
    int64 (m, 3)
        Rows (query, document, grade), in the order of the file; a grade below 0 becomes 0.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a line is malformed, a column is not found, a grade is too high, an id is not known or belongs to two
        rows, or no judgement is left.
    """
    if unknown not in _UNKNOWN:
        raise ValueError(f"unknown={unknown!r}: give {' or '.join(_UNKNOWN)}")
    path = fetched(as_path(path))
    query_rows, document_rows = _number("query", queries), _number("document", documents)
    found: list[tuple[int, int, int]] = []
    strange: list[str] = []
    for place, query, document, grade in _rows_of_table(path) if suffix_of(path) in _TABLES else _lines(path):
        rows = query_rows.get(query), document_rows.get(document)
        if rows[0] is None or rows[1] is None:
            kind, name = ("query", query) if rows[0] is None else ("document", document)
            strange.append(f"{place} has the unknown {kind} id {name!r}")
        else:
            found.append((rows[0], rows[1], max(0, grade)))
    n_all = len(strange) + len(found)
    if strange and unknown == "error":
        raise ValueError(
            f"{path}: {strange[0]}; {len(strange)} of {n_all} judgements have one; give all ids, or "
            'unknown="skip"'
        )
    if strange:
        _LOG.warning("%d of %d judgements have unknown ids: skipped", len(strange), n_all)
    if not found:
        raise ValueError(f"{path}: no judgement of known ids is in it")
    return np.array(found, np.int64)


def _lines(path: Path) -> Iterator[tuple[str, str, str, int]]:
    """Place, query id, document id and grade of the lines of a TREC file."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if words:
                yield (f"line {number}", *_parse(words, f"{path}, line {number}", line))


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
    return query, document, grade


def _rows_of_table(path: Path) -> Iterator[tuple[str, str, str, int]]:
    """Place, query id, document id and grade of the rows of a table."""
    check_file(path, _TABLES)
    table = open_table(path)
    columns = {what: _column(path, table.schema.names, what) for what in _COLUMNS}
    first = 0
    for batch in table.batches(list(columns.values()), _ROWS_AT_ONCE):
        named = {what: f"column {describe(name)} of {path}" for what, name in columns.items()}
        queries, documents = (
            map(str, plain_ids(batch.column(columns[what]), named[what], first).tolist())
            for what in ("query", "document")
        )
        grades = plain_values(batch.column(columns["grade"]), named["grade"], first, "the grade")
        if grades.dtype.kind not in "iu" or (len(grades) and grades.max() > MAX_GRADE):
            raise ValueError(f"{named['grade']} holds no grades: give whole numbers of at most {MAX_GRADE}")
        for row, each in enumerate(zip(queries, documents, grades.tolist()), first):
            yield (f"row {row}", *each)
        first += len(batch)


def _column(path: Path, names: Sequence[str], what: str) -> str:
    """The column of queries, of documents or of grades; ValueError unless there is one."""
    plain = {name: "".join(letter for letter in name.lower() if letter.isalnum()) for name in names}
    found = [name for name in names if plain[name] in _COLUMNS[what]]
    if len(found) != 1:
        raise ValueError(
            f"cannot read {path}: which column holds the {what}? Call it {what}; the columns are "
            f"{join_names(list(names)) or 'none'}"
        )
    return found[0]


def _number(kind: str, ids: Sequence[Any]) -> dict[str, int]:
    """Row number of each id, as text."""
    rows = {str(name): row for row, name in enumerate(ids)}
    if len(rows) < len(ids):
        names = [str(name) for name in ids]
        twice = next(name for row, name in enumerate(names) if rows[name] != row)
        raise ValueError(f"{kind} id {twice!r} belongs to two rows; give each row an id of its own")
    return rows
