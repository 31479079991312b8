"""Parquet and Arrow files as batches of rows of some of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from structhash._numerics.arrow import import_arrow
from structhash.io._opening import guard
from structhash.io._remote import opened

_BUFFER = 2**20  # bytes; without a buffer, a column of a whole row group is read at once


class Table(NamedTuple):
    """A file of columns; nothing but its schema is read before batches are asked for.

    Attributes
    ----------
    schema : pyarrow.Schema
    n_rows : int
    batches : callable
        Called with names of columns and a number of rows. It yields record batches of about so many rows.
    """

    schema: Any
    n_rows: int
    batches: Callable[[list[str], int], Iterator[Any]]


def open_table(path: Path) -> Table:
    """Open a file; ValueError if it is damaged or of another kind."""
    arrow = import_arrow(f"{path.suffix.lower()} files: reading {path}")
    with guard(path, "a column"), opened(path) as source:
        if path.suffix.lower() == ".parquet":
            with arrow.parquet.ParquetFile(source) as file:
                return Table(file.schema_arrow, file.metadata.num_rows, _guarded(path, _parquet_batches))
        with _arrow_file(arrow, source) as file:
            reader = arrow.ipc.open_file(file)
            return Table(reader.schema, reader.count_rows(), _guarded(path, _ipc_batches))


def _guarded(path: Path, read: Callable[..., Iterator[Any]]) -> Callable[[list[str], int], Iterator[Any]]:
    """The batches that a function reads; an error of the file is a ValueError that names it."""

    def batches(columns: list[str], rows: int) -> Iterator[Any]:
        with guard(path, "a column"):
            yield from read(path, columns, rows)

    return batches


def _parquet_batches(path: Path, columns: list[str], rows: int) -> Iterator[Any]:
    """Batches of a Parquet file, which is read page by page: a row group may be larger than the memory."""
    ParquetFile = import_arrow("Parquet").parquet.ParquetFile
    with opened(path) as source, ParquetFile(source, buffer_size=_BUFFER, pre_buffer=False) as file:
        yield from file.iter_batches(rows, columns=columns)


def _ipc_batches(path: Path, columns: list[str], rows: int) -> Iterator[Any]:
    """Batches of an Arrow file, as they are in the file."""
    arrow = import_arrow("Arrow")
    with opened(path) as source, _arrow_file(arrow, source) as file:
        places = arrow.ipc.open_file(file).schema
        wanted = sorted(places.get_field_index(name) for name in columns)
        options = arrow.ipc.IpcReadOptions(included_fields=wanted)
        reader = arrow.ipc.open_file(file, options=options)
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


def _arrow_file(arrow: Any, source: Any) -> Any:
    """A file of Arrow from what `opened` gives."""
    return arrow.OSFile(source) if isinstance(source, str) else arrow.PythonFile(source, "r")
