"""Codes in PostgreSQL, without any extension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from structhash._numerics.optional import not_installed
from structhash._numerics.validation import describe
from structhash.stores._sql import SQLStore
from structhash.stores.base import StoreInfo

__all__ = ["Postgres"]

_MAX_NAME_BYTES = 63  # the server cuts longer names off


@dataclass(frozen=True)
class Postgres(SQLStore):
    """A table of PostgreSQL 14 or later, with codes of type ``bit(n_bits)``.

    The distance is ``bit_count(code # query)``, and bit j is the j-th bit from the left
    (https://www.postgresql.org/docs/current/functions-bitstring.html). Prepared queries with one number a bit
    are read by ``get_bit``. A search reads the whole table.

    Parameters
    ----------
    place : str
        Connection string or URI, as libpq reads it
        (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). What it does not say
        comes from the environment (PGHOST, PGPASSWORD and so on) and from ``~/.pgpass``.
    table : str
        At most 63 bytes.
    """

    mark: ClassVar[str] = "%s"
    code_type: ClassVar[str] = "bit({n_bits})"
    text_type: ClassVar[str] = 'text COLLATE "C"'
    hamming: ClassVar[str] = "bit_count(code # CAST({mark} AS bit({n_bits})))"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.table.encode()) > _MAX_NAME_BYTES:
            raise ValueError(f"table={describe(self.table)}: give a name of at most {_MAX_NAME_BYTES} bytes")

    @contextmanager
    def _connected(self, writes: bool) -> Iterator[Any]:
        try:
            import psycopg
        except ImportError as error:
            raise not_installed("psycopg", type(self).__name__, "stores", error) from error
        try:
            with psycopg.connect(self.place) as connection:
                if not writes:  # all queries of a search see the same codes
                    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield connection
        except psycopg.Error as error:
            raise OSError(f"PostgreSQL: {str(error).strip() or type(error).__name__}") from error

    def _run(self, connection: Any, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        done = connection.execute(statement, tuple(values))
        return done.fetchall() if done.description else []

    def _comment(self, connection: Any) -> str | None:
        name = '"' + self.table.replace('"', '""') + '"'
        statement = (
            "SELECT coalesce(obj_description(t, 'pg_class'), '') FROM to_regclass(%s) AS t WHERE t IS NOT NULL"
        )
        found = self._run(connection, statement, [name])
        return found[0][0] if found else None

    def _wait_for_writers(self, connection: Any) -> None:
        if self._comment(connection) is not None:
            self._run(connection, f"LOCK TABLE {self._quoted()} IN SHARE ROW EXCLUSIVE MODE")

    def _load(self, connection: Any, ids: list[Any], bits: list[str]) -> None:
        statement = f"COPY {self._quoted()} (id, code) FROM STDIN".replace("%%", "%")  # it has no parameters
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in zip(ids, bits):
                copy.write_row(row)

    def _finish(self, connection: Any, about: StoreInfo) -> None:
        self._run(connection, f"ALTER TABLE {self._quoted()} ADD PRIMARY KEY (id)")
