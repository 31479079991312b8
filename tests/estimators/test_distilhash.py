"""DistilHash: with labels, without, and beside unlabeled rows."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils import shuffle
from threadpoolctl import threadpool_limits

from structhash import DistilHash, Labels, Neighbours, Qrels, StructHash, Triplets
from structhash.baselines.itq import ITQ
from structhash.baselines.sdh import SDH
from structhash.codes import hamming
from structhash.embeddings.centered import Centered
from structhash.embeddings.metric import Metric
from structhash.embeddings.posterior import Posterior
from structhash.metrics import recall, tie_blocks

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)
TRAIN, REST = slice(0, 600), slice(600, None)


@pytest.mark.slow
def test_by_default_it_is_ahead_of_the_paper_and_level_with_sdh_where_classes_are_easy():
    ours = DistilHash(24, random_state=0).fit(X[TRAIN], Y[TRAIN]).score(X[REST], Y[REST])
    paper = StructHash(24, random_state=0).fit(X[TRAIN], Y[TRAIN]).score(X[REST], Y[REST])
    peer = SDH(24, random_state=0).fit(X[TRAIN], Y[TRAIN]).score(X[REST], Y[REST])
    assert ours > paper + 0.03
    assert ours > peer - 0.01


@pytest.mark.slow
def test_for_new_classes_it_beats_itq_even_where_that_has_seen_them():
    old, new = Y < 6, Y >= 6
    model = DistilHash(32, embedding="metric", random_state=0).fit(X[old], Y[old], unlabeled=X[new])
    assert model.score(X[new], Y[new]) > ITQ(32, random_state=0).fit(X[new]).score(X[new], Y[new]) + 0.02


@pytest.mark.slow
def test_without_labels_it_finds_more_of_the_nearest_vectors_than_itq():
    queries, rows = X[REST][:300], X[REST][300:]
    apart = ((queries[:, None] - rows) ** 2).sum(axis=2)
    near = apart <= np.sort(apart, axis=1)[:, 9:10]
    found = []
    for model in (DistilHash(64, random_state=0), ITQ(64, random_state=0)):
        model.fit(X[TRAIN])
        apart = hamming(model.encode_queries(queries), model.encode(rows))
        found.append(recall(tie_blocks(apart, near), k=10).mean())
    assert found[0] > found[1] + 0.01


@pytest.mark.slow
def test_the_objective_falls_and_all_weights_are_equal():
    model = DistilHash(16, random_state=0).fit(X[TRAIN], Y[TRAIN])
    objectives = [record["objective"] for record in model.history_]
    assert objectives[-1] < 0.7 * objectives[0]
    assert len(np.unique(model.weights_)) == 1
    assert not model.weighted_


@pytest.mark.slow
def test_a_prefix_is_the_model_of_that_length():
    long, short = (DistilHash(n, random_state=0).fit(X[TRAIN], Y[TRAIN]) for n in (12, 5))
    np.testing.assert_array_equal(long.encode(X, 5), short.encode(X))


@pytest.mark.parametrize("n", [2, 3])
def test_two_or_three_rows_are_enough(n):
    codes = DistilHash(8, random_state=0).fit(X[:n]).transform(X[:n])
    assert len(np.unique(codes, axis=0)) == n


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:most rows of X")  # the far rows are longer
def test_unlabeled_rows_move_the_bits_to_where_they_lie():
    near, far = X[Y < 5], X[Y >= 5] + 20.0
    labels = Y[Y < 5]
    plain = DistilHash(16, embedding="metric", random_state=0).fit(near, labels)
    moved = DistilHash(16, embedding="metric", random_state=0).fit(near, labels, unlabeled=far)
    np.testing.assert_allclose(moved.hash_function_.embedding_state["mean"], far.mean(axis=0))
    assert moved.score(far, Y[Y >= 5]) > plain.score(far, Y[Y >= 5]) + 0.05


@pytest.mark.slow
def test_unlabeled_rows_that_may_be_in_another_unit_are_told(caplog):
    DistilHash(4, random_state=0).fit(X[TRAIN] / 255, Y[TRAIN], unlabeled=X)
    assert "most rows of unlabeled are over 2 times as long as the longest training row (0.3" in caplog.text


def test_what_cannot_be_distilled_is_refused():
    with pytest.raises(
        ValueError, match="embedding='metric' learns from labels: give y, or embedding='centered'"
    ):
        DistilHash(4, embedding="metric").fit(X)
    with pytest.raises(ValueError, match="no piece of embeddings is called 'nosuch'; there are centered"):
        DistilHash(4, embedding="nosuch").fit(X, Y)
    for settings in ({}, {"embedding": "metric"}):
        for y in (Neighbours(), Triplets(np.array([[0, 1, 2]]))):
            with pytest.raises(ValueError, match=f"y is {type(y).__name__}: give it to StructHash or CGHash$"):
                DistilHash(4, **settings).fit(X, y)
        with pytest.raises(ValueError, match=r"y is Labels: pass its y itself$"):
            DistilHash(4, **settings).fit(X, Labels(Y))
    with pytest.raises(TypeError, match="y is the class Qrels; give an instance of it"):
        DistilHash(4).fit(X, Qrels)
    bad = X[:9].copy()
    bad[3, 3] = np.nan
    with pytest.raises(ValueError, match="unlabeled holds NaN in row 3, column 3"):
        DistilHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=bad)
    for rows, number in ((X[:0], "0 rows"), (X[:1], "1 row"), (np.ones((5, 64)), "5 rows, all the same")):
        with pytest.raises(ValueError, match=f"unlabeled has {number}; give rows that differ, or none"):
            DistilHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=rows)
    with pytest.raises(ValueError, match="unlabeled: X has 5 features"):
        DistilHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=X[:9, :5])
    DistilHash(4, random_state=0).fit(X[TRAIN], Y[TRAIN], unlabeled=X * 50)
    for factor in (1e4, 1e-4, 1e40):
        with pytest.raises(
            ValueError, match=r"typical row of unlabeled reaches .* X reaches 16; give both in the"
        ):
            DistilHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=X * factor)
    with pytest.raises(ValueError, match="unlabeled has 9 rows, all the same"):  # as floats
        DistilHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=np.full((9, 64), 2**62) + np.arange(9)[:, None])
    with pytest.raises(ValueError, match="continuous"):
        DistilHash(4).fit(X, Y + 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("embedding", ["posterior", "metric", "manifold", "centered"])
def test_codes_do_not_depend_on_the_threads_of_blas(embedding):
    rows = np.random.default_rng(0).normal(size=(700, 300)).astype(np.float32)
    codes = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            model = DistilHash(8, embedding=embedding, random_state=0)
            model.fit(rows[:400], np.arange(400) % 7, unlabeled=rows[400:])
            codes.append(model.hash_function_.bits["normal"])
    np.testing.assert_array_equal(*codes)


def test_few_unlabeled_rows_are_said_to_be_few(caplog):
    for rows, warns in ((X[300:340], True), (X[300:350], False)):
        caplog.clear()
        DistilHash(2, embedding="metric", random_state=0).fit(X[:100], Y[:100], unlabeled=rows)
        assert ("unlabeled has 40 rows, too few" in caplog.text) == warns


@pytest.mark.parametrize(
    "settings",
    [{"embedding": "metric"}, {"embedding": "centered"}, {"family": "rbf"}, {"family": "tree"}],
    ids=repr,
)
def test_queries_are_coded_as_rows_where_codes_are_no_softened_probabilities(settings):
    if settings.get("embedding"):
        model = DistilHash(8, random_state=0, **settings).fit(X[:100], Y[:100])
        assert not model.queries_differ()
        np.testing.assert_array_equal(model.encode_queries(X), model.encode(X))
    else:
        model = DistilHash(8, random_state=0, **settings).fit(X[:100], Y[:100])
        assert model.hash_function_.query_temperatures


def test_the_embedding_is_that_of_the_settings_or_the_chosen_one():
    assert not hasattr(DistilHash(4), "embedding_")
    assert DistilHash(4, random_state=0).fit(X[:100], Y[:100]).embedding_ == Posterior()
    assert DistilHash(4, random_state=0).fit(X[:100]).embedding_ == Centered()
    own = Metric(n_points=50)
    assert DistilHash(4, embedding=own, random_state=0).fit(X[:100], Y[:100]).embedding_ is own


def test_labels_of_any_kind_are_classes():
    plain = DistilHash(6, random_state=0).fit(X[:100], Y[:100])
    for labels in (Y[:100].astype(str), (Y[:100] * 7).tolist(), Y[:100].astype(str).astype(object)):
        np.testing.assert_array_equal(
            DistilHash(6, random_state=0).fit(X[:100], labels).encode(X), plain.encode(X)
        )


def test_an_embedding_that_wants_unlabeled_rows_says_so(caplog):
    DistilHash(2, embedding="manifold", random_state=0).fit(X[:100], Y[:100])
    assert "embedding='manifold' learns from rows like those to be searched: give unlabeled=" in caplog.text
    caplog.clear()
    DistilHash(2, embedding="manifold", random_state=0).fit(X[:100], Y[:100], unlabeled=X[100:200])
    DistilHash(2, embedding="manifold", random_state=0).fit(X[:100])
    assert caplog.text == ""


def test_it_ends_early_only_when_told_to():
    settings = {"n_bits": 40, "family": "stump", "embedding": "metric", "tolerance": 0.05, "random_state": 0}
    whole = DistilHash(**settings).fit(X[:60], Y[:60])
    short = DistilHash(**settings, stop_at_optimum=True).fit(X[:60], Y[:60])
    assert whole.n_bits_ == 40
    assert 1 <= short.n_bits_ < 40
    n = short.n_bits_
    np.testing.assert_array_equal(short.transform(X), whole.transform(X)[:, :n])
    assert all(each["violation"] > 0.05 for each in short.history_[1:])
    assert whole.history_[n]["violation"] <= 0.05


def test_history_has_one_record_a_bit():
    model = DistilHash(6, random_state=0).fit(X[:100], Y[:100])
    assert [each["bit"] for each in model.history_] == list(range(6))
    assert json.loads(json.dumps(model.history_, allow_nan=False)) == model.history_


def test_one_seed_gives_one_model_and_a_generator_moves_on():
    a, b = (DistilHash(6, random_state=3).fit(X[:100], Y[:100]) for _ in range(2))
    np.testing.assert_array_equal(a.encode(X), b.encode(X))
    draws = [np.random.default_rng(3) for _ in range(2)]
    for rng in draws:
        DistilHash(6, random_state=rng).fit(X[:100], Y[:100])
    assert draws[0].random() == draws[1].random() != np.random.default_rng(3).random()


def test_whether_it_learns_from_judgements():
    assert DistilHash().learns_from_judgements()
    assert not DistilHash(embedding="centered").learns_from_judgements()
    assert DistilHash.takes_unlabeled
    assert not DistilHash.takes_supervision


@pytest.mark.slow
def test_what_is_told_of_a_model():
    chosen = DistilHash(8, random_state=0).fit(X[TRAIN], Y[TRAIN])
    assert chosen.about() == {
        "embedding": "posterior",
        "because": "there are labels",
        "queries": "codes of their own",
    }
    named = DistilHash(8, embedding="metric:self_weight=2.0", random_state=0).fit(X[TRAIN], Y[TRAIN])
    assert named.about() == {"embedding": "metric:self_weight=2.0", "queries": "coded like rows"}
