"""Codes in PostgreSQL with the extension pgvector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.codes import PreparedQueries
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
        queries read all codes.
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
        graph = bool(self.ef) and not isinstance(queries, PreparedQueries) and k <= _MAX_EF
        if graph:
            self._run(connection, f"SET LOCAL hnsw.ef_search = {max(self.ef, k)}")
        for statement, values in self._statements(about, queries, k):
            hits = self._by_graph(connection, about, values, k) if graph else []
            yield hits if len(hits) == k else self._run(connection, statement, values)

    def _by_graph(self, connection: Any, about: StoreInfo, query: list[Any], k: int) -> list[Any]:
        """The nearest codes that the graph finds, which may be fewer than k."""
        distance = f"code <~> CAST(%s AS bit({about.n_bits}))"
        near = f"SELECT id, CAST({distance} AS integer) AS distance FROM {self._quoted()} ORDER BY {distance}"
        statement = (
            f"WITH near AS MATERIALIZED ({near} LIMIT {max(self.ef, k)}) "
            f"SELECT distance, id FROM near ORDER BY distance, id LIMIT {k}"
        )
        return self._run(connection, statement, [*query, *query])
