"""Scores of rankings: the value of each measure for each query, from distances and relevance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from structhash import metrics
from structhash._numerics.blocks import row_slices, rows_within, spread_rows
from structhash._numerics.rounding import merge_ties
from structhash._numerics.validation import check_list
from structhash.codes import PreparedQueries, code_distances, table_distances
from structhash.estimators.base import HashEncoder
from structhash.evaluation._collectors import collector
from structhash.supervision.judgements import check_judgements

__all__ = [
    "MEASURES",
    "Block",
    "IndexDistance",
    "Relevance",
    "Scores",
    "check_measures",
    "code_blocks",
    "every_distance",
    "float_blocks",
    "index_distances",
    "judged_relevance",
    "prepared_blocks",
    "relevance_by_labels",
    "retrieval",
    "same_label",
    "shared_labels",
]

MEASURES = ("ndcg_paper@100", "precision@100", "map", "pr_area")

_MAX_DISTANCES = 1_000_000  # of one block
_MEDIAN_ROWS = 1001  # rows whose median is near that of all
_MAX_SPREAD = 1e4  # squared norms further above their median set no unit: one outlier would tie all others
_FLOAT_DIGITS = 12  # float distances that agree in so many digits of the largest tie

Block = tuple[NDArray[Any], NDArray[Any]]  # distances of some queries to the database, and relevance: (q, n)
Relevance = Callable[[Any], NDArray[Any]]  # takes a slice or array of query numbers; bool or grades (q, n)


class IndexDistance(NamedTuple):
    """A distance that an index has.

    Attributes
    ----------
    name : str
    prepare : callable
        Takes queries (q, d) and returns what the index searches with.
    weights : ndarray (n_bits,) or None
        Weight of each bit in the index.
    """

    name: str
    prepare: Callable[[NDArray[Any]], NDArray[np.uint8] | PreparedQueries]
    weights: NDArray[np.float64] | None = None

    def blocks(self, queries: NDArray[Any], codes: NDArray[np.uint8], relevance: Relevance) -> Iterator[Block]:
        """Distances of queries to codes, block by block.

        Parameters
        ----------
        queries : ndarray (q, d)
        codes : uint8 array (n, n_bytes)
        relevance : callable
            As in `code_blocks`.

        Returns
        -------
        iterator of (distances, relevance)
            For `retrieval`.
        """
        asked = self.prepare(queries)
        if isinstance(asked, PreparedQueries):
            return prepared_blocks(asked, codes, relevance)
        return code_blocks(asked, codes, relevance, self.weights)


class Scores(NamedTuple):
    """Values of several measures.

    Attributes
    ----------
    mean : dict of float
        Mean of each measure over the queries that have a value; nan where none has.
    per_query : dict of ndarray (n_queries,)
        Value of each measure for each query; nan where it has none.
    """

    mean: dict[str, float]
    per_query: dict[str, NDArray[np.float64]]


def retrieval(blocks: Iterable[Block], measures: Iterable[str] = MEASURES, ties: str = "expected") -> Scores:
    """Score rankings by distance.

    Parameters
    ----------
    blocks : iterable of (distances (q, n), relevance (q, n))
        A block holds the distances of some queries to the whole database. Relevance is bool, or int grades.
    measures : iterable of str
        Names that `structhash.metrics.parse` accepts; the scores have the canonical ones. The mean of
        ``"pr_area"`` is the area under the mean precision / mean recall curve, not the mean of the areas.
    ties : str
        ``"expected"`` takes the mean over all orders of equal distances; ``"id"`` orders them by row number.

    Returns
    -------
    Scores

    Raises
    ------
    ValueError
        If a measure or `ties` is not known, or there is no block.

    Examples
    --------
    >>> import numpy as np
    >>> from structhash.evaluation import retrieval
    >>> block = np.array([[1, 3, 2]]), np.array([[True, True, False]])
    >>> retrieval([block], ["precision@2"]).mean
    {'precision@2': 0.5}
    """
    collectors = {name: collector(name) for name in check_measures(measures, ties)}
    n_blocks = 0
    for distances, relevance in blocks:
        tied = metrics.tie_blocks(distances, relevance, ties)
        for each in collectors.values():
            each.add(tied)
        n_blocks += 1
    if not n_blocks:
        raise ValueError("there are no queries to score; give at least one block")
    return Scores(
        {name: each.mean() for name, each in collectors.items()},
        {name: each.per_query() for name, each in collectors.items()},
    )


def check_measures(measures: Iterable[str], ties: str = "expected") -> list[str]:
    """The canonical names of measures, each once; ValueError for any other name, or another word for `ties`."""
    names = [metrics.canonical(name) for name in check_list("measures", measures)]
    metrics.tie_blocks(np.zeros((0, 0)), np.zeros((0, 0), bool), ties)
    return list(dict.fromkeys(names))


def same_label(y_queries: NDArray[Any], y: NDArray[Any]) -> Relevance:
    """Relevance by labels: a document is relevant to a query that has the same label."""
    wanted, found = np.asarray(y_queries), np.asarray(y)
    return lambda rows: wanted[rows, None] == found[None]


def shared_labels(Y_queries: ArrayLike, Y: ArrayLike) -> Relevance:
    """Relevance by several labels: the grade of a document is the number of labels that it shares with a query.

    A measure that knows only relevant and irrelevant documents counts those that share at least one label. The
    gain of ``ndcg@k`` and ``ndcg_paper@k`` is 2^number - 1. The grade of more than 52 labels is 52, the highest
    that measures take.

    Parameters
    ----------
    Y_queries, Y : arrays (q, L), (n, L) of 0/1
        Which of L labels each query and each document has. A row without a label is relevant to no query.

    Returns
    -------
    callable
        Takes a slice or an array of query numbers and returns int64 grades (q, n).

    Raises
    ------
    ValueError
        If the arrays are not 0/1, or differ in L.

    Examples
    --------
    >>> shared_labels([[1, 1, 0]], [[1, 1, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0]])(slice(0, 1))
    array([[2, 1, 0, 0]])
    """
    wanted, found = np.asarray(Y_queries), np.asarray(Y)
    if wanted.ndim != 2 or found.ndim != 2 or wanted.shape[1] != found.shape[1]:
        raise ValueError(
            f"indicators have shapes {wanted.shape} and {found.shape}; give (q, L) and (n, L), with the same L"
        )
    for name, each in (("Y_queries", wanted), ("Y", found)):
        if (other := each[(each != 0) & (each != 1)]).size:
            raise ValueError(f"{name} holds {other[0]}: give 0 or 1, which labels a row has; or use same_label")
    rows_with = csr_array(found.T == 1).astype(np.int64)  # of each label

    def grades(rows: Any) -> NDArray[np.int64]:
        shared = csr_array(wanted[rows] == 1).astype(np.int64) @ rows_with
        return np.minimum(shared.toarray(), metrics.MAX_GRADE)

    return grades


def relevance_by_labels(y_queries: NDArray[Any], y: NDArray[Any]) -> Relevance:
    """`shared_labels` where labels are indicators, else `same_label`."""
    return same_label(y_queries, y) if np.ndim(y) == 1 else shared_labels(y_queries, y)


def judged_relevance(judgements: NDArray[Any], n_queries: int, n_documents: int) -> Relevance:
    """Relevance by judgements: the grade of each document, 0 for one without a judgement.

    Parameters
    ----------
    judgements : int array (m, 3)
        Rows (query, document, grade) in any order.
    n_queries, n_documents : int
        Queries and documents are numbered from 0.

    Returns
    -------
    callable
        Takes a slice or an array of query numbers and returns int64 grades (q, n_documents).

    Raises
    ------
    ValueError
        If `judgements` are not integers of this shape, a number is out of range, or a document has two grades
        for one query.
    """
    queries, documents, grades = check_judgements(judgements, n_queries, n_documents).T
    table = csr_array((grades, (queries, documents)), shape=(n_queries, n_documents))
    return lambda rows: np.asarray(table[rows].toarray(), np.int64)


def code_blocks(
    queries: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    relevance: Relevance,
    weights: NDArray[np.float64] | None = None,
) -> Iterator[Block]:
    """Hamming distances of packed codes, block by block.

    Parameters
    ----------
    queries, codes : uint8 arrays (q, n_bytes), (n, n_bytes)
        Packed codes of the queries and of the database.
    relevance : callable
        Takes a slice of query numbers and returns relevance (q, n), bool or int grades.
    weights : ndarray (n_bits,), optional
        Weight of each bit, for weighted Hamming distance.

    Yields
    ------
    distances, relevance : ndarrays (q, n)
        For `retrieval`.
    """
    for rows in _query_slices(len(queries), len(codes)):
        yield code_distances(queries[rows], codes, weights), relevance(rows)


def prepared_blocks(
    queries: PreparedQueries, codes: NDArray[np.uint8], relevance: Relevance
) -> Iterator[Block]:
    """Distances of prepared queries to codes, block by block.

    Parameters
    ----------
    queries : PreparedQueries
    codes : uint8 array (n, n_bytes)
    relevance : callable
        As in `code_blocks`.

    Yields
    ------
    distances, relevance : ndarrays (q, n)
        For `retrieval`. The distances are those of an index.
    """
    terms = None if queries.decoder is None else queries.decoder.squared_lengths(codes)
    for rows in _query_slices(len(queries), len(codes)):
        part = queries[rows]
        yield table_distances(part.base, part.tables(), codes, terms), relevance(rows)


def float_blocks(queries: NDArray[Any], rows: NDArray[Any], relevance: Relevance) -> Iterator[Block]:
    """Euclidean distances of vectors, block by block.

    A block holds ||x||^2 - 2 q'x, which orders the rows x as the distance to the query q does. Both are
    measured from the median of the rows, in units of a power of two: no digit is lost far from the origin, and
    integers stay exact. Numbers that differ by rounding only are made equal, so that they tie.

    Parameters
    ----------
    queries, rows : ndarrays (q, d), (n, d)
        Vectors of the queries and of the database.
    relevance : callable
        As in `code_blocks`.

    Yields
    ------
    distances, relevance : ndarrays (q, n)
        For `retrieval`.
    """
    rows = rows.astype(np.float64)
    origin = np.median(rows[spread_rows(len(rows), _MEDIAN_ROWS)], axis=0)
    rows -= origin
    exponent = -int(np.frexp(np.abs(rows).max(initial=0))[1])
    rows = np.ldexp(rows, exponent)
    norms = (rows**2).sum(axis=1)
    largest = min(norms.max(), _MAX_SPREAD * np.median(norms[norms > 0])) if norms.any() else 0.0
    for block in _query_slices(len(queries), len(rows)):
        q = np.ldexp(queries[block].astype(np.float64) - origin, exponent)
        yield merge_ties(norms - 2 * q @ rows.T, largest, _FLOAT_DIGITS), relevance(block)


def index_distances(encoder: HashEncoder) -> Iterator[IndexDistance]:
    """Every distance of a fitted encoder that an index has: ``"plain"`` and ``"weighted"``, or ``"tables"``."""
    if not encoder.codes_are_bits:
        yield IndexDistance("tables", encoder.prepare_queries)
        return
    yield IndexDistance("plain", encoder.encode_queries)
    if encoder.weighted_:
        yield IndexDistance("weighted", encoder.encode_queries, encoder.search_weights_)


def every_distance(
    encoder: HashEncoder,
    queries: NDArray[Any],
    rows: NDArray[Any],
    relevance: Relevance,
    codes: NDArray[np.uint8] | None = None,
) -> Iterator[tuple[str, Iterator[Block]]]:
    """Every distance that a fitted encoder can be scored by.

    Each encoder has plain Hamming distance, or, where its codes are no bits, that of its prepared queries. One
    that weighs its bits has weighted Hamming distance too, and one with a distance of its own has that.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    queries, rows : ndarrays (q, d), (n, d)
        Vectors of the queries and of the database.
    relevance : callable
        As in `code_blocks`.
    codes : uint8 array (n, n_bytes), optional
        Packed codes of the database; computed from `rows` by default.

    Yields
    ------
    name : str
        ``"plain"``, ``"weighted"``, ``"tables"`` where codes are no bits, or `HashEncoder.own_distance_`.
    blocks : iterator of (distances, relevance)
        For `retrieval`. They are computed when they are scored.
    """
    codes = encoder.encode(rows) if codes is None else codes
    for each in index_distances(encoder):
        yield each.name, each.blocks(queries, codes, relevance)
    if encoder.own_distance_ is not None:
        yield encoder.own_distance_, _own_blocks(encoder, queries, rows, relevance)


def _own_blocks(
    encoder: HashEncoder, queries: NDArray[Any], rows: NDArray[Any], relevance: Relevance
) -> Iterator[Block]:
    """Distances of the encoder's own, block by block."""
    distances = encoder.own_distances(rows)
    for block in _query_slices(len(queries), len(rows)):
        found = np.asarray(distances(queries[block]), np.float64)
        yield merge_ties(found, np.abs(found).max(), _FLOAT_DIGITS), relevance(block)


def _query_slices(n_queries: int, n_rows: int) -> Iterator[slice]:
    """Slices of queries whose distances to all rows are held at a time."""
    return row_slices(n_queries, rows_within(n_rows, _MAX_DISTANCES))
