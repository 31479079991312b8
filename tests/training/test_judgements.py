"""Judgements help where codes learned from them serve queries of other folds better."""

import logging

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, Qrels, StructHash
from structhash.codes import hamming
from structhash.families.linear import Linear
from structhash.families.starts.spectral import Spectral
from structhash.metrics import average_precision, tie_blocks
from structhash.training.column_generation import finish
from structhash.training.column_generation import learn as learn_bits
from structhash.training.hash_function import HashFunction
from structhash.training.judgements import (
    MAX_OTHERS,
    N_FOLDS,
    JudgedFolds,
    judgements_help,
    problem_from_judgements,
    relevant_documents,
    with_query_map,
)
from structhash.training.problem import Plan

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


@pytest.fixture(scope="module")
def alone():
    """Learned from the documents alone."""
    return DistilHash(8, random_state=0).fit(X[DOCUMENTS]).hash_function_


def learn(qrels):
    return StructHash(8, random_state=0).fit(X[DOCUMENTS], qrels).hash_function_


def helps(alone, learn, qrels):
    folds = dealt(qrels)
    return judgements_help(folds.measures(alone, folds.codes(alone))[0], learn, folds)


def dealt(qrels):
    return JudgedFolds(X[DOCUMENTS], qrels, relevant_documents(X[DOCUMENTS], qrels))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("qrels", "expected"),
    [(by_class(), True), (by_class(Q=None), True), (at_random(), False)],
    ids=["queries", "documents", "at-random"],
)
def test_judgements_help_where_they_have_to_do_with_other_queries(qrels, expected, alone):
    assert helps(alone, learn, qrels) is expected


def test_too_few_queries_are_not_asked(alone):
    assert not helps(alone, lambda qrels: pytest.fail("learned"), by_class(N_FOLDS - 1))


def test_equal_codes_do_not_help(alone):
    assert not helps(alone, lambda qrels: alone, by_class())


def test_the_queries_that_are_asked_have_no_part_in_what_is_learned(alone, monkeypatch):
    qrels, seen = by_class(10), []
    encode = HashFunction.encode

    def watched_learn(part):
        seen.append((set(part.judgements[:, 0].tolist()), []))
        return alone

    def watched_encode(self, rows, *rest, **more):
        if seen and len(rows) < 10:
            seen[-1][1].append(rows)
        return encode(self, rows, *rest, **more)

    monkeypatch.setattr(HashFunction, "encode", watched_encode)
    helps(alone, watched_learn, qrels)
    asked = []
    for learned, (rows,) in seen:
        numbers = {int(np.flatnonzero((row == qrels.Q).all(axis=1))[0]) for row in rows}
        assert not set(range(10)) - numbers - learned
        assert not numbers & learned
        asked += numbers
    assert len(seen) == N_FOLDS
    assert sorted(asked) == list(range(10))


def test_relevant_are_the_documents_above_grade_0_of_queries_that_can_be_asked():
    table = np.array([[0, 1, 2], [0, 2, 0], [1, 3, 0], [2, 4, 1], [2, 5, 3]])
    found = relevant_documents(X[:6], Qrels(table, X[:3]))
    assert {q: documents.tolist() for q, documents in found.items()} == {0: [1], 2: [4, 5]}
    found = relevant_documents(X[:6], Qrels(table, X[:3], unjudged="ignore"))
    assert {q: documents.tolist() for q, documents in found.items()} == {0: [1], 2: [4, 5]}


def test_a_query_that_is_a_document_does_not_find_itself(alone, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "structhash.training.judgements.average_precision", lambda blocks: seen.append(blocks) or np.zeros(5)
    )
    qrels = by_class(20, Q=None)
    folds = dealt(qrels)
    relevant = relevant_documents(X[DOCUMENTS], qrels)
    for places, others in folds:
        folds.measures(alone, folds.codes(alone), places)[0]
        rows = folds.order[places]
        assert set(rows.tolist()) == set(range(20)) - set(others)
        apart = hamming(alone.encode(X[rows]), alone.encode(X[DOCUMENTS])).astype(int)
        apart[np.arange(5), rows] = 9  # behind all
        wanted = np.array([np.isin(np.arange(600), relevant[q]) for q in rows])
        for found, expected in zip(seen[-1], tie_blocks(apart, wanted), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_all_judged_documents_are_searched_and_so_many_others(alone, monkeypatch):
    monkeypatch.setattr("structhash.training.judgements.MAX_OTHERS", 7)
    assert MAX_OTHERS > 600
    sizes = []
    monkeypatch.setattr(
        "structhash.training.judgements.tie_blocks",
        lambda distances, wanted: sizes.append(wanted) or tie_blocks(distances, wanted),
    )
    qrels = by_class(20)
    helps(alone, lambda part: alone, qrels)
    judged = set(qrels.judgements[:, 1].tolist())
    for wanted in sizes:
        assert len(judged) <= wanted.shape[1] <= len(judged) + 7
        assert (wanted.sum(axis=1) == 10).all()


def negatives(n_queries=200):
    """Queries that are negative images: coded as rows, they find the wrong documents."""
    judged = [(q, d, 1) for q in range(n_queries) for d in np.flatnonzero(Y[DOCUMENTS] == Y[600 + q])[:10]]
    return Qrels(np.array(judged), 16 - X[600 : 600 + n_queries])


def test_a_query_map_serves_queries_that_are_not_like_documents(alone):
    folds = dealt(negatives())
    before = folds.measures(alone, folds.codes(alone))[0]
    function, precision = with_query_map(alone, folds)
    assert function.row_function is alone
    assert precision.mean() > before.mean() + 0.02
    others = dealt(Qrels(negatives(300).judgements[2000:] - [200, 0, 0], 16 - X[800:900]))
    codes = others.codes(alone)
    assert others.measures(function, codes)[0].mean() > others.measures(alone, codes)[0].mean() + 0.02


def test_a_map_that_costs_the_first_ten_is_refused(alone, monkeypatch):
    folds = dealt(negatives())
    monkeypatch.setattr("structhash.training.judgements.ndcg", lambda tied, *_: -average_precision(tied))
    assert with_query_map(alone, folds)[0] is alone


@pytest.mark.parametrize("qrels", [at_random(), by_class(N_FOLDS - 1)], ids=["at-random", "too-few"])
def test_without_a_gain_there_is_no_query_map(alone, qrels):
    folds = dealt(qrels)
    function, precision = with_query_map(alone, folds)
    assert function is alone
    np.testing.assert_array_equal(precision, folds.measures(alone, folds.codes(alone))[0])


def test_bits_that_are_not_planes_get_no_query_map():
    function = DistilHash(4, family="rbf", random_state=0).fit(X[DOCUMENTS]).hash_function_
    assert with_query_map(function, dealt(negatives(20)))[0] is function


def test_a_query_map_is_judged_by_queries_that_it_is_not_learned_from(alone, monkeypatch):
    folds, seen = dealt(negatives(40)), []

    def learn(function, X, vectors, relevant, ridges):
        seen.append(set(relevant))
        return [function] * len(ridges)

    monkeypatch.setattr("structhash.training.judgements.learn_query_maps", learn)
    with_query_map(alone, folds)
    assert seen == [set(range(40)) - set(folds.order[places].tolist()) for places, _ in folds]


def test_the_log_says_what_was_found(alone, caplog):
    with caplog.at_level(logging.INFO, "structhash"):
        helps(alone, lambda part: alone, by_class(20))
    assert "judged queries, fold 4 of 4: learning from the other folds" in caplog.text
    assert any(
        each.message.startswith("held-out mAP: ") and each.message.endswith(" with them")
        for each in caplog.records
    )


def test_the_problem_is_that_of_structhash_with_its_defaults():
    rng, qrels = np.random.default_rng(0), by_class(20)
    problem = problem_from_judgements(X[DOCUMENTS].astype(np.float32), qrels, Linear(), 1e-3, rng)
    learned = finish(learn_bits(problem, Plan(Spectral(), 6), rng))[1]
    expected = StructHash(6, random_state=0).fit(X[DOCUMENTS], qrels)
    np.testing.assert_array_equal(learned.function.encode(X), expected.encode(X))
    np.testing.assert_array_equal(learned.weights, expected.weights_)
