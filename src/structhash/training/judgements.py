"""Test on held-out judged queries whether judgements improve on the documents alone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats
from structhash.codes import hamming
from structhash.families.base import Family
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.stagewise import Stagewise
from structhash.metrics import average_precision, tie_blocks
from structhash.objectives.rankings.sndcg import SNDCG
from structhash.objectives.regularizers.l1 import L1
from structhash.pair_weights import Comparisons, PairGraph
from structhash.supervision import Qrels
from structhash.supervision.judgements import by_query
from structhash.training.comparisons import problem_from_comparisons
from structhash.training.hash_function import BitFunction
from structhash.training.problem import Problem
from structhash.training.selection import first_as_good

__all__ = ["JUDGED_RANKING", "LOSS_WEIGHT", "judgements_help", "problem_from_judgements", "relevant_documents"]

logger = logging.getLogger("structhash")
stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

JUDGED_RANKING, LOSS_WEIGHT = SNDCG(), 30.0  # ranking and C, as `StructHash` has them by default
N_FOLDS = 4
MAX_QUERIES = 1000  # judged queries that are searched with
MAX_OTHERS = 10_000  # documents that are searched, besides those judged for these queries


def judgements_help(
    alone: BitFunction,
    learn: Callable[[Qrels], BitFunction],
    X: NDArray[Any],
    qrels: Qrels,
    relevant: dict[int, NDArray[np.int64]],
) -> bool:
    """Whether codes learned from judgements serve other queries better than codes learned from X alone.

    The judged queries are split into four folds; each fold is searched with codes learned from the judgements
    of the other three. Judgements help where they raise the mean average precision over all queries by more
    than two standard errors.

    Parameters
    ----------
    alone : BitFunction
        Learned from X alone.
    learn : callable
        Learns a hash function from X and judgements.
    X : ndarray (n, d)
        Documents.
    qrels : Qrels
    relevant : dict
        See `relevant_documents`.

    Returns
    -------
    bool
    """
    if len(relevant) < N_FOLDS:
        return False
    rng, queries = np.random.default_rng(0), qrels.query_vectors()
    vectors = X if queries is None else queries
    table = np.asarray(qrels.judgements)
    order = rng.permutation(list(relevant))[:MAX_QUERIES]
    others = rng.permutation(len(X))[:MAX_OTHERS]
    documents = np.unique(np.concatenate([others, *(relevant[q] for q in order)]))
    alone_codes = alone.encode(X[documents])
    by_alone: list[NDArray[np.float64]] = []  # average precision of each query
    by_learned: list[NDArray[np.float64]] = []
    for fold in range(N_FOLDS):
        asked = order[fold::N_FOLDS]
        stages.info("judged queries, fold %d of %d: learning from the other folds", fold + 1, N_FOLDS)
        rest = np.isin(table[:, 0], np.setdiff1d(list(relevant), asked))
        learned = learn(replace(qrels, judgements=table[rest]))
        wanted = np.stack([np.isin(documents, relevant[q]) for q in asked])
        trials = (by_alone, alone, alone_codes), (by_learned, learned, learned.encode(X[documents]))
        for scores, function, codes in trials:
            distances = hamming(function.encode(vectors[asked]), codes).astype(np.int32)
            if qrels.Q is None:  # a query that is a document ranks last, where it does not count
                distances[documents == asked[:, None]] = function.n_bits + 1
            scores.append(average_precision(tie_blocks(distances, wanted)))
    found = [np.concatenate(each) for each in (by_alone, by_learned)]
    logger.info("held-out mAP: %.4f without judgements, %.4f with them", *map(np.mean, found))
    return first_as_good(found, errors=2) == 1


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
