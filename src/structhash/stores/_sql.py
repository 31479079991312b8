"""Stores that speak SQL: a table of ids and codes, whose comment says what it holds.

A code is a value of the type BIT of SQL: a text of n_bits digits, whose digit j is bit j.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices
from structhash.codes import PreparedQueries, unpack
from structhash.stores._header import check_replaced, header, read_header
from structhash.stores.base import Store, StoreInfo

__all__ = ["SQLStore", "bit_texts"]

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class SQLStore(Store):
    """A table ``(id, code)`` of a database that has the functions of SQL for bits.

    A subclass implements `_connected`, `_run`, `_comment` and `_load`, and may override `_finish`.

    Attributes
    ----------
    mark : str
        What a parameter of a statement looks like.
    code_type, text_type : str
        Types of codes (with the place of their length) and of text ids, which sort by their bytes.
    hamming : str
        Number of bits in which `code` differs from a parameter, as a whole number.
    """

    mark: ClassVar[str]
    code_type: ClassVar[str]
    text_type: ClassVar[str]
    hamming: ClassVar[str]

    def _run(self, connection: Any, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows of a statement with parameters."""
        raise NotImplementedError

    def _comment(self, connection: Any) -> str | None:
        """The comment of the table, "" where it has none; None if there is no such table."""
        raise NotImplementedError

    def _load(self, connection: Any, ids: list[Any], bits: list[str]) -> None:
        """Add rows to the table."""
        raise NotImplementedError

    def _finish(self, connection: Any, about: StoreInfo) -> None:
        """What the table gets after its rows. By default nothing."""

    def _about(self, connection: Any) -> StoreInfo:
        about = read_header(self._comment(connection), self.table)
        ((ntotal,),) = self._run(connection, f"SELECT count(*) FROM {self._quoted()}")
        return dataclasses.replace(about, ntotal=ntotal)

    def _write(
        self, connection: Any, about: StoreInfo, codes: NDArray[np.uint8], ids: NDArray[Any], replace: bool
    ) -> None:
        name = self._quoted()
        if check_replaced(self._comment(connection), self.table, replace):
            self._run(connection, f"DROP TABLE {name}")
        id_type, code_type = self._id_type(about.id_kind), self.code_type.format(n_bits=about.n_bits)
        self._run(connection, f"CREATE TABLE {name} (id {id_type} NOT NULL, code {code_type} NOT NULL)")
        self._add(connection, about, codes, ids)
        said = header(about).replace("'", "''").replace("%", self._percent)
        self._run(connection, f"COMMENT ON TABLE {name} IS '{said}'")
        self._finish(connection, about)

    def _add(self, connection: Any, about: StoreInfo, codes: NDArray[np.uint8], ids: NDArray[Any]) -> None:
        for part in row_slices(len(codes), _ROWS_AT_ONCE):
            self._load(connection, ids[part].tolist(), bit_texts(codes[part], about.n_bits))

    def _first_known(self, connection: Any, kind: str, ids: list[Any]) -> Any:
        statement = f"SELECT min(id) FROM {self._quoted()} WHERE id IN ({self._chosen(kind)})"
        for part in row_slices(len(ids), _ROWS_AT_ONCE):
            ((found,),) = self._run(connection, statement, [ids[part]])
            if found is not None:
                return found
        return None

    def _nearest(
        self, connection: Any, about: StoreInfo, queries: NDArray[np.uint8] | PreparedQueries, k: int
    ) -> Iterator[Sequence[tuple[float, Any]]]:
        for statement, values in self._statements(about, queries, k):
            yield self._run(connection, statement, values)

    def _statements(
        self, about: StoreInfo, queries: NDArray[np.uint8] | PreparedQueries, k: int, source: str = ""
    ) -> Iterator[tuple[str, list[Any]]]:
        """The statement and its parameters for each query, of the table or of another source."""
        if isinstance(queries, PreparedQueries):
            distance = self._real_distance(queries)
            given: list[list[Any]] = [
                [base, *values] for base, values in zip(queries.base.tolist(), queries.values.tolist())
            ]
        else:
            distance = self.hamming.format(mark=self.mark, n_bits=about.n_bits)
            given = [[text] for text in bit_texts(queries, about.n_bits)]
        statement = (
            f"SELECT {distance} AS distance, id FROM {source or self._quoted()} ORDER BY distance, id LIMIT {k}"
        )
        for values in given:
            yield statement, values

    def _real_distance(self, queries: PreparedQueries) -> str:
        """The sum of the base and of the number of each bit that is set, or of each byte's value."""
        if queries.decoder is not None:
            raise ValueError(
                f"{type(self).__name__} reads one number a bit or one table a byte, got a decoder; give "
                "prepare_queries(Q, reader='real') (--reader real), or a reader of cells "
                "(structhash reader MODEL ROWS -o FILE --reader cells), or use SQLite"
            )
        number = f"CAST({self.mark} AS DOUBLE PRECISION)"
        of_bytes = queries.values.ndim == 3
        terms = self._terms_of_bytes(queries.n_bits) if of_bytes else _terms_of_bits(number, queries.n_bits)
        return f"CAST({number} + (({') + ('.join(terms)})) AS REAL)"

    def _terms_of_bytes(self, n_bits: int) -> list[str]:
        """One table a byte: an array that the value of the byte is a place in."""
        table, terms = f"CAST({self.mark} AS DOUBLE PRECISION[])", []
        for first in range(0, n_bits, 8):
            bits = range(min(8, n_bits - first))
            value = " + ".join(f"{2**bit} * get_bit(code, {first + bit})" for bit in bits)
            terms.append(f"({table})[1 + {value}]")
        return terms

    def _delete(self, connection: Any, kind: str, ids: list[Any]) -> list[Any]:
        statement = f"DELETE FROM {self._quoted()} WHERE id IN ({self._chosen(kind)}) RETURNING id"
        return [row[0] for row in self._run(connection, statement, [ids])]

    def _chosen(self, kind: str) -> str:
        """The rows of a parameter that is a list of ids."""
        return f"SELECT unnest(CAST({self.mark} AS {'TEXT' if kind == 'text' else 'BIGINT'}[]))"

    def _id_type(self, kind: str) -> str:
        """The type of the column of ids."""
        return self.text_type if kind == "text" else "BIGINT"

    def _quoted(self) -> str:
        """The name of the table inside a statement."""
        return '"' + self.table.replace('"', '""').replace("%", self._percent) + '"'

    @property
    def _percent(self) -> str:
        """How a statement writes the character %."""
        return "%%" if self.mark == "%s" else "%"


def _terms_of_bits(number: str, n_bits: int) -> list[str]:
    """One number a bit, eight bits together, as `Exact` adds them."""
    terms = [f"{number} * get_bit(code, {bit})" for bit in range(n_bits)]
    return [" + ".join(terms[first : first + 8]) for first in range(0, n_bits, 8)]


def bit_texts(codes: NDArray[np.uint8], n_bits: int) -> list[str]:
    """Each code as a text of its bits, the first bit first.

    >>> bit_texts(np.array([[1], [6]], dtype=np.uint8), n_bits=4)
    ['1000', '0110']
    """
    text = (unpack(codes, n_bits) + ord("0")).tobytes().decode()
    return [text[start : start + n_bits] for start in range(0, len(text), n_bits)]
