"""DistilHash learns from judgements where they help held-out queries, else from the documents alone."""

import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, Qrels, StructHash
from structhash.embeddings.centered import Centered
from structhash.training.judgements import N_FOLDS

X, Y = load_digits(return_X_y=True)
DOCUMENTS, QUERIES = slice(0, 600), slice(600, 680)


def by_class(n_queries=80, n_judged=10, seed=0, Q=X[QUERIES]):
    """Queries with some documents of their class."""
    rng = np.random.default_rng(seed)
    labels = Y[QUERIES] if Q is not None else Y
    rows = [
        (q, d, 1)
        for q in range(n_queries)
        for d in rng.permutation(np.flatnonzero((Y[DOCUMENTS] == labels[q]) & (np.arange(600) != q)))[:n_judged]
    ]
    return Qrels(np.array(rows), Q)


def at_random(n_queries=80):
    """Queries with documents that have nothing to do with them."""
    rng = np.random.default_rng(0)
    return Qrels(np.array([(q, d, 1) for q in range(n_queries) for d in rng.permutation(600)[:5]]), X[QUERIES])


def same(a, b):
    np.testing.assert_array_equal(a.encode(X), b.encode(X))


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [by_class(), by_class(Q=None)], ids=["queries", "documents"])
def test_judgements_that_help_other_queries_are_learned_from(qrels):
    model = DistilHash(8, random_state=0).fit(X[DOCUMENTS], qrels)
    assert model.embedding_ is None
    assert model.reason_ == "judgements help held-out queries"
    assert model.judged_
    same(model, StructHash(8, random_state=0).fit(X[DOCUMENTS], qrels))


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [at_random(), by_class(N_FOLDS - 1)], ids=["at-random", "too-few"])
def test_judgements_that_do_not_are_not(qrels):
    model = DistilHash(8, random_state=0).fit(X[DOCUMENTS], qrels)
    assert model.embedding_ == Centered()
    assert model.reason_ == "judgements do not help held-out queries"
    assert not model.judged_
    same(model, DistilHash(8, random_state=0).fit(X[DOCUMENTS]))


def test_a_random_state_is_drawn_from():
    draws = [np.random.RandomState(1) for _ in range(2)]
    DistilHash(3, random_state=draws[0]).fit(X[DOCUMENTS], at_random())
    DistilHash(3, random_state=draws[1]).fit(X[DOCUMENTS])
    assert draws[0].randint(10**6) == draws[1].randint(10**6)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.int32, np.float16, "frame"])
def test_documents_of_any_type_and_queries_of_another(kind):
    rows = pd.DataFrame(X[DOCUMENTS]).rename(columns=str) if kind == "frame" else X[DOCUMENTS].astype(kind)
    qrels = by_class(8, Q=X[QUERIES] + 0.25)
    assert DistilHash(3, random_state=0).fit(rows, qrels).n_bits_ == 3


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [by_class(), at_random()], ids=["help", "do-not"])
def test_a_warm_start_goes_on_as_the_fit_before(qrels):
    model = DistilHash(4, warm_start=True, random_state=0).fit(X[DOCUMENTS], qrels)
    alone, reason = model.embedding_ is not None, model.reason_
    model.set_params(n_bits=7).fit(X[DOCUMENTS], qrels)
    assert (model.embedding_ is not None) == alone
    assert model.reason_ == reason
    same(model, DistilHash(7, random_state=0).fit(X[DOCUMENTS], qrels))
    with pytest.raises(ValueError, match="judged documents run from 9999"):
        model.fit(X[DOCUMENTS], Qrels(np.array([[0, 9999, 1]]), X[QUERIES]))


def test_the_log_says_where_judgements_do_not_help(caplog):
    with caplog.at_level(logging.INFO, "structhash"):
        DistilHash(4, random_state=0).fit(X[DOCUMENTS], at_random())
    assert "held-out mAP: " in caplog.text
    assert "judgements do not help held-out queries: rows are coded as the documents alone ask" in caplog.text


@pytest.mark.parametrize(
    ("settings", "qrels", "message"),
    [
        (
            {"embedding": "centered"},
            by_class(),
            "embedding='centered' is for labels, one a row, or none; here y is Qrels",
        ),
        ({}, Qrels(np.array([[0, 600, 1]]), X[QUERIES]), "judged documents run from 600 to 600"),
        ({}, Qrels(np.array([[0, 1, 1]]), X[QUERIES, :3]), "Q is float64 of shape"),
        ({}, Qrels(np.array([[0, 1, 0]]), X[QUERIES]), "none of the 1 judged queries has both a relevant"),
    ],
    ids=["embedding", "document", "Q", "nothing"],
)
def test_what_cannot_be_learned_from_is_refused(settings, qrels, message):
    with pytest.raises(ValueError, match=message):
        DistilHash(4, random_state=0, **settings).fit(X[DOCUMENTS], qrels)


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [by_class(), at_random()], ids=["help", "do-not"])
def test_steps_are_given_bit_by_bit_and_nothing_is_set_before_the_last(qrels):
    model = DistilHash(5, random_state=0)
    steps = model.steps(X[DOCUMENTS], qrels)
    first = next(steps)
    assert len(first.weights) == 1
    steps.close()
    assert not hasattr(model, "n_bits_")
    assert len(list(model.steps(X[DOCUMENTS], qrels))) == 5


def test_unlabeled_rows_are_not_for_judgements():
    with pytest.raises(ValueError, match="unlabeled rows are for labels, one a row, or none; here y is Qrels"):
        DistilHash(4, random_state=0).fit(X[DOCUMENTS], by_class(), unlabeled=X[QUERIES])
