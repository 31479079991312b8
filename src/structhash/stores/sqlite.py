"""Codes in an SQLite file."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.codes import PreparedQueries
from structhash.search import Exact
from structhash.stores._files import committed_or_deleted
from structhash.stores._header import check_replaced, header, read_header
from structhash.stores.base import Store, StoreInfo

__all__ = ["SQLite"]


@dataclass(frozen=True)
class SQLite(Store):
    """A table of an SQLite file, made if it is missing.

    SQLite counts no bits, so a search reads all codes into memory and gives them to `structhash.search.Exact`.
    It takes prepared queries of every reader. A code is a BLOB of the packed bytes, bit j with the value
    2 ** (j % 8) in byte j // 8. A comment inside the statement that made the table says what it holds; SQLite
    keeps it (https://www.sqlite.org/schematab.html).

    Parameters
    ----------
    place : str
        Path of the file.
    table : str
        SQLite does not tell upper from lower case.

    Examples
    --------
    >>> import tempfile
    >>> store = SQLite(tempfile.mkdtemp() + "/codes.sqlite")
    >>> store.export(np.array([[0b0], [0b111], [0b1]], dtype=np.uint8), n_bits=8)
    >>> store.search(np.array([[0b1]], dtype=np.uint8), k=2)
    (array([[0, 1]], dtype=int32), array([[2, 0]]))
    """

    @contextmanager
    def _connected(self, writes: bool) -> Iterator[Any]:
        path = Path(self.place).absolute()
        new = not path.exists()
        if new and not writes:
            raise FileNotFoundError(f"no such file: {self.place}; export codes first")
        address = f"{path.as_uri()}?mode={'rwc' if writes else 'rw'}"
        try:
            with closing(sqlite3.connect(address, isolation_level=None, uri=True)) as connection:
                connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                with committed_or_deleted(connection, path, new, "SELECT name FROM sqlite_master"):
                    yield connection
        except sqlite3.Error as error:
            raise OSError(f"SQLite cannot use {self.place}: {error}") from error

    def _about(self, connection: Any) -> StoreInfo:
        about = read_header(self._comment(connection), self.table)
        ((ntotal,),) = connection.execute(f"SELECT count(*) FROM {self._quoted()}")
        return dataclasses.replace(about, ntotal=ntotal)

    def _write(
        self, connection: Any, about: StoreInfo, codes: NDArray[np.uint8], ids: NDArray[Any], replace: bool
    ) -> None:
        name = self._quoted()
        if check_replaced(self._comment(connection), self.table, replace):
            connection.execute(f"DROP TABLE {name}")
        said = header(about).replace("*", r"\u002a")  # so that no comment begins or ends inside it
        id_type = "TEXT" if about.id_kind == "text" else "INTEGER"
        connection.execute(
            f"CREATE TABLE {name} (id {id_type} PRIMARY KEY NOT NULL, "
            f"code BLOB NOT NULL CHECK (length(code) = {codes.shape[1]}) /* {said} */)"
        )
        self._add(connection, about, codes, ids)

    def _first_known(self, connection: Any, kind: str, ids: list[Any]) -> Any:
        statement = f"SELECT id FROM {self._quoted()} WHERE id = ?"
        return next((each for each in ids if connection.execute(statement, [each]).fetchone()), None)

    def _add(self, connection: Any, about: StoreInfo, codes: NDArray[np.uint8], ids: NDArray[Any]) -> None:
        rows = ((i, code.tobytes()) for i, code in zip(ids.tolist(), codes))
        connection.executemany(f"INSERT INTO {self._quoted()} VALUES (?, ?)", rows)

    def _nearest(
        self, connection: Any, about: StoreInfo, queries: NDArray[np.uint8] | PreparedQueries, k: int
    ) -> Iterator[Sequence[tuple[float, Any]]]:
        ids, codes = zip(*connection.execute(f"SELECT id, code FROM {self._quoted()}"))
        index = Exact(about.n_bits)
        index.add(np.frombuffer(b"".join(codes), np.uint8).reshape(len(codes), -1), list(ids))
        for distances, found in zip(*index.search(queries, k)):
            yield list(zip(distances.tolist(), found.tolist()))

    def _delete(self, connection: Any, kind: str, ids: list[Any]) -> list[Any]:
        statement = f"DELETE FROM {self._quoted()} WHERE id = ?"
        return [each for each in ids if connection.execute(statement, [each]).rowcount]

    def _comment(self, connection: Any) -> str | None:
        """The comment at the end of the statement that made the table; None if there is no such table."""
        statement = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"
        found = connection.execute(statement, [self.table]).fetchone()
        return None if found is None else found[0].rpartition("/* ")[2].removesuffix(" */)")

    def _quoted(self) -> str:
        """The name of the table inside a statement."""
        return '"' + self.table.replace('"', '""') + '"'
