import numpy as np
import pytest

from structhash import Qrels, StructHash
from structhash.embeddings.manifold import Manifold
from structhash.evaluation.compare import code_blocks, float_blocks, judgements, retrieval
from structhash.evaluation.judged import compare_judged, training
from structhash.evaluation.report import summarise


@pytest.fixture(scope="module")
def topics():
    """120 documents around 9 topics, a query of each, grades by topic; a tenth query finds nothing."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 6))
    topic = rng.integers(0, 9, 120)
    X = centres[topic] + 0.5 * rng.normal(size=(120, 6))
    table = [[q, j, int(rng.integers(1, 3)) * (topic[j] == q)] for q in range(10) for j in range(120)]
    return X.astype(np.float32), centres.astype(np.float32), np.array(table)


def test_every_query_with_a_relevant_document_is_tested_once(topics):
    qrels = topics[2]
    split = judgements(qrels, 10, seed=3, folds=4)
    assert sorted(np.concatenate([test for _, test in split])) == list(range(9))
    for train, test in split:
        assert sorted([*train, *test]) == list(range(9))
        assert train.tolist() == sorted(train)
        assert len(test) in (2, 3)
    again, other = judgements(qrels, 10, 3, 4), judgements(qrels, 10, 4, 4)
    assert all((a[1] == b[1]).all() for a, b in zip(split, again, strict=True))
    assert any(set(a[1]) != set(b[1]) for a, b in zip(split, other, strict=True))


@pytest.mark.parametrize("folds", [1, 10])
def test_bad_numbers_of_folds(topics, folds):
    with pytest.raises(ValueError, match=f"folds={folds}: give at least 2 and at most 9, the queries with a"):
        judgements(topics[2], 10, 0, folds)
    with pytest.raises(ValueError, match="folds=0: give an integer of at least 1"):
        judgements(topics[2], 10, 0, 0)


@pytest.mark.slow
def test_a_line_is_the_models_of_all_folds_each_on_its_own_queries(topics):
    X, Q, qrels = topics
    grades = np.zeros((10, 120), int)
    grades[qrels[:, 0], qrels[:, 1]] = qrels[:, 2]
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
    for train, test in judgements(qrels, 10, 1, 3):
        part = np.array([[np.flatnonzero(train == q)[0], j, g] for q, j, g in qrels if q in train])
        model = StructHash(6, random_state=1).fit(X, Qrels(part, Q[train], 5, 9))
        blocks = code_blocks(model.encode(Q[test]), model.encode(X), lambda rows, test=test: grades[test][rows])
        expected.append(retrieval(blocks, ["map"]).per_query["map"])
        blocks = float_blocks(Q[test], X, lambda rows, test=test: grades[test][rows])
        floats.append(retrieval(blocks, ["map"]).per_query["map"])
    np.testing.assert_array_equal(results[0].scores.per_query["map"], np.concatenate(expected))
    np.testing.assert_array_equal(results[-1].scores.per_query["map"], np.concatenate(floats))
    assert results[0].scores.mean["map"] == pytest.approx(np.concatenate(expected).mean())
    assert results[0].fit_seconds > 0
    assert [line.seeds for line in summarise(results)] == [[1]] * 5


def test_a_distance_of_a_methods_own_is_measured_in_each_fold(topics):
    X, Q, qrels = topics
    method = "binary_quantization:top=200"  # all rows rescored: the order of the floats
    plain, own, floats = compare_judged([method, "float"], X, Q, qrels, [4, 5], [1], ["map"], folds=3)
    assert [(r.distance, r.n_bits) for r in (plain, own, floats)] == [("plain", 6), ("rescored", 6), ("L2", 0)]
    np.testing.assert_allclose(own.scores.per_query["map"], floats.scores.per_query["map"])
    assert plain.scores.mean["map"] < own.scores.mean["map"]


def test_held_out_judgements_and_queries_are_not_seen(topics, monkeypatch):
    X, Q, qrels = topics
    seen = []
    fit = StructHash.fit

    def watched(self, X, y):
        if isinstance(y, Qrels):  # parse_method tries the settings without data
            seen.append(y)
        return fit(self, X, y)

    monkeypatch.setattr(StructHash, "fit", watched)
    list(compare_judged(["structhash:ranking=sndcg"], X, Q, qrels, [2], [0], folds=3))
    for supervision, (train, _) in zip(seen, judgements(qrels, 10, 0, 3), strict=True):
        np.testing.assert_array_equal(supervision.Q, Q[train])
        assert len(supervision.judgements) == 120 * len(train)


def test_what_learns_from_the_documents_alone_is_fitted_once(topics, monkeypatch):
    X, Q, qrels = topics
    fits, fit = [], StructHash.fit

    def counted(self, X, y=None):
        fits.extend([X] if y is None and len(X) == 120 else [])
        return fit(self, X, y)

    monkeypatch.setattr(StructHash, "fit", counted)
    (once,) = compare_judged(["structhash:embedding=cosine"], X, Q, qrels, [6], [1], ["map"], folds=3)
    assert len(fits) == 1
    codes = fit(StructHash(6, embedding="cosine", random_state=1), X).encode
    grades = np.zeros((10, 120), int)
    grades[qrels[:, 0], qrels[:, 1]] = qrels[:, 2]
    order = np.concatenate([test for _, test in judgements(qrels, 10, 1, 3)])
    blocks = code_blocks(codes(Q[order]), codes(X), lambda rows: grades[order][rows])
    np.testing.assert_array_equal(once.scores.per_query["map"], retrieval(blocks, ["map"]).per_query["map"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": ["one_hot"]}, "'one_hot' learns from class labels, not from judgements; leave it out"),
        ({"methods": ["structhash:embedding=metric"]}, "embedding=metric' learns from class labels"),
        ({"methods": ["ksh"]}, "'ksh' learns from class labels"),  # which has a setting called steps
        ({"methods": ["structhash:C=3|30"]}, "alternatives are chosen by labels; name one setting here"),
        ({"methods": ["magic"]}, "no method is called 'magic'"),
        ({"bits": [0]}, "bits=0: give an integer of at least 1"),
        ({"measures": ["magic"]}, "magic"),
        ({"qrels": np.array([[0, 120, 1]])}, "judged documents run from 120 to 120; give 0 to 119"),
        ({"folds": 10}, "folds=10: give at least 2 and at most 9"),
    ],
)
def test_what_cannot_be_compared_is_refused(topics, change, message):
    X, Q, qrels = topics
    words = {"methods": ["structhash"], "X": X, "Q": Q, "qrels": qrels, "bits": [2], "seeds": [0]} | change
    with pytest.raises(ValueError, match=message):
        list(compare_judged(**words))


@pytest.mark.parametrize(
    ("settings", "rows_alone"),
    [
        ({}, False),
        ({"embedding": "cosine"}, True),
        ({"embedding": Manifold()}, True),
        ({"ranking": "ndcg"}, False),
    ],
)
def test_what_distils_the_rows_alone_is_given_no_judgements(topics, settings, rows_alone):
    _, Q, qrels = topics
    found = training(StructHash(**settings), Q, qrels, np.arange(5))
    assert (found is None) == rows_alone


def test_what_is_chosen_by_labels_is_refused_before_any_fit(topics):
    X, Q, qrels = topics
    with pytest.raises(ValueError, match="C='auto' is chosen by labels; give a number here"):
        next(compare_judged(["lsh", "structhash:ranking=auc,C=auto"], X, Q, qrels, [4], [0]))
    assert (
        next(compare_judged(["structhash:embedding=cosine,C=auto"], X, Q, qrels, [4], [0], folds=2)).n_bits == 4
    )
