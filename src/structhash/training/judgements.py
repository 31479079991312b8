"""Whether judgements say more than the rows themselves, by judged queries that are left out."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from structhash.codes import hamming
from structhash.metrics import average_precision, tie_blocks
from structhash.supervision import Qrels
from structhash.supervision.judgements import by_query
from structhash.training.selection import as_good

logger = logging.getLogger("structhash.estimators")

RANKING = "sndcg"  # by which judgements are learned from
FOLDS = 4
ASKED = 1000  # judged queries that are asked, at most
AMONG = 10_000  # documents among which they are, besides those judged for them


def heeds(encoder: Any, X: NDArray[Any], qrels: Qrels, known: dict[int, NDArray[np.int64]]) -> bool:
    """Whether `RANKING` learns from judgements codes by which other queries find more than by those of X alone.

    In four folds of the judged queries it learns from three and is asked the fourth: mean average precision of
    all must be higher by more than two standard errors.

    Parameters
    ----------
    encoder : StructHash
        Fitted to X alone. It stays as it is: copies are fitted to judgements.
    X : array (n, d)
        Documents.
    qrels : Qrels
    known : dict
        See `relevant`.
    """
    if len(known) < FOLDS:
        return False
    rng, vectors = np.random.default_rng(0), X if qrels.Q is None else np.asarray(qrels.Q)
    table = np.asarray(qrels.judgements)
    order = rng.permutation(list(known))[:ASKED]
    others = rng.permutation(len(X))[:AMONG]
    documents = np.unique(np.concatenate([others, *(known[q] for q in order)]))
    rows = X[documents]
    kept = encoder._codes(rows, encoder.n_bits_)
    alone: list[NDArray[np.float64]] = []  # average precision of each query by codes of X alone,
    learned: list[NDArray[np.float64]] = []  # and by those of judgements
    for fold in range(FOLDS):
        asked = order[fold::FOLDS]
        logger.info("judged queries, part %d of %d, are asked; from the others is learned:", fold + 1, FOLDS)
        rest = np.isin(table[:, 0], np.setdiff1d(list(known), asked))
        model = clone(encoder).set_params(ranking=RANKING, warm_start=False)
        model.fit(X, replace(qrels, judgements=table[rest]))
        wanted = np.stack([np.isin(documents, known[q]) for q in asked])
        both = (alone, encoder, kept), (learned, model, model._codes(rows, model.n_bits_))
        for scores, each, codes in both:
            apart = hamming(each._codes(vectors[asked], each.n_bits_), codes).astype(np.int32)
            if qrels.Q is None:  # a query that is a document comes last, whence it counts for nothing
                apart[documents == asked[:, None]] = each.n_bits_ + 1
            scores.append(average_precision(tie_blocks(apart, wanted)))
    found = [np.concatenate(each) for each in (alone, learned)]
    logger.info("held-out mAP %.4f of the rows alone, %.4f of judgements", *map(np.mean, found))
    return as_good(found, errors=2) == 1


def relevant(X: NDArray[Any], qrels: Qrels) -> dict[int, NDArray[np.int64]]:
    """The documents relevant to each query that `Qrels.comparisons` asks, by its number."""
    qrels.check_queries(X.shape[1])
    asked = set(qrels.comparisons(X, np.random.default_rng(0)).queries.tolist())
    n_queries, own = (len(X), 0) if qrels.Q is None else (len(qrels.Q), len(X))
    judged = by_query(qrels.judgements, n_queries, len(X), qrels.Q is None)
    return {q: documents[grades > 0] for q, documents, grades in judged if own + q in asked}
