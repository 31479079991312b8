"""Relevance judgements, cross-validated by query: the third protocol beside seen and unseen classes."""

from __future__ import annotations

import itertools
import operator
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from structhash.estimators.both import StructHash
from structhash.evaluation.compare import (
    Block,
    Result,
    checked,
    every_distance,
    float_blocks,
    judged,
    judgements,
    retrieval,
)
from structhash.evaluation.methods import Method, bit_by_bit, prepare
from structhash.pieces import is_auto, load
from structhash.supervision import Qrels
from structhash.supervision.judgements import by_query

MEASURES = ("ndcg@10", "map")


def compare_judged(
    methods: Iterable[str | Method],
    X: NDArray[Any],
    Q: NDArray[Any],
    qrels: NDArray[Any],
    bits: Iterable[int] = (64,),
    seeds: Iterable[int] = (0, 1, 2),
    measures: Iterable[str] = MEASURES,
    folds: int = 5,
    ties: str = "expected",
) -> Iterator[Result]:
    """Fit and score several methods by judgements, a `Result` at a time.

    In each fold a method that learns from supervision is fitted on the documents and the judgements of the
    training queries, any other on the documents alone; the other queries are ranked against all documents.
    Each query that has a relevant document is scored once, by a model that has not seen it.

    Parameters
    ----------
    methods : iterable of str or Method
        See `methods.parse_method`; those that need class labels, and alternatives, are refused.
    X : ndarray (n, d)
        Documents.
    Q : ndarray (n_queries, d)
    qrels : int array (m, 3)
        Rows (query, document, grade), see `Qrels`.
    bits, seeds, measures, ties
        See `evaluate.compare`; a seed draws the folds and the models.
    folds : int

    Yields
    ------
    Result
        As of `evaluate.compare`; times are those of all folds, which share one fit of what learns from the
        documents alone.

    Raises
    ------
    ValueError
        If a method cannot learn from judgements, or these or a number are not allowed.
    """
    parsed, lengths, names = checked(methods, bits, measures)
    X, Q, qrels = np.asarray(X), np.asarray(Q), np.asarray(qrels)
    for method in parsed:
        check_method(method)
    for _ in by_query(qrels, len(Q), len(X), within=False):
        pass
    relevance = judged(qrels, len(Q), len(X))
    for seed in map(operator.index, seeds):
        split = judgements(qrels, len(Q), seed, folds)
        for method in parsed:
            for n_bits in method.lengths(lengths):
                yield from _measure(method, X, Q, qrels, split, relevance, n_bits, seed, names, ties)


def check_method(method: Method) -> None:
    """ValueError unless the method can be fitted without class labels."""
    if len(method.encoders) > 1:
        raise ValueError(f"{method.name!r}: alternatives are chosen by labels; name one setting here")
    for encoder in method.encoders:
        embedding = embedding_of(encoder)
        if is_auto(getattr(encoder, "C", None)) and not embedding:
            raise ValueError(f"{method.name!r}: C='auto' is chosen by labels; give a number here")
        by_labels = get_tags(encoder).target_tags.required and not bit_by_bit(encoder)
        if by_labels or (embedding and embedding.labelled):
            raise ValueError(f"{method.name!r} learns from class labels, not from judgements; leave it out")


def embedding_of(encoder: Any) -> Any:
    """The embedding that an encoder's settings name; None where they name none."""
    if not isinstance(encoder, StructHash) or is_auto(encoder.embedding):
        return None
    return load("embeddings", encoder.embedding)


def training(encoder: Any, Q: NDArray[Any], qrels: NDArray[Any], train: NDArray[np.int64]) -> Qrels | None:
    """The judgements of some queries, which alone are numbered and known; None where nothing is learned."""
    if not bit_by_bit(encoder) or embedding_of(encoder):  # which is distilled from X alone
        return None
    kept = qrels[np.isin(qrels[:, 0], train)]
    kept = np.column_stack([np.searchsorted(train, kept[:, 0]), kept[:, 1:]])
    return Qrels(kept, Q[train], encoder.n_near, encoder.n_far)


def _measure(
    method: Method,
    X: NDArray[Any],
    Q: NDArray[Any],
    qrels: NDArray[Any],
    split: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    relevance: Any,
    n_bits: int,
    seed: int,
    measures: list[str],
    ties: str,
) -> Iterator[Result]:
    blocks: dict[str, list[Iterator[Block]]] = {}  # computed when they are scored
    seconds, codes, learned = np.zeros(2), None, None  # what learns from X alone is fitted once
    for train, test in split:

        def relevant(rows: slice, test: NDArray[np.int64] = test) -> NDArray[Any]:
            return relevance(test[rows])

        if method.is_float:
            blocks.setdefault("L2", []).append(float_blocks(Q[test], X, relevant))
            continue
        if codes is None or learned is not None:
            encoder = prepare(method.encoders[0], n_bits, seed)
            learned = training(encoder, Q, qrels, train)
            began = time.perf_counter()
            encoder.fit(X, learned)
            fitted = time.perf_counter()
            codes = encoder.encode(X)
            seconds += fitted - began, time.perf_counter() - fitted
            n_bits = n_bits or encoder.n_bits_
        for distance, found in every_distance(encoder, Q[test], X, relevant, codes):
            blocks.setdefault(distance, []).append(found)
    for distance, parts in blocks.items():
        scores = retrieval(itertools.chain(*parts), measures, ties)
        yield Result(method.name, distance, n_bits, seed, "", scores, *seconds.tolist())
