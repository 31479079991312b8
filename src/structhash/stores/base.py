"""The contract of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import check_flag, describe
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
    codes_are_bits : bool
        False for numbers of centroids, which are not compared bit by bit.
    """

    n_bits: int
    ntotal: int
    id_kind: str
    source: str | None
    codes_are_bits: bool = True


@dataclass(frozen=True)
class Store:
    """A table of codes in a database.

    A subclass implements `_connected`, `_about`, `_write`, `_first_known`, `_add`, `_nearest` and `_delete`. It
    imports its library inside its methods. Results are those of `structhash.search.Exact`, in the same order.

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
        codes_are_bits: bool = True,
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
        codes_are_bits : bool
            `HashEncoder.codes_are_bits` of the model. The table keeps it, and the command line refuses codes as
            queries of a table where it is False.
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
        about, table, sorted_ids = _checked(codes, n_bits, ids, source, codes_are_bits)
        with self._connected(writes=True) as connection:
            self._write(connection, about, table, sorted_ids, replace)

    def append(
        self,
        codes: NDArray[np.uint8],
        n_bits: int,
        ids: ArrayLike,
        *,
        source: str | None = None,
        codes_are_bits: bool = True,
    ) -> None:
        """Add codes of the same model to the table: all of them or, when it fails or is killed, none.

        Parameters
        ----------
        codes, n_bits, source, codes_are_bits
            As in `export`. The table has codes of this length, this source and this kind.
        ids : array of shape (n,)
            Numbers or text, as the store has them. Unique, none of them in the store.

        Raises
        ------
        TypeError, ValueError
            If the codes or the ids break a rule above, or there is no table that `export` made.
        OSError, ImportError
            As in `export`.
        """
        _check_given(ids)
        about, table, sorted_ids = _checked(codes, n_bits, ids, source, codes_are_bits)
        with self._connected(writes=True) as connection:
            self._wait_for_writers(connection)
            _check_same(self._about(connection), about)
            there = self._first_known(connection, about.id_kind, sorted_ids.tolist())
            if there is not None:
                raise ValueError(
                    f"id {describe(there)} is in the store already, and so no code was added; give new ids"
                )
            self._add(connection, about, table, sorted_ids)

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
        _check_given(ids)
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

    def _wait_for_writers(self, connection: Any) -> None:
        """Let no other process write into the table until the transaction ends.

        By default nothing: the transaction itself does it.
        """

    def _first_known(self, connection: Any, kind: str, ids: list[Any]) -> Any:
        """The smallest of the ids, which ascend, that is in the table; None if none is."""
        raise NotImplementedError

    def _add(self, connection: Any, about: StoreInfo, codes: NDArray[np.uint8], ids: NDArray[Any]) -> None:
        """Add codes to the table. They fit it, and the ids are new and ascend."""
        raise NotImplementedError

    def _nearest(
        self, connection: Any, about: StoreInfo, queries: NDArray[np.uint8] | PreparedQueries, k: int
    ) -> Iterator[Sequence[tuple[float, Any]]]:
        """For each query, distances and ids of the k nearest of at least k codes, in order."""
        raise NotImplementedError

    def _delete(self, connection: Any, kind: str, ids: list[Any]) -> list[Any]:
        """Remove codes; returns the ids that were there."""
        raise NotImplementedError


def _checked(
    codes: NDArray[np.uint8], n_bits: int, ids: ArrayLike | None, source: str | None, codes_are_bits: bool
) -> tuple[StoreInfo, NDArray[np.uint8], NDArray[Any]]:
    """What codes are, and the codes and ids in ascending order of ids; errors if one of these is not valid."""
    if not isinstance(source, str | None):
        raise TypeError(f"source={describe(source)}: give the text of HashEncoder.fingerprint(), or None")
    check_flag("codes_are_bits", codes_are_bits)
    index = Exact(check_n_bits(n_bits))
    index.add(codes, ids)
    kind = "text" if index.id_kind == "text" else "numbers"
    about = StoreInfo(index.n_bits, len(index), kind, source, bool(codes_are_bits))
    return about, index.table()[0], index.ids


def _check_given(ids: ArrayLike | None) -> None:
    """TypeError if there are no ids."""
    if ids is None:
        raise TypeError("ids must be whole numbers or text, got None; give the ids")


def _check_same(there: StoreInfo, added: StoreInfo) -> None:
    """Refuse codes of another length or model, and ids of another kind, than those in the store."""
    if added.n_bits != there.n_bits:
        raise ValueError(
            f"the table has codes of {there.n_bits} bits, got {added.n_bits}; give codes of one length"
        )
    if added.source != there.source:
        raise ValueError(
            f"the table has codes of {_model(there)}, got codes of {_model(added)}; give codes of one "
            "model, and name it (source; on the command line, index --model)"
        )
    if added.codes_are_bits != there.codes_are_bits:
        raise ValueError(
            f"the table says that its codes are {_meaning(there)}, got {_meaning(added)}; give codes of one "
            "model, and export a table of an earlier version again"
        )
    if added.ntotal and added.id_kind != there.id_kind:
        raise TypeError(
            f"this store has ids that are {there.id_kind}, got {added.id_kind}; give {there.id_kind}"
        )


def _model(about: StoreInfo) -> str:
    """The model of codes, for messages."""
    return "an unnamed model" if about.source is None else f"model {about.source}"


def _meaning(about: StoreInfo) -> str:
    """What codes are, for messages."""
    return "bits" if about.codes_are_bits else "numbers of centroids"
