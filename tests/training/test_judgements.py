"""Judgements are learned from where other queries find more so, else the rows alone."""

import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from structhash import Qrels, StructHash
from structhash.codes import hamming
from structhash.embeddings.cosine import Cosine
from structhash.metrics import tie_blocks
from structhash.training.judgements import FOLDS, heeds, relevant

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
    model = StructHash(8, random_state=0).fit(X[DOCUMENTS], qrels)
    assert model.embedding_ is None
    assert model.C_ == 30
    same(model, StructHash(8, ranking="sndcg", random_state=0).fit(X[DOCUMENTS], qrels))


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [at_random(), by_class(FOLDS - 1)], ids=["at-random", "too-few"])
def test_judgements_that_do_not_are_not(qrels):
    model = StructHash(8, random_state=0).fit(X[DOCUMENTS], qrels)
    assert model.embedding_ == Cosine()
    same(model, StructHash(8, random_state=0).fit(X[DOCUMENTS]))


def test_the_queries_that_are_asked_have_no_part_in_what_is_learned(monkeypatch):
    qrels, seen = by_class(10), []
    alone = StructHash(4, random_state=0).fit(X[DOCUMENTS])
    known = relevant(X[DOCUMENTS], qrels)
    fit, codes = StructHash.fit, StructHash._codes

    def watched_fit(self, X, y):
        seen.append((set(y.judgements[:, 0].tolist()), []))
        return fit(self, X, y)

    def watched_codes(self, X, n_bits):
        if seen and len(X) < 10:
            seen[-1][1].append(X)
        return codes(self, X, n_bits)

    monkeypatch.setattr(StructHash, "fit", watched_fit)
    monkeypatch.setattr(StructHash, "_codes", watched_codes)
    heeds(alone, X[DOCUMENTS], qrels, known)
    asked = []
    for learned, (one, other) in seen:
        np.testing.assert_array_equal(one, other)
        numbers = {int(np.flatnonzero((row == qrels.Q).all(axis=1))[0]) for row in one}
        assert not set(range(10)) - numbers - learned
        assert not numbers & learned
        asked += numbers
    assert sorted(asked) == list(range(10))


def test_relevant_are_the_documents_above_grade_0_of_queries_that_can_be_asked():
    table = np.array([[0, 1, 2], [0, 2, 0], [1, 3, 0], [2, 4, 1], [2, 5, 3]])
    found = relevant(X[:6], Qrels(table, X[:3]))
    assert {q: documents.tolist() for q, documents in found.items()} == {0: [1], 2: [4, 5]}
    found = relevant(X[:6], Qrels(table, X[:3], unjudged="ignore"))
    assert {q: documents.tolist() for q, documents in found.items()} == {0: [1], 2: [4, 5]}


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [by_class(), at_random()], ids=["help", "do-not"])
def test_it_is_bit_by_bit_and_whole_or_nothing_either_way(qrels):
    model = StructHash(5, random_state=0)
    steps = model.steps(X[DOCUMENTS], qrels)
    first = next(steps)
    assert len(first.weights) == 1
    steps.close()
    assert not hasattr(model, "bits_")
    assert len(list(model.steps(X[DOCUMENTS], qrels))) == 5


def test_the_model_is_set_once_the_steps_are_exhausted():
    model = StructHash(3, random_state=0)
    for _ in (steps := model.steps(X[DOCUMENTS], at_random())):
        assert not hasattr(model, "n_bits_")
    assert model.n_bits_ == 3
    assert list(steps) == []


def test_a_random_state_is_drawn_from():
    draws = [np.random.RandomState(1) for _ in range(2)]
    StructHash(3, random_state=draws[0]).fit(X[DOCUMENTS], at_random())
    StructHash(3, random_state=draws[1]).fit(X[DOCUMENTS])
    assert draws[0].randint(10**6) == draws[1].randint(10**6)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.int32, np.float16, "frame"])
def test_documents_of_any_type_and_queries_of_another(kind):
    rows = pd.DataFrame(X[DOCUMENTS]).rename(columns=str) if kind == "frame" else X[DOCUMENTS].astype(kind)
    qrels = by_class(8, Q=X[QUERIES] + 0.25)
    assert StructHash(3, random_state=0).fit(rows, qrels).n_bits_ == 3


def test_a_query_that_is_a_document_does_not_find_itself(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "structhash.training.judgements.average_precision", lambda blocks: seen.append(blocks) or np.zeros(5)
    )
    alone = StructHash(4, random_state=0).fit(X[DOCUMENTS])
    qrels = by_class(20, Q=None)
    heeds(alone, X[DOCUMENTS], qrels, relevant(X[DOCUMENTS], qrels))
    order = np.random.default_rng(0).permutation(20)
    for fold, blocks in enumerate(seen[::2]):
        rows = order[fold::4]
        apart = hamming(alone.encode(X[rows]), alone.encode(X[DOCUMENTS])).astype(int)
        apart[np.arange(5), rows] = 5  # behind all
        wanted = np.array([np.isin(np.arange(600), relevant(X[DOCUMENTS], qrels)[q]) for q in rows])
        for found, expected in zip(blocks, tie_blocks(apart, wanted), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("qrels", [by_class(), at_random()], ids=["help", "do-not"])
def test_a_warm_start_goes_on_as_the_fit_before(qrels):
    model = StructHash(4, warm_start=True, random_state=0).fit(X[DOCUMENTS], qrels)
    alone = model.embedding_ is not None
    model.set_params(n_bits=7).fit(X[DOCUMENTS], qrels)
    assert (model.embedding_ is not None) == alone
    same(model, StructHash(7, random_state=0).fit(X[DOCUMENTS], qrels))
    with pytest.raises(ValueError, match="judged documents run from 9999"):
        model.fit(X[DOCUMENTS], Qrels(np.array([[0, 9999, 1]]), X[QUERIES]))


def test_the_log_says_what_was_found(caplog):
    with caplog.at_level(logging.INFO, "structhash"):
        StructHash(4, random_state=0).fit(X[DOCUMENTS], by_class(20))
    assert any("of the rows alone, " in each.message for each in caplog.records)


@pytest.mark.parametrize(
    ("settings", "qrels", "message"),
    [
        ({"C": "auto"}, by_class(), "C='auto' is chosen by labels, one a row; y is of type Qrels"),
        ({}, Qrels(np.array([[0, 600, 1]]), X[QUERIES]), "judged documents run from 600 to 600"),
        ({}, Qrels(np.array([[0, 1, 1]]), X[QUERIES, :3]), "Q is float64 of shape"),
        ({}, Qrels(np.array([[0, 1, 0]]), X[QUERIES]), "none of the 1 judged queries has both a relevant"),
    ],
    ids=["C", "document", "Q", "nothing"],
)
def test_what_cannot_be_learned_from_is_refused(settings, qrels, message):
    with pytest.raises(ValueError, match=message):
        StructHash(4, random_state=0, **settings).fit(X[DOCUMENTS], qrels)
