"""Codes in a DuckDB file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from structhash._numerics.optional import not_installed
from structhash.stores._files import committed_or_deleted
from structhash.stores._sql import SQLStore

__all__ = ["Duckdb"]

_ONE_AT_A_TIME = Lock()
_FILE_OF_DATABASE = "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"


@dataclass(frozen=True)
class Duckdb(SQLStore):
    """A table of a DuckDB file, made if it is missing.

    The distance is ``bit_count(xor(code, query))``, and bit j is the j-th bit from the left
    (https://duckdb.org/docs/stable/sql/functions/bitstring). Prepared queries with one number a bit are read by
    ``get_bit``. One process at a time may write to a file. Threads of a process wait for each other.

    Parameters
    ----------
    place : str
        Path of the file.
    table : str
        DuckDB does not tell upper from lower case.

    Examples
    --------
    >>> import tempfile
    >>> store = Duckdb(tempfile.mkdtemp() + "/codes.db")
    >>> store.export(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8), n_bits=8)
    >>> store.search(np.array([[0b1]], dtype=np.uint8), k=2)
    (array([[0, 1]], dtype=int32), array([[2, 0]]))
    """

    mark: ClassVar[str] = "?"
    code_type: ClassVar[str] = "BIT"
    text_type: ClassVar[str] = "TEXT"
    hamming: ClassVar[str] = "bit_count(xor(code, CAST({mark} AS BIT)))"

    @contextmanager
    def _connected(self, writes: bool) -> Iterator[Any]:
        try:
            import duckdb
        except ImportError as error:
            raise not_installed("duckdb", "Duckdb", "stores", error) from error
        path = Path(self.place)
        new = not path.exists()
        if new and not writes:
            raise FileNotFoundError(f"no such file: {self.place}; export codes first")
        try:
            # within a process, DuckDB refuses a reader beside a writer
            with _ONE_AT_A_TIME, duckdb.connect(self.place, read_only=not writes) as connection:
                if connection.execute(_FILE_OF_DATABASE).fetchone() == (None,):  # a .csv is read into memory
                    raise ValueError(f"place={self.place!r}: it is no DuckDB file; give the path of one")
                connection.execute("BEGIN TRANSACTION")
                with committed_or_deleted(connection, path, new, "FROM duckdb_tables()"):
                    yield connection
        except duckdb.Error as error:
            raise OSError(f"DuckDB cannot use {self.place}: {error}") from error

    def _run(self, connection: Any, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        return connection.execute(statement, list(values)).fetchall()

    def _comment(self, connection: Any) -> str | None:
        statement = (
            "SELECT coalesce(comment, '') FROM duckdb_tables() WHERE lower(table_name) = lower(?) "
            "AND database_name = current_database() AND schema_name = current_schema()"
        )
        found = self._run(connection, statement, [self.table])
        return found[0][0] if found else None

    def _load(self, connection: Any, ids: list[Any], bits: list[str]) -> None:
        is_text = isinstance(ids[0], str)
        columns = {"id": np.array(ids, object if is_text else np.int64), "code": np.array(bits, object)}
        connection.register("structhash_rows", columns)
        self._run(connection, f"INSERT INTO {self._quoted()} SELECT id, CAST(code AS BIT) FROM structhash_rows")
        connection.unregister("structhash_rows")
