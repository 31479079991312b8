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

__all__ = ["ReadCodes", "other_blocks", "read_codes"]


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


def other_blocks(
    encoder: HashEncoder, queries: NDArray[Any], codes: NDArray[np.uint8], relevance: Relevance
) -> Iterator[tuple[str, Iterator[Block]]]:
    """Name and blocks of each way to read queries that needs no fit, other than those of `every_distance`.

    Bits are read by real values, unless these say no more. Codes that hold classes and rows are also read for
    rows like the query.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    queries : ndarray (q, d)
    codes : uint8 array (n, n_bytes)
    relevance : callable
        As in `code_blocks`.

    Yields
    ------
    str, iterator of (distances, relevance)
    """
    name = "real" if encoder.codes_are_bits else NEAR_READER
    if name == NEAR_READER and not (encoder.reads_near and encoder.learned_from_labels()):
        return
    try:  # the other lines have checked the queries
        prepared = encoder.prepare_queries(queries, reader=name)
    except ValueError:  # the method has no such reader
        return
    if prepared.codes() is None:
        yield name, prepared_blocks(prepared, codes, relevance)
