"""Data sets in Parquet and Arrow files: a column of vectors, or a table of numbers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.arrow import (
    holds_ids,
    holds_numbers,
    holds_text,
    holds_vectors,
    plain_ids,
    plain_values,
    vectors,
)
from structhash._numerics.validation import describe, join_names
from structhash.io.dataset import Dataset
from structhash.io.formats._columns import (
    NONE,
    check_row_numbers,
    choose_columns,
    find_label,
    id_candidates,
    not_among,
)
from structhash.io.formats._tables import Table, open_table
from structhash.io.formats.base import Format, Ids, Rows, block_rows, checked_rows, regroup

__all__ = ["Parquet"]

_LOG = logging.getLogger(__name__)
_ID_COLUMN = "id"


class _Parts(NamedTuple):
    """What the columns of a table are."""

    vectors: str | None  # the column of vectors
    features: list[str]  # or the columns of numbers
    id: str | None
    label: str | None
    sure: bool  # whether the caller has said which columns of numbers are features
    id_candidates: tuple[str, ...]  # columns that are left out and may hold ids, where no column does


@dataclass(frozen=True)
class Parquet(Format):
    """A table of columns, in a file of Parquet or of Arrow (Feather 2).

    X is a column of lists of floats (list, large_list or fixed_size_list), one vector a row. Where there is
    none, the plain columns of numbers are features, as those of a .csv file. A column `id` of whole numbers or
    text holds the ids. The file is read a block of rows at a time.

    Parameters
    ----------
    column : str, optional
        The column of vectors. Needed where several columns may be it.
    id : str, optional
        The column of ids; "none" if there is none.
    label : str, optional
        The column of labels; "none" if there is none.
    ignore : sequence of str
        Columns that are neither features, ids nor labels; ["none"] if every other column is a feature.
    features : sequence of str, optional
        Names of the features, where they are known, as for a .csv file.
    """

    column: str | None = None
    id: str | None = None
    label: str | None = None
    ignore: Sequence[str] = ()
    features: Sequence[str] | None = None

    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".arrow", ".feather")
    reads_addresses: ClassVar[bool] = True

    def read(self, path: Path) -> Dataset:
        """Read the vectors or the features, the labels and the ids.

        Returns
        -------
        data : Dataset

        Raises
        ------
        ValueError
            With the row of the first vector or value that is missing or wrong, or with a question.
        """
        table = open_table(path)
        parts = self._parts(path, table, label=True)
        rows = _rows(path, table, parts)
        X = _gathered(rows.shape, rows.blocks)
        ids = None if rows.ids is None else _gathered(rows.shape[:1], rows.ids.blocks)
        y = None
        if parts.label is not None:
            y = np.concatenate(list(_values(path, table, parts.label, block_rows(rows.shape[1]))))
            y = _as_text(y, f"column {describe(parts.label)} of {path}") if y.dtype == object else y
        data = Dataset(X, y, names=rows.names, label=parts.label, ids=ids, held=tuple(table.schema.names))
        return data._replace(id_candidates=parts.id_candidates)

    def rows(self, path: Path, queries: bool = False) -> Rows:
        """Read X and the ids in blocks, without the labels."""
        table = open_table(path)
        return _rows(path, table, self._parts(path, table, label=False))

    def facts(self, path: Path) -> dict[str, Any]:
        """Describe the file by its schema, and one block of its rows."""
        table = open_table(path)
        parts = self._parts(path, table, label=True)
        rows = _rows(path, table, parts)
        first = next(rows.blocks, None)
        facts: dict[str, Any] = {"kind": "data", "rows": rows.shape[0], "features": rows.shape[1]}
        facts["dtype"] = "unknown" if first is None else str(first.dtype)
        for what, name in (("labels", parts.label), ("ids", parts.id)):
            if name is not None:
                facts[what] = str(table.schema.field(name).type)
        return facts

    def _parts(self, path: Path, table: Table, label: bool) -> _Parts:
        """Decide what each column is; ValueError with the question where there are two answers."""
        try:
            _check_named(table.schema.names, self.column, self.id, self.label, *self._ignored())
            kinds = dict(zip(table.schema.names, table.schema.types))
            ids = self._ids(kinds)
            column = self._vectors(kinds, {ids, self.label})
            if column is None:
                return self._plain_parts(path, kinds, ids)
            others = [name for name in kinds if name not in (column, ids, *self._ignored())]
            chosen = find_label(others) if label and self.label is None else self.label
            chosen = None if chosen == NONE or not label else chosen
        except ValueError as error:
            raise ValueError(f"cannot read {path}: {error}") from None
        left_out = [name for name in others if name not in (chosen, self.label)]
        if self.column is None and left_out:
            _LOG.info("%s: took the vectors %s, left out %s", path, column, join_names(left_out))
        return _Parts(column, [], ids, chosen, True, self._id_candidates(kinds, ids, left_out))

    def _id_candidates(self, kinds: dict[str, Any], ids: str | None, left_out: list[str]) -> tuple[str, ...]:
        """The columns that may hold ids, where no column does and the caller has not said so."""
        if ids is not None or self.id == NONE:
            return ()
        return id_candidates([name for name in left_out if holds_ids(kinds[name])])

    def _ignored(self) -> list[str]:
        """The columns that are left out."""
        return [self.ignore] if isinstance(self.ignore, str) else list(self.ignore)

    def _ids(self, kinds: dict[str, Any]) -> str | None:
        """The column of ids."""
        if self.id == NONE:
            return None
        if self.id is not None:
            if not holds_ids(kinds[self.id]):
                raise ValueError(
                    f"column {describe(self.id)} is {kinds[self.id]}; ids are whole numbers or text"
                )
            return self.id
        taken = (*self._ignored(), *(self.features or ()), self.label, self.column)
        if _ID_COLUMN not in kinds or _ID_COLUMN in taken:
            return None
        if not holds_ids(kinds[_ID_COLUMN]):
            raise ValueError(
                f"column {_ID_COLUMN!r} is {kinds[_ID_COLUMN]}, and ids are whole numbers or text: cast it, "
                "name another column by id (--id), or give id='none' (--id none) if rows need no ids"
            )
        return _ID_COLUMN

    def _vectors(self, kinds: dict[str, Any], taken: set[str | None]) -> str | None:
        """The column of vectors; None where the features are columns of numbers."""
        if self.column is not None:
            if not holds_vectors(kinds[self.column], "fiu"):
                raise ValueError(
                    f"column {describe(self.column)} is {kinds[self.column]}, not a list of numbers; name a "
                    "column of vectors, or leave column (--column) out if the features are plain columns"
                )
            return self.column
        if self.features is not None and kinds.keys() >= set(self.features):
            return None
        left = {name: kind for name, kind in kinds.items() if name not in (*self._ignored(), *taken)}
        found = [name for name, kind in left.items() if holds_vectors(kind)]
        whole = [name for name, kind in left.items() if holds_vectors(kind, "iu")]
        if len(found) > 1 or (whole and not found):
            either = found or whole
            raise ValueError(
                f"does {' or '.join(map(describe, either))} hold the vectors? Give column={either[0]!r} "
                f"(--column {either[0]!r}), or name columns to leave out by ignore (--ignore)"
            )
        return found[0] if found else None

    def _plain_parts(self, path: Path, kinds: dict[str, Any], ids: str | None) -> _Parts:
        """What the columns of a table without vectors are."""
        names = [name for name in kinds if name != ids]
        columns = choose_columns(names, self.label, self._ignored(), self.features)
        features = [names[j] for j in columns.features]
        if not features:
            raise ValueError(
                f"it has no column of vectors or numbers; its columns are {join_names(list(kinds)) or 'none'}"
            )
        for name in features:
            if not holds_numbers(kinds[name]):
                raise ValueError(
                    f"column {describe(name)} is {kinds[name]}, no number and no list of floats; it is a label "
                    f"(label={name!r}, --label), an id (id={name!r}, --id) or left out (ignore=[{name!r}], "
                    "--ignore)"
                )
        if columns.left_out:
            _LOG.warning(
                "%s: left out the columns %s, which are no features", path, join_names(columns.left_out)
            )
        label = None if columns.label is None else names[columns.label]
        candidates = self._id_candidates(kinds, ids, columns.left_out)
        return _Parts(None, features, ids, label, columns.sure, candidates)


def _check_named(names: list[str], *uses: str | None) -> None:
    """ValueError if a column that is named for a use is not there, is there twice, or has two uses."""
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise ValueError(f"{times} columns are named {describe(name)}; give each a name of its own")
    used = [name for name in uses if name not in (None, NONE)]
    for name in used:
        if name not in names:
            raise ValueError(not_among(name, names))
        if used.count(name) > 1:
            raise ValueError(f"column {describe(name)} is named for two uses; give it one")


def _rows(path: Path, table: Table, parts: _Parts) -> Rows:
    """The rows and the ids of a table, in blocks."""
    blocks: Iterator[NDArray[Any]]
    if parts.vectors is not None:
        width = _width(path, table, parts.vectors)
        blocks = _vector_blocks(path, table, parts.vectors, width)
        dtype, names = table.schema.field(parts.vectors).type.value_type.to_pandas_dtype(), None
    else:
        width, names = len(parts.features), parts.features
        dtype = np.result_type(*(table.schema.field(name).type.to_pandas_dtype() for name in names))
        blocks = _number_blocks(path, table, parts, np.dtype(dtype))
    what = f"X of {path}" if names else f"column {describe(parts.vectors)} of {path}"
    shape = (table.n_rows, width)
    checked = (
        Rows(shape, names, iter(()))
        if table.n_rows == 0
        else checked_rows(shape, dtype, regroup(blocks, block_rows(width)), what, names)
    )
    checked = checked._replace(column=parts.vectors, id_candidates=parts.id_candidates)
    if parts.id is None:
        return checked
    text = holds_text(table.schema.field(parts.id).type)
    ids = regroup(_ids(path, table, parts.id, block_rows(width)), block_rows(width))
    return checked._replace(ids=Ids(parts.id, text, ids))


def _width(path: Path, table: Table, column: str) -> int:
    """Length of the vectors."""
    kind = table.schema.field(column).type
    if hasattr(kind, "list_size"):
        return int(kind.list_size)
    first = next((batch for batch in table.batches([column], 1) if len(batch)), None)
    if first is None:
        return 0
    return vectors(first.column(column)[:1], f"column {describe(column)} of {path}").shape[1]


def _vector_blocks(path: Path, table: Table, column: str, width: int) -> Iterator[NDArray[Any]]:
    """The vectors of each batch."""
    first, name = 0, f"column {describe(column)} of {path}"
    for batch in table.batches([column], block_rows(width)):
        yield vectors(batch.column(column), name, width, first)
        first += len(batch)


def _number_blocks(path: Path, table: Table, parts: _Parts, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """The features of each batch; ValueError if one numbers the rows and no one has said that it is one."""
    first = 0
    for batch in table.batches(parts.features, block_rows(len(parts.features))):
        X = np.empty((len(batch), len(parts.features)), dtype)
        for j, name in enumerate(parts.features):
            X[:, j] = plain_values(batch.column(name), f"column {describe(name)} of {path}", first)
        if first == 0 and not parts.sure:
            try:
                check_row_numbers(X, parts.features)
            except ValueError as error:
                raise ValueError(f"cannot read {path}: {error}") from None
        yield X
        first += len(batch)


def _ids(path: Path, table: Table, column: str, n: int) -> Iterator[NDArray[Any]]:
    """The ids of each batch."""
    first = 0
    for batch in table.batches([column], n):
        yield plain_ids(batch.column(column), f"column {describe(column)} of {path}", first)
        first += len(batch)


def _values(path: Path, table: Table, column: str, n: int) -> Iterator[NDArray[Any]]:
    """The labels of each batch."""
    first = 0
    for batch in table.batches([column], n):
        yield plain_values(batch.column(column), f"column {describe(column)} of {path}", first, "the label")
        first += len(batch)


def _as_text(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels that numpy has no type for, as text; ValueError if two could become one, or they are no labels."""
    found = [each.decode("latin-1") if isinstance(each, bytes) else str(each) for each in values]
    for row, (value, text) in enumerate(zip(values, found)):
        if isinstance(value, list | dict | np.ndarray):
            raise ValueError(
                f"{name} holds {describe(value)} in row {row}; labels are text, whole numbers, booleans "
                "or dates"
            )
        if text.endswith("\0"):  # numpy cuts these off
            raise ValueError(f"{name} holds {describe(text)} in row {row}; write labels that end otherwise")
    return np.array(found)


def _gathered(shape: tuple[int, ...], blocks: Iterator[NDArray[Any]]) -> NDArray[Any]:
    """All blocks as one array, which is filled block by block."""
    whole, first = np.empty(0), 0
    for block in blocks:
        if first == 0:
            whole = np.empty(shape, block.dtype)
        whole[first : first + len(block)] = block
        first += len(block)
    return whole if first else np.empty(shape)
