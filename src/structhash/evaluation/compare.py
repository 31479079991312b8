"""Honest measurement: splits, scores per query, and several methods under one protocol."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash import metrics
from structhash._numerics.validation import check_count, describe
from structhash.codes import code_distances
from structhash.evaluation.methods import Method, parse_method

MEASURES = ("ndcg_paper@100", "precision@100", "map", "pr_area")
PAIRS = 1_000_000  # distances held at a time

Block = tuple[NDArray[Any], NDArray[Any]]


class Split(NamedTuple):
    """Row numbers of one evaluation, each array shuffled."""

    train: NDArray[np.int64]
    queries: NDArray[np.int64]
    database: NDArray[np.int64]


class Scores(NamedTuple):
    """`mean` of each measure, and its value for each query, (Q,), nan where it has none."""

    mean: dict[str, float]
    per_query: dict[str, NDArray[np.float64]]


class Result(NamedTuple):
    """One method, length and seed."""

    method: str
    distance: str  # "plain", "weighted", the word of a distance of the method's own, or "L2"
    n_bits: int  # 0 for float vectors
    seed: int
    chosen: str  # the setting chosen on the training rows, or ""
    scores: Scores
    fit_seconds: float
    encode_seconds: float


def seen_classes(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_train: int = 2000) -> Split:
    """Random queries; all other rows are the database, and some of those train (Section 5 of the paper).

    Small data: at most a quarter of the rows are queries.

    Raises
    ------
    ValueError
        If there are fewer than 4 rows.
    """
    if len(y) < 4:
        raise ValueError(f"the data have {len(y)} rows, a quarter of which are queries; give at least 4")
    order = np.random.default_rng(seed).permutation(len(y))
    n_queries = min(n_queries, len(y) // 4)
    database = order[n_queries:]
    return Split(database[:n_train], order[:n_queries], database)


def unseen_classes(y: NDArray[Any], seed: int = 0, n_queries: int = 2000, n_train: int = 4000) -> Split:
    """Train on three quarters of the classes (rounded down), retrieve among the others.

    A quarter of the rows of the other classes, at most `n_queries`, are queries, the rest their database.

    Raises
    ------
    ValueError
        If there are fewer than 5 classes, or fewer than 4 rows of the classes left for retrieval.
    """
    names, label = np.unique(y, return_inverse=True)
    n_seen = int(0.75 * len(names))
    if n_seen < 2 or len(names) - n_seen < 2:
        raise ValueError(
            f"the unseen-class protocol trains on 3 of 4 classes and needs 2 others; the data have {len(names)}"
        )
    rng = np.random.default_rng(seed)
    seen = np.isin(label, rng.permutation(len(names))[:n_seen])
    order = rng.permutation(len(y))
    train, rest = order[seen[order]][:n_train], order[~seen[order]]
    if len(rest) < 4:
        raise ValueError(
            f"the {len(names) - n_seen} classes left for retrieval have {len(rest)} rows; give at least 4"
        )
    n_queries = min(n_queries, len(rest) // 4)
    return Split(train, rest[:n_queries], rest[n_queries:])


PROTOCOLS: dict[str, Callable[..., Split]] = {"seen": seen_classes, "unseen": unseen_classes}


def retrieval(blocks: Iterable[Block], measures: Iterable[str] = MEASURES, ties: str = "expected") -> Scores:
    """Score rankings by distance.

    Parameters
    ----------
    blocks : iterable of (distances (q, n), relevance (q, n))
        Some queries at a time against the whole database; relevance is bool, or int grades.
    measures : iterable of str
        Names as `metrics.parse` takes them, and ``"pr_area"``: the area under the mean precision / mean recall
        curve, whose per-query values are the areas of each query's own curve.
    ties : str
        ``"expected"`` over all orders of equal distances, or ``"id"``.

    Returns
    -------
    Scores
        A mean runs over the queries that have a value, and is nan where none has.

    Raises
    ------
    ValueError
        If a measure is not known, or there is no block.
    """
    measures = list(measures)
    named = parse_measures(measures)
    found: dict[str, list[NDArray[np.float64]]] = {name: [] for name in measures}
    curve: Any = 0.0
    n_valid = 0
    for distances, relevance in blocks:
        tied = metrics.tie_blocks(distances, relevance, ties)
        for name, measure in named.items():
            found[name].append(measure(tied))
        if "pr_area" not in found:
            continue
        found["pr_area"].append(metrics.pr_area_per_query(tied))
        if valid := int((tied.relevant > 0).sum()):
            curve = curve + valid * np.array(metrics.precision_recall_curve(tied))
            n_valid += valid
    if not all(found.values()):
        raise ValueError("there are no queries to score; give at least one block")
    per_query = {name: np.concatenate(parts) for name, parts in found.items()}
    mean = {name: _mean(values) for name, values in per_query.items()}
    if n_valid and "pr_area" in mean:
        recall, precision = curve / n_valid
        mean["pr_area"] = float(np.trapezoid(precision, recall))
    return Scores(mean, per_query)


def parse_measures(names: Iterable[str]) -> dict[str, Callable[..., NDArray[np.float64]]]:
    """The measures of `retrieval` that are functions of tie blocks: all but ``"pr_area"``.

    Raises
    ------
    ValueError
        If a name is not known.
    """
    try:
        return {name: metrics.parse(name) for name in names if name != "pr_area"}
    except ValueError as error:
        raise ValueError(f"{error}, or pr_area") from None


def checked(
    methods: Iterable[str | Method], bits: Iterable[int], measures: Iterable[str]
) -> tuple[list[Method], list[int], list[str]]:
    """Methods, code lengths and measures of a comparison, refused before the first fit if one is not known."""
    lengths, names = list(bits), list(measures)
    for n_bits in lengths:
        check_count("bits", n_bits)
    parse_measures(names)
    parsed = [parse_method(method) if isinstance(method, str) else method for method in methods]
    return parsed, [int(n_bits) for n_bits in lengths], names


def code_blocks(
    queries: NDArray[np.uint8],
    codes: NDArray[np.uint8],
    relevance: Callable[[slice], NDArray[Any]],
    weights: NDArray[np.float64] | None = None,
) -> Iterator[Block]:
    """`code_distances` of packed query codes to packed database codes, block by block."""
    for rows in _rows(len(queries), len(codes)):
        yield code_distances(queries[rows], codes, weights), relevance(rows)


def own_blocks(
    encoder: Any, queries: NDArray[Any], rows: NDArray[Any], relevance: Callable[[slice], NDArray[Any]]
) -> Iterator[Block]:
    """`HashEncoder.own_distances` of float queries to the float rows of the database, block by block."""
    distances = encoder.own_distances(rows)
    for block in _rows(len(queries), len(rows)):
        found = np.asarray(distances(queries[block]), np.float64)
        yield metrics.merge_ties(found, np.abs(found).max(), digits=12), relevance(block)


def every_distance(
    encoder: Any,
    queries: NDArray[Any],
    rows: NDArray[Any],
    relevance: Callable[[slice], NDArray[Any]],
    codes: NDArray[np.uint8] | None = None,
) -> Iterator[tuple[str, Iterator[Block]]]:
    """What a fitted encoder is scored by: plain Hamming distance, weighted where it weighs its bits, its own.

    Parameters
    ----------
    queries, rows : ndarray (q, d), (n, d)
        Vectors of the queries and of the database.
    codes : uint8 array, optional
        Codes of the database, where they are known already.

    Yields
    ------
    word : str
        ``"plain"``, ``"weighted"``, or `HashEncoder.own_distance_`.
    blocks : iterator of (distances, relevance)
        For `retrieval`; computed when they are scored.
    """
    asked, codes = encoder.encode_queries(queries), encoder.encode(rows) if codes is None else codes
    yield "plain", code_blocks(asked, codes, relevance)
    if encoder.weighted_:
        yield "weighted", code_blocks(asked, codes, relevance, encoder.search_weights_)
    if encoder.own_distance_ is not None:
        yield encoder.own_distance_, own_blocks(encoder, queries, rows, relevance)


def float_blocks(
    queries: NDArray[Any], vectors: NDArray[Any], relevance: Callable[[slice], NDArray[Any]]
) -> Iterator[Block]:
    """Squared L2 distances of float vectors (float64) less the query's squared norm, block by block."""
    vectors = vectors.astype(np.float64)
    norms = (vectors**2).sum(axis=1)
    for rows in _rows(len(queries), len(vectors)):
        q = queries[rows].astype(np.float64)
        yield metrics.merge_ties(norms - 2 * q @ vectors.T, norms.max(), digits=12), relevance(rows)


def same_label(y_queries: NDArray[Any], y: NDArray[Any]) -> Callable[[slice], NDArray[np.bool_]]:
    """Relevance by label agreement."""
    return lambda rows: y_queries[rows, None] == y[None]


def judged(qrels: NDArray[Any], n_queries: int, n: int) -> Callable[[slice], NDArray[np.int64]]:
    """Relevance by judgements: rows (query, document, grade); unjudged documents have grade 0."""
    grades = np.zeros((n_queries, n), np.int64)
    grades[qrels[:, 0], qrels[:, 1]] = qrels[:, 2]
    return lambda rows: grades[rows]


def judgements(
    qrels: NDArray[Any], n_queries: int, seed: int = 0, folds: int = 5
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Cross-validation by query: (training queries, test queries) of each fold, sorted query numbers.

    Only queries with a relevant document are dealt out, each to the test part of one fold.

    Parameters
    ----------
    qrels : int array (m, 3)
        Rows (query, document, grade).
    n_queries, seed, folds : int

    Raises
    ------
    ValueError
        If there are fewer than 2 folds, or fewer queries with a relevant document than folds.
    """
    check_count("folds", folds)
    asked = np.bincount(qrels[:, 0], qrels[:, 2] > 0, minlength=n_queries).nonzero()[0]
    if not 2 <= folds <= len(asked):
        raise ValueError(
            f"folds={folds!r}: give at least 2 and at most {len(asked)}, the queries with a relevant document"
        )
    parts = np.array_split(np.random.default_rng(seed).permutation(asked), folds)
    return [(np.setdiff1d(asked, part), np.sort(part)) for part in parts]


def compare(
    methods: Iterable[str | Method],
    X: NDArray[Any],
    y: NDArray[Any],
    protocol: str = "seen",
    bits: Iterable[int] = (64,),
    seeds: Iterable[int] = (0, 1, 2),
    measures: Iterable[str] = MEASURES,
    n_queries: int = 2000,
    n_train: int | None = None,
    ties: str = "expected",
) -> Iterator[Result]:
    """Fit and score several methods on the same splits, a `Result` at a time.

    Parameters
    ----------
    methods : iterable of str or Method
        See `methods.parse_method`: ``"structhash:ranking=auc"``, ``"itq@database"``, ``"float"``.
    X : ndarray (n, d)
    y : ndarray (n,)
    protocol : str
        ``"seen"`` or ``"unseen"``: see `seen_classes`, `unseen_classes`.
    bits : iterable of int
        Code lengths; a model is trained for each. A method with a length of its own is trained once at that.
    seeds : iterable of int
        A split and a model each.
    measures, ties
        See `retrieval`.
    n_queries, n_train : int
        Sizes of the split; the protocol's own by default.

    Yields
    ------
    Result
        A model that weighs its bits gives two, plain and weighted Hamming distance; one with a distance of
        its own (`HashEncoder.own_distance_`) another one.

    Raises
    ------
    ValueError
        If the protocol, a method or a measure is not known, a number is not allowed, or labels and rows
        differ in number.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol {describe(protocol)}: give {' or '.join(PROTOCOLS)}")
    X, y = np.asarray(X), np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"labels have shape {y.shape}; give one label for each of the {len(X)} rows")
    check_count("n_queries", n_queries)
    if n_train is not None:
        check_count("n_train", n_train)
    parsed, lengths, names = checked(methods, bits, measures)
    sizes = {"n_queries": n_queries} | ({} if n_train is None else {"n_train": n_train})
    for seed in map(operator.index, seeds):
        split = PROTOCOLS[protocol](y, seed, **sizes)
        relevance = same_label(y[split.queries], y[split.database])
        for method in parsed:
            for n_bits in method.lengths(lengths):
                yield from _measure(method, X, y, split, relevance, n_bits, seed, names, ties)


def _measure(
    method: Method,
    X: NDArray[Any],
    y: NDArray[Any],
    split: Split,
    relevance: Callable[[slice], NDArray[Any]],
    n_bits: int,
    seed: int,
    measures: list[str],
    ties: str,
) -> Iterator[Result]:
    queries, database = X[split.queries], X[split.database]
    if method.is_float:
        scores = retrieval(float_blocks(queries, database, relevance), measures, ties)
        yield Result(method.name, "L2", 0, seed, "", scores, 0.0, 0.0)
        return
    began = time.perf_counter()
    encoder, chosen = method.fit(X[split.train], y[split.train], n_bits, seed, database)
    fitted = time.perf_counter()
    codes = encoder.encode(database)
    seconds = fitted - began, time.perf_counter() - fitted
    for distance, blocks in every_distance(encoder, queries, database, relevance, codes):
        scores = retrieval(blocks, measures, ties)
        yield Result(method.name, distance, n_bits or encoder.n_bits_, seed, chosen, scores, *seconds)


def _mean(values: NDArray[np.float64]) -> float:
    """Mean of the values that are there."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _rows(n_queries: int, n: int) -> Iterator[slice]:
    step = max(1, PAIRS // max(n, 1))
    for first in range(0, n_queries, step):
        yield slice(first, min(first + step, n_queries))
