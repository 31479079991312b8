"""Distances of a method that is read in one way: by its bits, its real values, or a fitted reader."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.estimators.base import HashEncoder
from structhash.estimators.contract import NEAR_READER
from structhash.estimators.reader import Reader, fit_reader
from structhash.evaluation.scoring import (
    Block,
    IndexDistance,
    Relevance,
    every_distance,
    index_distances,
    prepared_blocks,
)

__all__ = ["ReadCodes", "read_codes", "real_blocks"]


class ReadCodes(NamedTuple):
    """Codes of a database, and how queries are compared with them.

    Attributes
    ----------
    encoder : HashEncoder
        Fitted.
    rows : ndarray (n, d)
        The database.
    codes : uint8 array (n, n_bytes)
    asked : str
        The reader that was asked for; ``""`` for every distance of `every_distance`.
    reader : Reader or None
        None where every distance is asked for, and where ``"near"`` is, which needs no fit.
    """

    encoder: HashEncoder
    rows: NDArray[Any]
    codes: NDArray[np.uint8]
    asked: str = ""
    reader: Reader | None = None

    @property
    def chosen(self) -> str:
        """The reader that ``"auto"`` chose; ``""`` where a reader was named."""
        return self.reader.name if self.reader is not None and self.asked == "auto" else ""

    def index_distances(self) -> Iterator[IndexDistance]:
        """Each distance that an index has: all of `distances` without the method's own."""
        if self.asked == NEAR_READER:
            yield IndexDistance(self.asked, partial(self.encoder.prepare_queries, reader=self.asked))
        elif self.reader is None:
            yield from index_distances(self.encoder)
        else:
            yield IndexDistance(self.asked, self.reader.prepare)

    def distances(self, queries: NDArray[Any], relevance: Relevance) -> Iterator[tuple[str, Iterator[Block]]]:
        """Name and blocks of each distance of queries (q, d), as `every_distance` yields them."""
        if not self.asked:
            yield from every_distance(self.encoder, queries, self.rows, relevance, self.codes)
        else:
            for each in self.index_distances():
                yield each.name, each.blocks(queries, self.codes, relevance)


def read_codes(
    encoder: HashEncoder, fitted_on: Any, database: NDArray[Any], reader: str = "", seed: int = 0
) -> ReadCodes:
    """Encode a database, and fit the reader of its queries.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    fitted_on : array (m, d)
        The rows that a reader is fitted to: never queries.
    database : ndarray (n, d)
    reader : str
        As `fit_reader` takes it, ``"near"``, or ``""`` for every distance of `every_distance`.
    seed : int
        Draws the rows of `fit_reader`.

    Returns
    -------
    ReadCodes

    Raises
    ------
    ValueError
        If the method cannot be read so.
    """
    codes = encoder.encode(database)
    if reader in ("", NEAR_READER):
        return ReadCodes(encoder, database, codes, reader)
    fitted = fit_reader(encoder, fitted_on, reader=reader, random_state=seed)
    return ReadCodes(encoder, database, codes, reader, fitted)


def real_blocks(
    encoder: HashEncoder, queries: NDArray[Any], codes: NDArray[np.uint8], relevance: Relevance
) -> Iterator[Block] | None:
    """Distances of queries that are read by their real values; None where they are those of the bits.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    queries : ndarray (q, d)
    codes : uint8 array (n, n_bytes)
    relevance : callable
        As in `code_blocks`.

    Returns
    -------
    iterator of (distances, relevance) or None
    """
    try:  # the other lines have checked the queries
        prepared = encoder.prepare_queries(queries, reader="real")
    except ValueError:
        return None
    return None if prepared.codes() is not None else prepared_blocks(prepared, codes, relevance)
