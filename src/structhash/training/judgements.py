"""Test on held-out judged queries whether judgements improve on the documents alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats
from structhash.codes import hamming
from structhash.families.base import Family
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.metrics import average_precision, ndcg, tie_blocks
from structhash.objectives.rankings.sndcg import SNDCG
from structhash.objectives.regularizers.l1 import L1
from structhash.pair_weights import Comparisons, PairGraph
from structhash.supervision import Qrels
from structhash.supervision.judgements import by_query
from structhash.training.comparisons import problem_from_comparisons
from structhash.training.hash_function import BitFunction
from structhash.training.problem import Problem
from structhash.training.query_map_learning import learn_query_maps
from structhash.training.selection import first_as_good

__all__ = [
    "JUDGED_RANKING",
    "LOSS_WEIGHT",
    "JudgedFolds",
    "judgements_help",
    "problem_from_judgements",
    "relevant_documents",
    "with_query_map",
]

logger = logging.getLogger("structhash")
stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

JUDGED_RANKING, LOSS_WEIGHT = SNDCG(), 30.0  # ranking and C, as `StructHash` has them by default
N_FOLDS = 4
RIDGES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # of query maps
MAX_QUERIES = 1000  # judged queries that are searched with
MAX_OTHERS = 10_000  # documents that are searched, besides those judged for these queries


class JudgedFolds:
    """Judged queries in four folds; each fold judges what is learned from the other three.

    Parameters
    ----------
    X : ndarray (n, d)
        Documents.
    qrels : Qrels
    relevant : dict
        See `relevant_documents`.

    Attributes
    ----------
    order : int64 (q,)
        The queries that are searched with. Fold k has every fourth one, from number k on.
    documents : int64 (m,)
        The documents that are searched.
    vectors : ndarray (n_queries, d) or None
        Query vectors; None where the queries are documents.
    """

    def __init__(self, X: NDArray[Any], qrels: Qrels, relevant: dict[int, NDArray[np.int64]]) -> None:
        self.X, self.qrels, self.relevant = X, qrels, relevant
        rng = np.random.default_rng(0)
        self.vectors = qrels.query_vectors()
        self.order = rng.permutation(list(relevant))[:MAX_QUERIES]
        others = rng.permutation(len(X))[:MAX_OTHERS]
        self.documents = np.unique(np.concatenate([others, *(relevant[q] for q in self.order)]))

    def __iter__(self) -> Iterator[tuple[slice, dict[int, NDArray[np.int64]]]]:
        """The places of each fold in `order`, and what is relevant to the queries of the others."""
        for fold in range(N_FOLDS):
            places = slice(fold, None, N_FOLDS)
            asked = set(self.order[places].tolist())
            yield places, {q: each for q, each in self.relevant.items() if q not in asked}

    def suffice(self) -> bool:
        """Whether there are queries for each fold."""
        return len(self.relevant) >= N_FOLDS

    def codes(self, function: BitFunction) -> NDArray[np.uint8]:
        """Codes of the documents."""
        return function.encode(self.X[self.documents])

    def measures(
        self, function: BitFunction, codes: NDArray[np.uint8], places: slice = slice(None)
    ) -> NDArray[np.float64]:
        """Average precision and nDCG@10 of queries among the documents.

        Parameters
        ----------
        function : BitFunction
        codes : uint8 (m, n_bytes)
            What it gives to the documents.
        places : slice
            Of the queries, in `order`.

        Returns
        -------
        float64 (2, k)
        """
        asked = self.order[places]
        vectors = (self.X if self.vectors is None else self.vectors)[asked]
        wanted = np.stack([np.isin(self.documents, self.relevant[q]) for q in asked])
        queries = function.encode(vectors, queries=function.queries_differ(function.n_bits))
        distances = hamming(queries, codes).astype(np.int32)
        if self.vectors is None:  # a query that is a document ranks last, where it does not count
            distances[self.documents == asked[:, None]] = function.n_bits + 1
        tied = tie_blocks(distances, wanted)
        return np.stack([average_precision(tied), ndcg(tied, 10, "standard")])


def with_query_map(alone: BitFunction, folds: JudgedFolds) -> tuple[BitFunction, NDArray[np.float64]]:
    """A hash function with a query map, where that serves other queries better.

    A map is learned at several ridges. Each fold judges the maps that are learned from the other three. The
    scores of those three choose the ridge, or no map: the best has the highest mean average precision among
    those whose mean nDCG@10 is not lower than without a map. A map helps where the mean average precision over
    all queries rises by more than two standard errors, and nDCG@10 does not fall by more than one. The second
    condition is there because a map towards all relevant documents can worsen the first ten results.

    Parameters
    ----------
    alone : BitFunction
        Learned from the documents alone. Without planes, or with too few queries, it stays as it is.
    folds : JudgedFolds

    Returns
    -------
    function : BitFunction
        Gives rows the codes of `alone`.
    precision : float64 (q,)
        Held-out average precision of each query with it.
    """
    codes = folds.codes(alone)
    scores = np.tile(folds.measures(alone, codes), (1 + len(RIDGES), 1, 1))
    if alone.planes() is None or not folds.suffice():
        return alone, scores[0, 0]
    for places, others in folds:
        stages.info("query map, fold %d of %d: learning from the other folds", places.start + 1, N_FOLDS)
        learned = learn_query_maps(alone, folds.X, folds.vectors, others, RIDGES)
        for found, function in zip(scores[1:], learned, strict=True):
            found[:, places] = folds.measures(function, codes, places)
    mapped = scores[0].copy()
    for places, _ in folds:
        of_others = np.delete(scores, np.arange(mapped.shape[1])[places], axis=2)
        mapped[:, places] = scores[_best_ridge(of_others)][:, places]
    for name, *means in zip(("mAP", "nDCG@10"), scores[0].mean(axis=1), mapped.mean(axis=1), strict=True):
        logger.info("held-out %s: %.4f without a query map, %.4f with one", name, *means)
    best, gains = _best_ridge(scores), first_as_good([scores[0, 0], mapped[0]], errors=2) == 1
    keeps_first_ten = first_as_good([mapped[1], scores[0, 1]]) == 0
    if not best or not gains or not keeps_first_ten:
        return alone, scores[0, 0]
    *_, function = learn_query_maps(alone, folds.X, folds.vectors, folds.relevant, RIDGES[:best])
    return function, mapped[0]


def _best_ridge(scores: NDArray[np.float64]) -> int:
    """The alternative that serves queries best, by measures (1 + n_ridges, 2, q); 0 is none."""
    precision, first_ten = scores.mean(axis=2).T
    return int(np.where(first_ten >= first_ten[0], precision, -np.inf).argmax())


def judgements_help(
    before: NDArray[np.float64], learn: Callable[[Qrels], BitFunction], folds: JudgedFolds
) -> bool:
    """Whether codes learned from judgements serve other queries better than the codes before.

    Each fold is searched with codes learned from the judgements of the other three. Judgements help where they
    raise the mean average precision over all queries by more than two standard errors.

    Parameters
    ----------
    before : float64 (q,)
        Held-out average precision of each query, as `with_query_map` gives it.
    learn : callable
        Learns a hash function from judgements.
    folds : JudgedFolds

    Returns
    -------
    bool
    """
    if not folds.suffice():
        return False
    table, found = np.asarray(folds.qrels.judgements), np.empty_like(before)
    for places, others in folds:
        stages.info("judged queries, fold %d of %d: learning from the other folds", places.start + 1, N_FOLDS)
        rest = np.isin(table[:, 0], list(others))
        learned = learn(replace(folds.qrels, judgements=table[rest]))
        found[places] = folds.measures(learned, folds.codes(learned), places)[0]
    logger.info("held-out mAP: %.4f without judgements, %.4f with them", before.mean(), found.mean())
    return first_as_good([before, found], errors=2) == 1


def problem_from_judgements(
    X: NDArray[Any], qrels: Qrels, family: Family, tolerance: float, rng: np.random.Generator
) -> Problem:
    """The problem that `StructHash` solves with its default settings.

    Parameters
    ----------
    X : ndarray (n, d)
        Documents.
    qrels : Qrels
    family : Family
    tolerance : float
        Of the cutting planes, in units of the mean loss.
    rng : Generator

    Returns
    -------
    Problem
    """
    schedule = Stagewise()

    def make_master(comparisons: Comparisons, graph: PairGraph) -> RankingMaster:
        return RankingMaster(comparisons, graph, JUDGED_RANKING, L1(), schedule, LOSS_WEIGHT, tolerance)

    return problem_from_comparisons(as_floats(X), qrels, family, schedule, make_master, rng)


def relevant_documents(X: NDArray[Any], qrels: Qrels) -> dict[int, NDArray[np.int64]]:
    """The documents relevant to each query that can be learned from, by query number; errors as `Qrels`."""
    qrels.check_queries(X.shape[1])
    asked = set(qrels.comparisons(X, np.random.default_rng(0)).queries.tolist())
    n_queries, own = (len(X), 0) if qrels.Q is None else (len(qrels.Q), len(X))
    judged = by_query(qrels.judgements, n_queries, len(X), qrels.Q is None)
    return {q: documents[grades > 0] for q, documents, grades in judged if own + q in asked}
