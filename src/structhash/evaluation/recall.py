"""What codes would find of rows without labels: recall of held-out queries, by length and way of search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.matrices import read_matrix
from structhash._numerics.validation import (
    MAX_BITS,
    check_choice,
    check_count,
    check_list,
    check_positive,
    counted,
)
from structhash.codes import PreparedQueries
from structhash.estimators.additivehash import MAX_SUM_BITS, AdditiveHash
from structhash.estimators.distilhash import DistilHash
from structhash.estimators.reader import EVERY_READER, fit_reader
from structhash.evaluation.neighbours import nearest_rows
from structhash.evaluation.scoring import Relevance, prepared_blocks
from structhash.evaluation.splits import seen_classes

__all__ = ["RecallEstimate", "RecallLine", "estimate_recall"]

_MIN_ROWS = 100  # that differ: fewer give no reader


class RecallLine(NamedTuple):
    """Recall of codes of one length.

    Attributes
    ----------
    n_bits : int
    n_bytes : int
        Of a code.
    bits : float
        Recall by the Hamming distance of query code and row code.
    reader : str
        The reader of `fit_reader` that reads queries in the next two.
    read : float
        Recall by this reader.
    factor : int
        Candidates a neighbour that vectors order.
    rescored : float
        Recall of the two-stage search with this factor.
    sums : float or None
        Recall by codes of `AdditiveHash` of this length, in place of bits; None where it has no such length.
    """

    n_bits: int
    n_bytes: int
    bits: float
    reader: str
    read: float
    factor: int
    rescored: float
    sums: float | None


class RecallEstimate(NamedTuple):
    """What `estimate_recall` found.

    Attributes
    ----------
    lines : list of RecallLine
        In ascending order of length.
    k : int
        Neighbours that are asked for.
    n_queries, n_database : int
        Held-out rows that ask, and rows that are searched and learned from.
    n_repeated : int
        Rows left out because they repeat another.
    vector_bytes : int
        Bytes of one row of X as it was given.
    """

    lines: list[RecallLine]
    k: int
    n_queries: int
    n_database: int
    n_repeated: int
    vector_bytes: int


class _Asked(NamedTuple):
    """Held-out queries, the rows that are searched, and how."""

    queries: NDArray[Any]
    database: NDArray[Any]
    near: Relevance  # the k nearest of each query
    k: int
    reader: str
    factor: int
    recall: float | None
    random_state: int


def estimate_recall(
    X: Any,
    bits: Iterable[int] = (32, 64, 128),
    k: int = 10,
    n_queries: int = 500,
    reader: str = "auto",
    factor: int = 10,
    recall: float | None = None,
    random_state: int = 0,
) -> RecallEstimate:
    """Estimate what DistilHash, fitted without labels, and AdditiveHash find of the nearest rows.

    Recall is the share of the k rows at the least Euclidean distance that a search for k finds. Queries are
    held out: neither models nor readers see them. Of rows that repeat, one is kept. One DistilHash is fitted,
    with the most bits; shorter codes are its prefixes. Recall falls with the number of rows: a sample has more.

    Parameters
    ----------
    X : array (n, d)
    bits : iterable of int
        Lengths of the codes.
    k, n_queries : int
        Neighbours that are asked for; held-out rows, at most a quarter of those that differ.
    reader : str
        How queries are read beside the Hamming distance. `fit_reader` takes it and fits it for each length.
    factor : int
        Candidates a neighbour that the vectors order (`structhash.search.Rescored`).
    recall : float, optional
        In place of `factor`: take for each length the least factor with which these queries reach this recall.
    random_state : int
        Draws the queries, the model and the readers.

    Returns
    -------
    RecallEstimate

    Raises
    ------
    ValueError, TypeError
        If a setting is not allowed, or fewer rows differ than 100, or than twice k.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> line = estimate_recall(load_digits().data[:400], bits=[16]).lines[0]
    >>> line.n_bytes, line.bits < line.read < line.rescored
    (2, True)
    """
    lengths = _check_settings(bits, {"k": k, "n_queries": n_queries, "factor": factor}, recall)
    check_choice("reader", reader, EVERY_READER)
    X = read_matrix(X)
    distinct = _distinct(X, max(_MIN_ROWS, 2 * k))
    split = seen_classes(distinct[:, 0], random_state, n_queries)
    queries, database = distinct[split.queries], distinct[split.database]
    asked = _Asked(
        queries, database, nearest_rows(queries, database, k), k, reader, factor, recall, random_state
    )
    encoder = DistilHash(lengths[-1], random_state=random_state).fit(database)
    lines = [_line(asked, encoder, n_bits) for n_bits in lengths]
    return RecallEstimate(lines, k, len(queries), len(database), len(X) - len(distinct), X[:1].nbytes)


def _check_settings(bits: Iterable[int], counts: dict[str, int], recall: float | None) -> list[int]:
    """Lengths of codes in ascending order, each once; ValueError or TypeError if a setting is not allowed."""
    lengths = check_list("bits", bits)
    if not lengths:
        raise ValueError("bits is empty; give at least one length")
    for each in lengths:
        check_count("bits", each, most=MAX_BITS)
    for name, value in counts.items():
        check_count(name, value)
    if recall is not None:
        check_positive("recall", recall, most=1)
    return sorted(set(lengths))


def _distinct(X: NDArray[Any], least: int) -> NDArray[Any]:
    """The rows of X, each once; ValueError if there are fewer than `least`."""
    distinct = np.unique(X, axis=0)
    if len(distinct) < least:
        raise ValueError(f"X has {counted(len(distinct), 'different row')}; give at least {least}")
    return distinct


def _line(asked: _Asked, encoder: DistilHash, n_bits: int) -> RecallLine:
    """The recall of codes of the first n_bits bits."""
    codes = encoder.encode(asked.database, n_bits)
    fitted = fit_reader(encoder, asked.database, n_bits, asked.reader, asked.random_state)
    plain = _ranks(encoder.prepare_queries(asked.queries, n_bits, "bits"), codes, asked.near)
    read = _ranks(fitted.prepare(asked.queries), codes, asked.near)
    factor = asked.factor
    if asked.recall is not None:
        shares = np.arange(1, len(read) + 1) / len(read)
        factor = int(read[np.searchsorted(shares, asked.recall)]) // asked.k + 1
    recalls = (_share(plain, asked.k), fitted.name, _share(read, asked.k))
    rescored, sums = _share(read, factor * asked.k), _recall_of_sums(asked, n_bits)
    return RecallLine(n_bits, -(-n_bits // 8), *recalls, factor, rescored, sums)


def _recall_of_sums(asked: _Asked, n_bits: int) -> float | None:
    """The recall of codes of AdditiveHash; None if they would be too long."""
    if n_bits > MAX_SUM_BITS:
        return None
    sums = AdditiveHash(n_bits, random_state=asked.random_state).fit(asked.database)
    ranks = _ranks(sums.prepare_queries(asked.queries), sums.encode(asked.database), asked.near)
    return _share(ranks, asked.k)


def _ranks(queries: PreparedQueries, codes: NDArray[np.uint8], near: Relevance) -> NDArray[np.int64]:
    """Ascending ranks, from 0, that a search by codes gives the nearest rows of all queries.

    Vectors that order the first c codes find those below rank c.
    """
    found = []
    for distances, relevant in prepared_blocks(queries, codes, near):
        order = np.argsort(distances, axis=1, kind="stable")
        found.append(np.nonzero(np.take_along_axis(relevant, order, axis=1))[1])
    return np.sort(np.concatenate(found))


def _share(ranks: NDArray[np.int64], n: int) -> float:
    """Share of the ranks that are below n."""
    return float(np.searchsorted(ranks, n) / len(ranks))
