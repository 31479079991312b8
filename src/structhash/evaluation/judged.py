"""Fit and score several methods by relevance judgements, cross-validated by query."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.matrices import read_matrix
from structhash._numerics.validation import check_count
from structhash.estimators.base import HashEncoder
from structhash.evaluation.compare import Fit, Request, Result, check_request, run_fits
from structhash.evaluation.found import FirstFound
from structhash.evaluation.methods import Method, code_traits, parse_method, partner_counts, prepare
from structhash.evaluation.query_time import query_seconds
from structhash.evaluation.reading import ReadCodes, read_codes
from structhash.evaluation.scoring import (
    Block,
    Relevance,
    float_blocks,
    judged_relevance,
    retrieval,
)
from structhash.supervision import Qrels
from structhash.supervision.judgements import check_judgements

__all__ = [
    "JUDGED_MEASURES",
    "Fold",
    "check_judged_method",
    "compare_judged",
    "judgement_folds",
    "read_vectors",
]

JUDGED_MEASURES = ("ndcg@10", "map")


class Fold(NamedTuple):
    """Query numbers of one fold, sorted.

    Attributes
    ----------
    train : int64 array
        Queries whose judgements are learned from.
    test : int64 array
        Queries that are scored.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


class _Task(NamedTuple):
    """The data that the methods get, and the judgements that score their rankings."""

    X: NDArray[Any]  # documents
    Q: NDArray[Any]
    judgements: NDArray[np.int64]
    relevance: Relevance
    folds: list[Fold]
    seed: int


class _Fitted(NamedTuple):
    """The codes of the documents, how queries are compared with them, and the seconds that these took."""

    read: ReadCodes
    fit_seconds: float
    encode_seconds: float


def judgement_folds(judgements: NDArray[Any], n_queries: int, seed: int = 0, folds: int = 5) -> list[Fold]:
    """Deal the judged queries out to folds.

    Each query with a relevant document is a test query of one fold and a training query of the others. Queries
    without one are left out.

    Parameters
    ----------
    judgements : int array (m, 3)
        Rows (query, document, grade).
    n_queries : int
        Queries are numbered from 0.
    seed : int
        Shuffles the queries.
    folds : int
        Number of folds.

    Returns
    -------
    list of Fold

    Raises
    ------
    ValueError
        If there are fewer than 2 folds, or fewer queries with a relevant document than folds.
    """
    check_count("folds", folds)
    asked = np.bincount(judgements[:, 0], judgements[:, 2] > 0, minlength=n_queries).nonzero()[0]
    if not 2 <= folds <= len(asked):
        raise ValueError(
            f"folds={folds!r}: give at least 2 and at most {len(asked)}, the queries with a relevant document"
        )
    parts = np.array_split(np.random.default_rng(seed).permutation(asked), folds)
    return [Fold(np.setdiff1d(asked, part), np.sort(part)) for part in parts]


def compare_judged(
    methods: Iterable[str | Method],
    X: NDArray[Any],
    Q: NDArray[Any],
    qrels: NDArray[Any],
    bits: Iterable[int] = (64,),
    seeds: Iterable[int] = (0, 1, 2),
    measures: Iterable[str] = JUDGED_MEASURES,
    folds: int = 5,
    ties: str = "expected",
    failures: str = "raise",
    finished: Iterable[Result] = (),
    on_fit: Callable[[list[Result]], None] | None = None,
) -> Iterator[Result]:
    """Fit and score several methods by relevance judgements, cross-validated by query.

    In each fold, a method that learns from judgements is fitted on the documents and the judgements of the
    training queries. A method that does not is fitted once, on the documents alone. The test queries are then
    ranked against all documents. So each query with a relevant document is scored once, by a model that has not
    seen it.

    Parameters
    ----------
    methods : iterable of str or Method
        Method specs, see `parse_method`. `check_judged_method` refuses some of them.
    X, Q : ndarrays (n, d), (n_queries, d)
        Documents and queries.
    qrels : int array (m, 3)
        Judgements: rows (query, document, grade), see `structhash.Qrels`.
    bits : iterable of int
        Code lengths; a model is trained for each.
    seeds : iterable of int
        Each draws the folds and is the `random_state` of the methods.
    folds : int
        Number of folds.
    measures, ties
        See `retrieval`.
    failures, finished, on_fit
        See `compare`.

    Returns
    -------
    iterator of Result
        One for each distance of a method; its seconds are those of all folds. A method is fitted when its first
        result is requested.

    Raises
    ------
    ValueError, TypeError
        If a method cannot learn without labels, or judgements, a name or a number are not allowed.
    """
    request = check_request(methods, bits, seeds, measures, ties, failures, finished, on_fit)
    for method in request.methods:
        check_judged_method(method)
    X, Q = read_vectors(X, Q)
    table = check_judgements(qrels, len(Q), len(X))
    relevance = judged_relevance(table, len(Q), len(X))
    dealt = [judgement_folds(table, len(Q), seed, folds) for seed in request.seeds]
    tasks = [_Task(X, Q, table, relevance, each, seed) for each, seed in zip(dealt, request.seeds)]
    return run_fits(request, _fits(request, tasks))


def read_vectors(X: Any, Q: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Documents and queries as matrices of one width; frames must have their columns in one order."""
    names = [list(each.columns) for each in (X, Q) if hasattr(each, "columns")]
    if len(names) == 2 and names[0] != names[1]:
        raise ValueError("X and Q do not have the same columns in the same order; give Q[X.columns]")
    X, Q = read_matrix(X), read_matrix(Q, "Q")
    if X.shape[1] != Q.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns and Q has {Q.shape[1]}; give vectors of one length")
    return X, Q


def check_judged_method(method: str | Method) -> None:
    """Refuse a method that `compare_judged` cannot fit: one that needs labels, or that has alternatives.

    Raises
    ------
    ValueError, TypeError
        Naming the method and the reason.
    """
    if isinstance(method, str):
        method = parse_method(method)
    if len(method.encoders) > 1:
        raise ValueError(f"{method.name!r}: alternatives are chosen by labels; name one setting here")
    if method.on_database:
        raise ValueError(f"{method.name!r}: all methods are fitted on the documents here; drop @database")
    for encoder in method.encoders:
        if encoder.needs_y() and not encoder.learns_from_judgements():
            raise ValueError(
                f"{method.name!r} learns from class labels, not from judgements; leave it out, or change its "
                "settings"
            )


def _fits(request: Request, tasks: list[_Task]) -> Iterator[Fit]:
    """The fits of `compare_judged`."""
    for task in tasks:
        for method in request.methods:
            for n_bits in method.lengths(request.lengths):
                run = partial(_measure, method, n_bits, task, request.measures, request.ties)
                yield Fit(method, n_bits, task.seed, run)


def _measure(method: Method, n_bits: int, task: _Task, measures: list[str], ties: str) -> Iterator[Result]:
    """Fit and score one method at one code length; 0 means its own length."""
    blocks: dict[str, list[Iterator[Block]]] = {}  # of all folds, by distance; computed when they are scored
    seconds, chosen, timed = np.zeros(2), set[str](), dict[str, float]()
    if method.is_float:
        blocks["L2"] = [float_blocks(task.Q[test], task.X, _of_queries(task, test)) for _, test in task.folds]
    else:
        for (_, test), fitted in zip(task.folds, _fit_folds(method, n_bits, task)):
            seconds += fitted.fit_seconds, fitted.encode_seconds
            chosen.add(fitted.read.chosen)
            timed = timed or query_seconds(fitted.read, task.Q[test])  # of the first fold
            for distance, found in fitted.read.distances(task.Q[test], _of_queries(task, test)):
                blocks.setdefault(distance, []).append(found)
        n_bits = n_bits or fitted.read.encoder.n_bits_
    about, times = ", ".join(sorted(chosen - {""})), (float(seconds[0]), float(seconds[1]))
    asked = np.concatenate([test for _, test in task.folds])
    for distance, parts in blocks.items():
        noted = FirstFound(task.seed)
        scores = retrieval(noted.watch(itertools.chain(*parts)), measures, ties)
        first = noted.found(asked, np.arange(len(task.X)))
        sizes = len(task.X), len(asked), len(task.X)  # all documents train
        more: dict[str, Any] = {"found": first, "query_seconds": timed.get(distance), "sizes": sizes}
        more |= {} if method.is_float else code_traits(method.encoders[0], distance)
        yield Result(method.name, distance, n_bits, task.seed, about, scores, *times, **more)


def _fit_folds(method: Method, n_bits: int, task: _Task) -> Iterator[_Fitted]:
    """A fitted encoder for each fold; always the same one where it learns from the documents alone."""
    encoder = method.encoders[0]
    if not encoder.learns_from_judgements():
        fitted = _fit(prepare(encoder, n_bits, task.seed), task, None, method.reader)
        yield fitted
        yield from itertools.repeat(fitted._replace(fit_seconds=0.0, encode_seconds=0.0))
    for train, _ in task.folds:
        qrels = _training_qrels(encoder, task, train)
        yield _fit(prepare(encoder, n_bits, task.seed), task, qrels, method.reader)


def _fit(encoder: HashEncoder, task: _Task, qrels: Qrels | None, reader: str) -> _Fitted:
    """Fit, encode the documents and fit a reader to them, and take the times."""
    began = time.perf_counter()
    fitted = encoder.fit(task.X, qrels)
    learned = time.perf_counter()
    read = read_codes(fitted, task.X, task.X, reader, task.seed)
    return _Fitted(read, learned - began, time.perf_counter() - learned)


def _training_qrels(encoder: HashEncoder, task: _Task, train: NDArray[np.int64]) -> Qrels:
    """The judgements of the training queries, which are numbered by their place in `train`."""
    kept = task.judgements[np.isin(task.judgements[:, 0], train)]
    numbered = np.column_stack([np.searchsorted(train, kept[:, 0]), kept[:, 1:]])
    return Qrels(numbered, task.Q[train], **partner_counts(encoder))


def _of_queries(task: _Task, queries: NDArray[np.int64]) -> Relevance:
    """Relevance for some of the queries, numbered by their place in `queries`."""
    return lambda rows: task.relevance(queries[rows])
