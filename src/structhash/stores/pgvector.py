"""Codes in PostgreSQL with the extension pgvector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.codes import PreparedQueries, pack
from structhash.stores._sql import bit_texts
from structhash.stores.base import StoreInfo
from structhash.stores.postgres import Postgres

__all__ = ["PGVector"]

_MAX_EF = 1000


@dataclass(frozen=True)
class PGVector(Postgres):
    """A table of PostgreSQL with pgvector 0.7 or later, with a graph (HNSW) of the codes on request.

    The distance is ``code <~> query`` (https://github.com/pgvector/pgvector#binary-vectors). The table is the
    same as that of `Postgres`.

    Parameters
    ----------
    place, table : str
        As in `Postgres`.
    ef : int
        0: a search reads all codes and is exact. 1 to 1000: `export` makes a graph, and a search keeps that
        many near codes on its way through it. Distances are exact, but near codes may be missed. Prepared
        queries with one number a bit order the codes that are near to their likeliest bits; those with tables
        read all codes.
    """

    hamming: ClassVar[str] = "CAST(code <~> CAST({mark} AS bit({n_bits})) AS integer)"  # a cast uses no graph
    ef: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.ef, int) or isinstance(self.ef, bool) or not 0 <= self.ef <= _MAX_EF:
            raise ValueError(f"ef={describe(self.ef)}: give 0, or a whole number up to {_MAX_EF}")

    def _finish(self, connection: Any, about: StoreInfo) -> None:
        super()._finish(connection, about)
        import psycopg

        try:
            self._run(connection, "CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.errors.InsufficientPrivilege as error:
            said = str(error).partition("\n")[0]
            raise OSError(
                f"PostgreSQL: {said}; let an administrator run CREATE EXTENSION vector once in this database, "
                "or use Postgres, which needs no extension"
            ) from error
        if self.ef:
            self._run(connection, f"CREATE INDEX ON {self._quoted()} USING hnsw (code bit_hamming_ops)")

    def _nearest(
        self, connection: Any, about: StoreInfo, queries: NDArray[np.uint8] | PreparedQueries, k: int
    ) -> Iterator[Sequence[tuple[float, Any]]]:
        if not self.ef or k > _MAX_EF or (isinstance(queries, PreparedQueries) and queries.values.ndim == 3):
            yield from super()._nearest(connection, about, queries, k)
            return
        self._run(connection, f"SET LOCAL hnsw.ef_search = {max(self.ef, k)}")
        codes = pack(queries.values < 0) if isinstance(queries, PreparedQueries) else queries
        whole, near = (self._statements(about, queries, k, source) for source in ("", "near"))
        for code, exact, (statement, values) in zip(bit_texts(codes, about.n_bits), whole, near):
            hits = self._run(connection, self._near(about, k) + statement, [code, *values])
            yield hits if len(hits) == k else self._run(connection, *exact)

    def _near(self, about: StoreInfo, k: int) -> str:
        """The beginning of a statement: the codes that the graph finds near a code, maybe fewer than k."""
        order = f"code <~> CAST(%s AS bit({about.n_bits}))"
        found = f"SELECT id, code FROM {self._quoted()} ORDER BY {order} LIMIT {max(self.ef, k)}"
        return f"WITH near AS MATERIALIZED ({found}) "
