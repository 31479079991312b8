"""Fit and score several methods on the same splits of labelled rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.interrupts import interrupted
from structhash._numerics.labels import first_without_one, read_labels
from structhash._numerics.matrices import read_matrix
from structhash._numerics.validation import MAX_BITS, check_count, check_list, describe
from structhash.evaluation.found import FirstFound, Found
from structhash.evaluation.instances import inside_class, nearest_in_class
from structhash.evaluation.methods import Method, as_method, code_traits
from structhash.evaluation.protocols import PROTOCOLS, Protocol, find_protocol
from structhash.evaluation.query_time import query_seconds
from structhash.evaluation.reading import read_codes
from structhash.evaluation.scoring import (
    Block,
    Relevance,
    Scores,
    check_measures,
    float_blocks,
    relevance_by_labels,
    retrieval,
)
from structhash.evaluation.splits import labelled_queries

__all__ = ["Fit", "Request", "Result", "Task", "check_request", "compare", "measure_task", "run_fits"]


class Result(NamedTuple):
    """The scores of one method with one distance, code length and seed.

    Attributes
    ----------
    method : str
        Name of the method.
    distance : str
        ``"plain"`` or ``"weighted"`` Hamming distance, the name of the method's own distance, the reader that
        the method names, or ``"L2"``.
    n_bits : int
        Length of the code; 0 for float vectors.
    seed : int
        Of the split and of the method.
    chosen : str
        The alternative, and the reader, that were chosen on the training rows; ``""`` where there is only one.
    scores : Scores
        What `retrieval` returned.
    fit_seconds, encode_seconds : float
        Wall-clock time to fit; to encode the database, and to fit a reader.
    error : str
        Why the method has no scores; ``""`` where it has.
    found : Found
        What each query finds first.
    query_seconds : float or None
        Of one query, see `structhash.evaluation.query_time.query_seconds`; None where it is not timed.
    sizes : sequence of int
        Numbers of training rows, queries and database rows of the split; empty where they are not known.
    reads_floats, one_hot : bool
        See `code_traits`.
    """

    method: str
    distance: str
    n_bits: int
    seed: int
    chosen: str
    scores: Scores
    fit_seconds: float
    encode_seconds: float
    error: str = ""
    found: Found = Found()
    query_seconds: float | None = None
    sizes: Sequence[int] = ()
    reads_floats: bool = False
    one_hot: bool = False


class Request(NamedTuple):
    """The input of a comparison, after the checks."""

    methods: list[Method]
    lengths: list[int]  # of codes, in bits
    seeds: list[int]
    measures: list[str]
    ties: str
    failures: str
    finished: list[Result]
    on_fit: Callable[[list[Result]], None] | None


class Fit(NamedTuple):
    """One fit of a comparison that is still to be run.

    Attributes
    ----------
    method : Method
    n_bits : int
        0 for a length of its own.
    seed : int
    run : callable
        Fits, scores and gives a result for each distance.
    """

    method: Method
    n_bits: int
    seed: int
    run: Callable[[], Iterable[Result]]


class Task(NamedTuple):
    """One split: the rows that the methods get, and which database rows are relevant."""

    X: NDArray[Any]  # training rows
    y: NDArray[Any] | None  # their labels, where the protocol has some
    queries: NDArray[Any]
    database: NDArray[Any]
    relevance: Relevance
    ranked: Callable[[Iterable[Block]], Iterable[Block]]  # leaves the documents that a protocol ranks
    seed: int
    query_rows: NDArray[np.int64]  # row numbers in the data
    database_rows: NDArray[np.int64] | None  # the same; None where not all documents are ranked

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of training rows, queries and database rows."""
        return len(self.X), len(self.queries), len(self.database)


def check_request(
    methods: Iterable[str | Method],
    bits: Iterable[int],
    seeds: Iterable[int],
    measures: Iterable[str],
    ties: str,
    failures: str = "raise",
    finished: Iterable[Result] = (),
    on_fit: Callable[[list[Result]], None] | None = None,
) -> Request:
    """Check what a comparison is to run, before the first fit.

    Parameters
    ----------
    methods : iterable of str or Method
        Method specs, see `parse_method`.
    bits : iterable of int
        Code lengths.
    seeds : iterable of int
    measures, ties
        See `retrieval`.
    failures, finished, on_fit
        See `compare`.

    Returns
    -------
    Request

    Raises
    ------
    ValueError, TypeError
        If a method, a setting or a measure is not known, or a number is not allowed.
    """
    lengths, draws = check_list("bits", bits), check_list("seeds", seeds)
    for n_bits in lengths:
        check_count("bits", n_bits, most=MAX_BITS)
    for seed in draws:
        check_count("seeds", seed, least=0, most=2**32 - 1)
    names = check_measures(measures, ties)
    parsed = [as_method(method) for method in check_list("methods", methods)]
    if failures not in ("raise", "keep"):
        raise ValueError(f"failures={describe(failures)}: give 'raise' or 'keep'")
    lengths, draws = [int(n_bits) for n_bits in lengths], [int(seed) for seed in draws]
    return Request(parsed, lengths, draws, names, ties, failures, list(finished), on_fit)


def run_fits(request: Request, fits: Iterable[Fit]) -> Iterator[Result]:
    """The results of fits, in their order; a fit is run when its first result is requested.

    Parameters
    ----------
    request : Request
    fits : iterable of Fit

    Returns
    -------
    iterator of Result

    Raises
    ------
    Exception
        That of a fit, with a note that names it, unless failures are kept.
    """
    for fit in fits:
        same = [each for each in request.finished if each.method == fit.method.name and each.seed == fit.seed]
        results = [each for each in same if each.n_bits == fit.n_bits or not fit.n_bits]
        if not results or any(each.error for each in results):
            results = _run(request, fit)
        if request.on_fit is not None:
            request.on_fit(results)
        yield from results


def _run(request: Request, fit: Fit) -> list[Result]:
    """The results of one fit, or its failure."""
    try:
        return list(fit.run())
    except Exception as error:
        if interrupted(error) or request.failures == "raise":
            error.add_note(f"in the comparison: {fit.method.name}, {fit.n_bits} bits, seed {fit.seed}")
            raise
        names = request.measures
        missing = Scores(dict.fromkeys(names, np.nan), {name: np.empty(0) for name in names})
        why = f"{type(error).__name__}: {error}"
        return [Result(fit.method.name, "-", fit.n_bits, fit.seed, "", missing, np.nan, np.nan, why)]


def compare(
    methods: Iterable[str | Method],
    X: Any,
    y: Any,
    protocol: str = "seen",
    bits: Iterable[int] = (64,),
    seeds: Iterable[int] = (0, 1, 2),
    measures: Iterable[str] | None = None,
    n_queries: int = 2000,
    n_train: int | None = None,
    ties: str = "expected",
    failures: str = "raise",
    finished: Iterable[Result] = (),
    on_fit: Callable[[list[Result]], None] | None = None,
) -> Iterator[Result]:
    """Fit and score several methods on the same splits of labelled rows.

    Parameters
    ----------
    methods : iterable of str or Method
        Method specs, see `parse_method`: ``"structhash:ranking=auc"``, ``"itq@database"``, ``"float"``.
    X, y : arrays (n, d), (n,)
        Rows and labels, as `fit` takes them. With ``"seen"``, y may be indicators (n, L): `shared_labels`
        judges, and queries without a label are left out.
    protocol : str
        One of `PROTOCOLS`, such as ``"seen"``, or ``"few-5"`` for 5 labelled rows a class; see `find_protocol`.
    bits : iterable of int
        Code lengths; a model is trained for each. A method with a length of its own is trained once.
    seeds : iterable of int
        Each draws a split and is the `random_state` of the methods.
    n_queries, n_train, measures, ties
        Numbers of rows at most; see `retrieval`. The protocol has default values of `n_train` and `measures`.
    failures : str
        Where a method raises, ``"raise"`` ends the comparison and ``"keep"`` gives a result with the `error`.
    finished : iterable of Result
        Earlier results for the same data and settings; they are not computed again.
    on_fit : callable, optional
        Called with the results of each fit before they are given.

    Returns
    -------
    iterator of Result
        One for each distance, see `every_distance`. A method is fitted when its first result is requested.

    Raises
    ------
    ValueError, TypeError
        If a name or a number is not allowed, or y is not one label a row where the protocol needs that.

    Examples
    --------
    >>> [each.distance for each in compare(["float", "lsh"], np.eye(8), np.arange(8) % 2, bits=[4], seeds=[0])]
    ['L2', 'plain']
    """
    X, world = read_matrix(X), find_protocol(protocol)
    labels = _read_labels(protocol, world, y, len(X))
    sizes = _check_sizes(protocol, world, n_queries, n_train)
    measures = _check_measures(protocol, world, measures)
    request = check_request(methods, bits, seeds, measures, ties, failures, finished, on_fit)
    return run_fits(request, _fits(request, X, labels, world, sizes))


def _read_labels(name: str, protocol: Protocol, y: Any, n_rows: int) -> NDArray[Any]:
    """The class index (n,), or indicators (n, L) where the protocol takes rows with several labels or none."""
    labels = read_labels(y, n_rows)
    if labels.indicators is not None and not protocol.takes_several_labels:
        row, n_own = first_without_one(labels.indicators)
        able = [f"protocol={each!r}" for each, other in PROTOCOLS.items() if other.takes_several_labels]
        raise ValueError(
            f"protocol={name!r} splits rows by their class, and row {row} of y has {n_own} of "
            f"{labels.indicators.shape[1]} labels; give {' or '.join(able)}, or one label a row"
        )
    return labels.of_rows


def _check_sizes(name: str, protocol: Protocol, n_queries: int, n_train: int | None) -> dict[str, int]:
    """The sizes of a split, after the checks of the numbers."""
    check_count("n_queries", n_queries)
    if n_train is None:
        return {"n_queries": n_queries}
    check_count("n_train", n_train)
    if not protocol.takes_n_train:
        raise ValueError(
            f"n_train={n_train}: protocol={name!r} sets how many rows of a class train; leave n_train out"
        )
    return {"n_queries": n_queries, "n_train": n_train}


def _check_measures(name: str, protocol: Protocol, measures: Iterable[str] | None) -> list[str]:
    """The measures, by default those of the protocol; ValueError for one that its rankings do not have."""
    names = check_measures(protocol.measures if measures is None else measures)
    if protocol.inside_class and "pr_area" in names:
        raise ValueError(
            f"measures={describe(names)}: pr_area needs rankings of one length, and protocol={name!r} ranks "
            "one class at a time; leave pr_area out"
        )
    return names


def _fits(
    request: Request, X: NDArray[Any], y: NDArray[Any], protocol: Protocol, sizes: dict[str, int]
) -> Iterator[Fit]:
    """The fits of `compare`."""
    for seed in request.seeds:
        task = _draw_task(X, y, protocol, seed, sizes)
        for method in request.methods:
            for n_bits in method.lengths(request.lengths):
                run = partial(measure_task, method, n_bits, task, request.measures, request.ties)
                yield Fit(method, n_bits, seed, run)


def _draw_task(X: NDArray[Any], y: NDArray[Any], protocol: Protocol, seed: int, sizes: dict[str, int]) -> Task:
    """The split of one seed, with the labels that teach and the relevance that judges."""
    train, queries, database = labelled_queries(protocol.draw(y, seed, **sizes), y)
    labels = y if protocol.training_labels is None else protocol.training_labels(y, seed)
    relevance = relevance_by_labels(y[queries], y[database])
    ranked: Callable[[Iterable[Block]], Iterable[Block]] = iter
    database_rows = None if protocol.inside_class else database
    if protocol.inside_class:
        ranked = partial(inside_class, same_class=relevance)
        relevance = nearest_in_class(X[queries], X[database], y[queries], y[database])
    rows = X[train], labels[train], X[queries], X[database]
    return Task(*rows, relevance, ranked, seed, queries, database_rows)


def measure_task(method: Method, n_bits: int, task: Task, measures: list[str], ties: str) -> Iterator[Result]:
    """Fit and score one method on one split.

    Parameters
    ----------
    method : Method
    n_bits : int
        0 means the method's own length.
    task : Task
    measures, ties
        See `retrieval`.

    Yields
    ------
    Result
        One for each distance.
    """
    if method.is_float:
        blocks = float_blocks(task.queries, task.database, task.relevance)
        scores, found = _score(blocks, task, measures, ties)
        yield Result(method.name, "L2", 0, task.seed, "", scores, 0.0, 0.0, found=found, sizes=task.sizes)
        return
    began = time.perf_counter()
    encoder, chosen = method.fit(task.X, task.y, n_bits, task.seed, task.database)
    fitted = time.perf_counter()
    learned_from = task.database if method.on_database else task.X
    read = read_codes(encoder, learned_from, task.database, method.reader, task.seed)
    seconds = fitted - began, time.perf_counter() - fitted
    n_bits = n_bits or encoder.n_bits_
    timed = query_seconds(read, task.queries)
    for distance, blocks in read.distances(task.queries, task.relevance):
        scores, found = _score(blocks, task, measures, ties)
        about = ", ".join(filter(None, (chosen, read.chosen)))
        more: dict[str, Any] = {"found": found, "query_seconds": timed.get(distance), "sizes": task.sizes}
        more |= code_traits(encoder, distance)
        yield Result(method.name, distance, n_bits, task.seed, about, scores, *seconds, **more)


def _score(blocks: Iterable[Block], task: Task, measures: list[str], ties: str) -> tuple[Scores, Found]:
    """The scores of one distance, and what each query finds first."""
    noted = FirstFound(task.seed)
    scores = retrieval(task.ranked(noted.watch(blocks)), measures, ties)
    return scores, noted.found(task.query_rows, task.database_rows)
