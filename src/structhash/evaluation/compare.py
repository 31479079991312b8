"""Fit and score several methods on the same splits of labelled rows."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count, describe
from structhash.evaluation.methods import Method, parse_method
from structhash.evaluation.scoring import (
    MEASURES,
    Relevance,
    Scores,
    check_measures,
    every_distance,
    float_blocks,
    retrieval,
    same_label,
)
from structhash.evaluation.splits import PROTOCOLS

__all__ = ["Request", "Result", "check_request", "compare"]


class Result(NamedTuple):
    """The scores of one method with one distance, code length and seed.

    Attributes
    ----------
    method : str
        Name of the method.
    distance : str
        ``"plain"`` or ``"weighted"`` Hamming distance, the name of the method's own distance, or ``"L2"``.
    n_bits : int
        Length of the code; 0 for float vectors.
    seed : int
        Of the split and of the method.
    chosen : str
        The alternative that was chosen on the training rows; ``""`` where there is only one.
    scores : Scores
        What `retrieval` returned.
    fit_seconds, encode_seconds : float
        Wall-clock time to fit, and to encode the database.
    """

    method: str
    distance: str
    n_bits: int
    seed: int
    chosen: str
    scores: Scores
    fit_seconds: float
    encode_seconds: float


class Request(NamedTuple):
    """What a comparison runs, after the checks."""

    methods: list[Method]
    lengths: list[int]  # of codes, in bits
    seeds: list[int]
    measures: list[str]


class _Task(NamedTuple):
    """One split: what the methods are given, and which database rows are relevant."""

    X: NDArray[Any]  # training rows
    y: NDArray[Any]
    queries: NDArray[Any]
    database: NDArray[Any]
    relevance: Relevance
    seed: int


def check_request(
    methods: Iterable[str | Method], bits: Iterable[int], seeds: Iterable[int], measures: Iterable[str]
) -> Request:
    """Check what a comparison is to run, before the first fit.

    Parameters
    ----------
    methods : iterable of str or Method
        Method specs, see `parse_method`.
    bits : iterable of int
        Code lengths.
    seeds : iterable of int
    measures : iterable of str
        See `retrieval`.

    Returns
    -------
    Request

    Raises
    ------
    ValueError, TypeError
        If a method, a setting or a measure is not known, or a number is not allowed.
    """
    lengths, draws, names = list(bits), list(seeds), list(measures)
    for n_bits in lengths:
        check_count("bits", n_bits)
    for seed in draws:
        check_count("seeds", seed, least=0)
    check_measures(names)
    parsed = [parse_method(method) if isinstance(method, str) else method for method in methods]
    return Request(parsed, [int(n_bits) for n_bits in lengths], [int(seed) for seed in draws], names)


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
    """Fit and score several methods on the same splits of labelled rows.

    Parameters
    ----------
    methods : iterable of str or Method
        Method specs, see `parse_method`: ``"structhash:ranking=auc"``, ``"itq@database"``, ``"float"``.
    X : ndarray (n, d)
        Rows.
    y : ndarray (n,)
        Labels.
    protocol : str
        ``"seen"`` or ``"unseen"``: see `seen_classes` and `unseen_classes`.
    bits : iterable of int
        Code lengths; a model is trained for each. A method with a length of its own is trained once.
    seeds : iterable of int
        Each draws a split and is the `random_state` of the methods.
    measures : iterable of str
        See `retrieval`.
    n_queries, n_train : int
        Numbers of queries and of training rows; by default those of the protocol.
    ties : str
        See `retrieval`.

    Yields
    ------
    Result
        One for each distance of a fitted method: see `every_distance`.

    Raises
    ------
    ValueError, TypeError
        If the protocol, a method, a setting or a measure is not known, a number is not allowed, or labels and
        rows differ in number. Nothing is fitted then.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from structhash.evaluation import compare
    >>> X, y = load_digits(return_X_y=True)
    >>> results = compare(["float"], X[:400], y[:400], seeds=[0], measures=["precision@10"])
    >>> [(result.method, result.distance) for result in results]
    [('float', 'L2')]
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol={describe(protocol)}: give {' or '.join(PROTOCOLS)}")
    X, y = np.asarray(X), np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"labels have shape {y.shape}; give one label for each of the {len(X)} rows")
    check_count("n_queries", n_queries)
    if n_train is not None:
        check_count("n_train", n_train)
    request = check_request(methods, bits, seeds, measures)
    sizes = {"n_queries": n_queries} | ({} if n_train is None else {"n_train": n_train})
    for seed in request.seeds:
        train, queries, database = PROTOCOLS[protocol](y, seed, **sizes)
        relevance = same_label(y[queries], y[database])
        task = _Task(X[train], y[train], X[queries], X[database], relevance, seed)
        for method in request.methods:
            for n_bits in method.lengths(request.lengths):
                yield from _measure(method, n_bits, task, request.measures, ties)


def _measure(method: Method, n_bits: int, task: _Task, measures: list[str], ties: str) -> Iterator[Result]:
    """Fit and score one method at one code length; 0 is the length that it has."""
    if method.is_float:
        blocks = float_blocks(task.queries, task.database, task.relevance)
        yield Result(method.name, "L2", 0, task.seed, "", retrieval(blocks, measures, ties), 0.0, 0.0)
        return
    began = time.perf_counter()
    encoder, chosen = method.fit(task.X, task.y, n_bits, task.seed, task.database)
    fitted = time.perf_counter()
    codes = encoder.encode(task.database)
    seconds = fitted - began, time.perf_counter() - fitted
    n_bits = n_bits or encoder.n_bits_
    for distance, blocks in every_distance(encoder, task.queries, task.database, task.relevance, codes):
        scores = retrieval(blocks, measures, ties)
        yield Result(method.name, distance, n_bits, task.seed, chosen, scores, *seconds)
