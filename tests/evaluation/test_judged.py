"""Comparisons by judgements: held-out queries are not seen, and each is scored once."""

import numpy as np
import pandas as pd
import pytest

from structhash import DistilHash, Qrels, StructHash
from structhash.evaluation import (
    code_blocks,
    compare_judged,
    float_blocks,
    judgement_folds,
    retrieval,
    summarise,
)
from structhash.evaluation.judged import check_judged_method


@pytest.fixture(scope="module")
def topics():
    """120 documents around 9 topics, a query of each, grades by topic; a tenth query finds nothing."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 6))
    topic = rng.integers(0, 9, 120)
    X = centres[topic] + 0.5 * rng.normal(size=(120, 6))
    table = [[q, j, int(rng.integers(1, 3)) * (topic[j] == q)] for q in range(10) for j in range(120)]
    return X.astype(np.float32), centres.astype(np.float32), np.array(table)


def grades_of(qrels):
    """Grades (10, 120) of the judgements."""
    grades = np.zeros((10, 120), int)
    grades[qrels[:, 0], qrels[:, 1]] = qrels[:, 2]
    return grades


def judgements_for(qrels, train):
    """Judgements of some queries, numbered by their place in `train`, in plain loops."""
    return np.array([[np.flatnonzero(train == q)[0], j, grade] for q, j, grade in qrels if q in train])


@pytest.fixture
def fits(monkeypatch):
    """(class, X, y) of every fit of a DistilHash or StructHash."""
    seen = []

    def watch(cls):
        fit = cls.fit

        def watched(self, X, y=None, **more):
            seen.append((cls, X, y))
            return fit(self, X, y, **more)

        monkeypatch.setattr(cls, "fit", watched)

    watch(DistilHash)
    watch(StructHash)
    return seen


# folds


def test_every_query_with_a_relevant_document_is_tested_once(topics):
    qrels = topics[2]
    folds = judgement_folds(qrels, 10, seed=3, folds=4)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(9))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(9))
        assert train.tolist() == sorted(train)
        assert len(test) in (2, 3)


def test_a_seed_gives_the_same_folds(topics):
    one, same, other = (judgement_folds(topics[2], 10, seed, 4) for seed in (3, 3, 4))
    assert [a.test.tolist() for a in one] == [a.test.tolist() for a in same]
    assert [a.test.tolist() for a in one] != [a.test.tolist() for a in other]


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        (0, "folds=0: give an integer of at least 1"),
        (1, "folds=1: give at least 2 and at most 9, the queries with a"),
        (10, "folds=10: give at least 2 and at most 9, the queries with a"),
    ],
)
def test_too_few_and_too_many_folds_are_refused(topics, folds, message):
    with pytest.raises(ValueError, match=message):
        judgement_folds(topics[2], 10, 0, folds)


# comparisons


def test_a_result_scores_the_models_of_all_folds_each_on_its_own_queries(topics):
    X, Q, qrels = topics
    grades = grades_of(qrels)
    methods = ["structhash:n_near=5,n_far=9", "lsh", "cghash:n_near=5,n_far=9", "float"]
    results = list(compare_judged(methods, X, Q, qrels, [6], [1], ["map", "ndcg@5"], folds=3))
    assert [(r.method.partition(":")[0], r.distance, r.n_bits) for r in results] == [
        ("structhash", "plain", 6),
        ("lsh", "plain", 6),
        ("cghash", "plain", 6),
        ("cghash", "weighted", 6),
        ("float", "L2", 0),
    ]
    expected, floats = [], []
    for train, test in judgement_folds(qrels, 10, 1, 3):
        supervision = Qrels(judgements_for(qrels, train), Q[train], n_near=5, n_far=9)
        model = StructHash(6, n_near=5, n_far=9, random_state=1).fit(X, supervision)
        blocks = code_blocks(model.encode(Q[test]), model.encode(X), lambda rows, test=test: grades[test][rows])
        expected.append(retrieval(blocks, ["map"]).per_query["map"])
        blocks = float_blocks(Q[test], X, lambda rows, test=test: grades[test][rows])
        floats.append(retrieval(blocks, ["map"]).per_query["map"])
    np.testing.assert_array_equal(results[0].scores.per_query["map"], np.concatenate(expected))
    np.testing.assert_array_equal(results[-1].scores.per_query["map"], np.concatenate(floats))
    assert results[0].scores.mean["map"] == pytest.approx(np.concatenate(expected).mean())
    assert results[0].fit_seconds > 0
    assert [line.seeds for line in summarise(results)] == [[1]] * 5


def test_a_distance_of_its_own_is_measured_in_each_fold(topics):
    X, Q, qrels = topics
    method = "binary_quantization:top=200"  # all rows rescored: the order of the floats
    plain, own, floats = compare_judged([method, "float"], X, Q, qrels, [4, 5], [1], ["map"], folds=3)
    assert [(r.distance, r.n_bits) for r in (plain, own, floats)] == [("plain", 6), ("rescored", 6), ("L2", 0)]
    np.testing.assert_allclose(own.scores.per_query["map"], floats.scores.per_query["map"])
    assert plain.scores.mean["map"] < own.scores.mean["map"]


@pytest.mark.parametrize("method", ["distilhash", "structhash"])
def test_held_out_queries_and_their_judgements_are_not_seen(topics, fits, method):
    X, Q, qrels = topics
    list(compare_judged([method], X, Q, qrels, [2], [0], folds=3))
    folds = judgement_folds(qrels, 10, 0, 3)
    for (_, _, supervision), (train, _) in zip(fits, folds, strict=True):
        np.testing.assert_array_equal(supervision.Q, Q[train])
        assert sorted(map(tuple, supervision.judgements)) == sorted(map(tuple, judgements_for(qrels, train)))


def test_the_numbers_of_partners_are_those_of_the_method(topics, fits):
    X, Q, qrels = topics
    list(compare_judged(["structhash:n_near=5,n_far=9", "distilhash"], X, Q, qrels, [2], [0], folds=2))
    numbers = [(cls, y.n_near, y.n_far) for cls, _, y in fits]
    assert numbers == [(StructHash, 5, 9)] * 2 + [(DistilHash, Qrels.n_near, Qrels.n_far)] * 2


def test_a_method_that_learns_from_the_documents_alone_is_fitted_once(topics, fits):
    X, Q, qrels = topics
    (result,) = compare_judged(["distilhash:embedding=centered"], X, Q, qrels, [6], [1], ["map"], folds=3)
    ((_, documents, y),) = fits
    assert documents is X
    assert y is None
    model = DistilHash(6, embedding="centered", random_state=1).fit(X)
    order = np.concatenate([fold.test for fold in judgement_folds(qrels, 10, 1, 3)])
    blocks = code_blocks(model.encode(Q[order]), model.encode(X), lambda rows: grades_of(qrels)[order][rows])
    np.testing.assert_array_equal(result.scores.per_query["map"], retrieval(blocks, ["map"]).per_query["map"])


def test_a_judgement_given_twice_changes_nothing(topics):
    X, Q, qrels = topics
    options = {"bits": [4], "seeds": [0], "folds": 2}
    (once,) = compare_judged(["structhash"], X, Q, qrels, **options)
    (twice,) = compare_judged(["structhash"], X, Q, np.concatenate([qrels, qrels[::-1]]), **options)
    assert once.scores.mean == twice.scores.mean


# what is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ["one_hot"]}, "'one_hot' learns from class labels, not from judgements; leave it out"),
        ({"methods": ["ksh"]}, "'ksh' learns from class labels"),
        ({"methods": ["distilhash:embedding=metric"]}, "embedding=metric' learns from class labels"),
        ({"methods": ["lsh", "structhash:ranking=auc,C=auto"]}, "C=auto' learns from class labels"),
        ({"methods": ["structhash:C=3|30"]}, "alternatives are chosen by labels; name one setting here"),
        ({"methods": ["itq@database"]}, "all methods are fitted on the documents here; drop @database"),
        ({"methods": ["magic"]}, "no method is called 'magic'"),
        ({"bits": [0]}, "bits=0: give an integer of at least 1"),
        ({"measures": ["magic"]}, "metric='magic'"),
        ({"qrels": np.array([[0, 120, 1]])}, "judged documents run from 120 to 120; give 0 to 119"),
        ({"qrels": np.array([[0, 1, 1], [0, 1, 2]])}, "document 1 has the grade 1 and another for query 0"),
        ({"ties": "random"}, "ties='random'"),
        ({"folds": 10}, "folds=10: give at least 2 and at most 9"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_the_first_fit(topics, fits, change, message):
    X, Q, qrels = topics
    words = {"methods": ["structhash"], "X": X, "Q": Q, "qrels": qrels, "bits": [2], "seeds": [0]} | change
    with pytest.raises(ValueError, match=message):
        compare_judged(**words)
    assert not fits


@pytest.mark.parametrize("spec", ["distilhash", "distilhash:embedding=centered", "cghash", "itq", "float"])
def test_methods_that_do_without_labels_are_taken(spec):
    check_judged_method(spec)


def test_documents_and_queries_have_as_many_columns():
    judged = np.array([[q, q, 1] for q in range(5)])
    with pytest.raises(ValueError, match="X has 8 columns and Q has 3; give vectors of one length"):
        compare_judged(["float"], np.eye(8), np.ones((5, 3)), judged)


def test_frames_of_documents_and_queries_have_their_columns_in_one_order():
    judged = np.array([[q, q, 1] for q in range(5)])
    X = pd.DataFrame(np.eye(8), columns=list("abcdefgh"))
    assert list(compare_judged(["float"], X, X[:5], judged, seeds=[0]))
    with pytest.raises(ValueError, match=r"X and Q do not have the same columns .*; give Q\[X.columns\]"):
        compare_judged(["float"], X, X[:5][X.columns[::-1]], judged)
