"""The contract of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe
from structhash.codes import PreparedQueries, check_n_bits
from structhash.search import Exact, check_k, check_queries

__all__ = ["Store", "StoreInfo"]

_EMPTY_PLACE = np.iinfo(np.int32).max, np.inf  # distances, as an index has them: whole numbers, others


@dataclass(frozen=True)
class StoreInfo:
    """What a store holds.

    Parameters
    ----------
    n_bits : int
        Length of the codes.
    ntotal : int
        Number of codes.
    id_kind : str
        "numbers" or "text".
    source : str or None
        Fingerprint of the model that made the codes, where it is known.
    """

    n_bits: int
    ntotal: int
    id_kind: str
    source: str | None


@dataclass(frozen=True)
class Store:
    """A table of codes in a database.

    A subclass implements `_connected`, `_about`, `_write`, `_nearest` and `_delete`. It imports its library
    inside its methods. Results are those of `structhash.search.Exact`, in the same order.

    Parameters
    ----------
    place : str
        Where the database is: the path of a file, or the address of a server. `repr` leaves it out, and so do
        messages about a server, since an address may hold a password.
    table : str
        Name of the table. It may hold any characters that the database allows.
    """

    place: str = field(repr=False)
    table: str = "codes"

    def __post_init__(self) -> None:
        for name in ("place", "table"):
            value = getattr(self, name)
            if not isinstance(value, str) or "\0" in value or not (value or name == "place"):
                raise ValueError(f"{name}={describe(value)}: give text without the character 0")

    def export(
        self,
        codes: NDArray[np.uint8],
        n_bits: int,
        ids: ArrayLike | None = None,
        *,
        source: str | None = None,
        replace: bool = False,
    ) -> None:
        """Make the table, with all codes or, when it fails or is killed, not at all.

        Parameters
        ----------
        codes : uint8 array of shape (n, ceil(n_bits / 8))
        n_bits : int
        ids : array of shape (n,), optional
            Unique: whole numbers of at least 0, or text (str) of 1 to 512 bytes in UTF-8. By default row
            numbers.
        source : str, optional
            Fingerprint of the model that made the codes.
        replace : bool
            Whether a table of this name that `export` made is replaced. A table of another program never is.

        Raises
        ------
        TypeError, ValueError
            If the codes are not packed codes of `n_bits` bits, the ids break a rule above, or there is a table
            that may not be replaced.
        OSError
            If the database cannot be reached, or refuses.
        ImportError
            If the library of the database is not installed.
        """
        if not isinstance(source, str | None):
            raise TypeError(f"source={describe(source)}: give the text of HashEncoder.fingerprint(), or None")
        index = Exact(check_n_bits(n_bits))
        index.add(codes, ids)
        kind = "text" if index.id_kind == "text" else "numbers"
        about = StoreInfo(index.n_bits, len(index), kind, source)
        with self._connected(writes=True) as connection:
            self._write(connection, about, index.table()[0], index.ids, replace)

    def search(self, queries: NDArray[np.uint8] | PreparedQueries, k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Find the `k` nearest codes of each query, ordered by (distance, id).

        Parameters
        ----------
        queries : uint8 array of shape (n_queries, ceil(n_bits / 8)), or PreparedQueries
        k : int, at least 1

        Returns
        -------
        distances : int32 array of shape (n_queries, k); float32 for prepared queries
        ids : int64 array, or object array of str, of shape (n_queries, k)
            Empty places as in `structhash.search.Index.search`.

        Raises
        ------
        TypeError, ValueError
            If the queries are not of the length of the codes, the store cannot read such queries, or k is not
            an integer of at least 1.
        OSError, ImportError
            As in `export`.
        """
        with self._connected(writes=False) as connection:
            about = self._about(connection)
            queries = check_queries(queries, about.n_bits)
            shape = len(queries), check_k(k, len(queries), about.ntotal)
            real = isinstance(queries, PreparedQueries)
            distances: NDArray[Any] = np.full(shape, _EMPTY_PLACE[real], np.float32 if real else np.int32)
            ids = np.full(shape, "", object) if about.id_kind == "text" else np.full(shape, -1, np.int64)
            found = self._nearest(connection, about, queries, min(k, about.ntotal)) if about.ntotal else ()
            for row, hits in enumerate(found):
                distances[row, : len(hits)], ids[row, : len(hits)] = zip(*hits)
        return distances, ids

    def remove(self, ids: ArrayLike) -> None:
        """Remove codes. When it raises, the store stays as it was.

        Parameters
        ----------
        ids : array of shape (n,)
            Numbers or text, as the store has them. Unique, all of them in the store.

        Raises
        ------
        TypeError, ValueError
            If the ids are of another kind, or one is not in the store.
        OSError, ImportError
            As in `export`.
        """
        if ids is None:
            raise TypeError("ids must be whole numbers or text, got None; give the ids to remove")
        given = Exact(8)
        given.add(np.zeros((np.size(ids), 1), np.uint8), ids)
        with self._connected(writes=True) as connection:
            kind = self._about(connection).id_kind
            if len(given) and given.id_kind != kind:
                raise TypeError(f"this store has ids that are {kind}, got {given.id_kind}; give {kind}")
            missing = set(given.ids.tolist()) - set(self._delete(connection, kind, given.ids.tolist()))
            if missing:
                raise ValueError(f"id {describe(min(missing))} is not in the store; give ids that are")

    def info(self) -> StoreInfo:
        """What the store holds; errors as in `search`."""
        with self._connected(writes=False) as connection:
            return self._about(connection)

    def _connected(self, writes: bool) -> AbstractContextManager[Any]:
        """One transaction: it is kept if the block ends, and undone if the block raises."""
        raise NotImplementedError

    def _about(self, connection: Any) -> StoreInfo:
        """What the table holds; ValueError if there is none that `export` made."""
        raise NotImplementedError

    def _write(
        self, connection: Any, about: StoreInfo, codes: NDArray[np.uint8], ids: NDArray[Any], replace: bool
    ) -> None:
        """Make the table. The codes are checked, and the ids ascend."""
        raise NotImplementedError

    def _nearest(
        self, connection: Any, about: StoreInfo, queries: NDArray[np.uint8] | PreparedQueries, k: int
    ) -> Iterator[Sequence[tuple[float, Any]]]:
        """For each query, distances and ids of the k nearest of at least k codes, in order."""
        raise NotImplementedError

    def _delete(self, connection: Any, kind: str, ids: list[Any]) -> list[Any]:
        """Remove codes; returns the ids that were there."""
        raise NotImplementedError
