"""StructHash with no settings: learned from an embedding, with labels, without, and beside other rows."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils import shuffle
from threadpoolctl import threadpool_limits

from structhash import CGHash, Neighbours, StructHash, load_model
from structhash.baselines.itq import ITQ
from structhash.baselines.sdh import SDH
from structhash.codes import pack, unpack
from structhash.embeddings._graph import nearest
from structhash.embeddings.posterior import Posterior
from structhash.evaluation import code_blocks, retrieval, same_label
from structhash.pieces import load
from structhash.training.distillation import lists, recommended, stand_for, surer, task
from structhash.training.selection import as_good

X, Y = shuffle(*load_digits(return_X_y=True), random_state=0)
TRAIN, REST = slice(0, 600), slice(600, None)


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize(("n", "length"), [(5, 3), (5, 4), (5, 99), (4, 7), (300, 50)])
def test_lists_hold_others_each_once_and_begin_with_the_nearest(n, length, count):
    Z = np.random.default_rng(1).normal(size=(n, 4))
    U = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    first, _ = nearest(U, U, count, own=False)
    found = lists(n, length, np.random.default_rng(0), first)
    for i in range(n):
        order = [j for j in np.argsort(-U @ U[i]) if j != i]
        assert set(first[i].tolist()) == set(order[:count])
    np.testing.assert_array_equal(found[:, :count], first)
    assert found.shape == (n, min(length, n - 1))
    assert found.max() < n
    for i, row in enumerate(found.tolist()):
        assert i not in row
        assert len(set(row)) == len(row)


def test_partners_are_drawn_alike():
    found = lists(20, 5, np.random.default_rng(0))
    counts = sum(np.bincount(lists(20, 5, np.random.default_rng(s)).ravel(), minlength=20) for s in range(200))
    assert found.dtype == np.uint16
    assert abs(counts / counts.mean() - 1).max() < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "points", "partners"),
    [
        ("metric", 4500, 4000, 512),
        ("metric", 300, 300, 299),
        ("cosine", 10_500, 10_000, 256),
        ("cosine", 2000, 2000, 1280),
    ],
)
def test_many_rows_are_learned_from_by_a_sample(name, n, points, partners):
    rows = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    found = task(rows, np.arange(n) % 3, None, load("embeddings", name), 4, np.random.default_rng(0))
    assert found.Z.shape == (points, 3)
    assert len(found.master.targets) == points * partners


@pytest.mark.slow
def test_by_default_it_is_ahead_of_the_paper_and_level_with_sdh_where_classes_are_easy():
    ours = StructHash(24, random_state=0).fit(X[TRAIN], Y[TRAIN]).score(X[REST], Y[REST])
    paper = StructHash(24, ranking="sndcg", random_state=0).fit(X[TRAIN], Y[TRAIN]).score(X[REST], Y[REST])
    peer = SDH(24, random_state=0).fit(X[TRAIN], Y[TRAIN]).score(X[REST], Y[REST])
    assert ours > paper + 0.03
    assert ours > peer - 0.01


@pytest.mark.slow
def test_for_new_classes_it_beats_itq_even_where_that_has_seen_them():
    old, new = Y < 6, Y >= 6
    model = StructHash(32, embedding="metric", random_state=0).fit(X[old], Y[old], unlabeled=X[new])
    assert model.score(X[new], Y[new]) > ITQ(32, random_state=0).fit(X[new]).score(X[new], Y[new]) + 0.02


@pytest.mark.slow
def test_without_labels_it_finds_more_of_the_nearest_vectors_than_itq():
    queries, rows = X[REST][:300], X[REST][300:]
    apart = ((queries[:, None] - rows) ** 2).sum(axis=2)
    near = apart <= np.sort(apart, axis=1)[:, 9:10]
    found = []
    for model in (StructHash(64, random_state=0), ITQ(64, random_state=0)):
        model.fit(X[TRAIN])
        blocks = code_blocks(model.encode_queries(queries), model.encode(rows), lambda block: near[block])
        found.append(retrieval(blocks, ["recall@10"]).mean["recall@10"])
    assert found[0] > found[1] + 0.01


@pytest.mark.slow
def test_the_objective_falls_and_all_weights_are_equal():
    model = StructHash(16, random_state=0).fit(X[TRAIN], Y[TRAIN])
    objectives = [record["objective"] for record in model.history_]
    assert objectives[-1] < 0.7 * objectives[0]
    assert len(np.unique(model.weights_)) == 1
    assert not model.weighted_


@pytest.mark.slow
def test_a_prefix_is_the_model_of_that_length():
    long, short = (StructHash(n, random_state=0).fit(X[TRAIN], Y[TRAIN]) for n in (12, 5))
    np.testing.assert_array_equal(long.encode(X, 5), short.encode(X))


@pytest.mark.slow
def test_a_query_finds_rows_that_are_surely_of_its_likeliest_class():
    model = StructHash(32, random_state=0).fit(X[TRAIN], Y[TRAIN])
    embedding, state = model.embedding_, model.embedding_state_
    Z = embedding.embed(X[REST], state)
    corners = np.full((10, 10), 1e-30) + np.eye(10)
    bits = model.family_.decide(model.family_.features(corners, model.state_), model.bits_) > 0
    asked = unpack(model.encode_queries(X[REST]), 32)
    to_corner = (asked != bits[Z.argmax(axis=1)]).sum(axis=1)
    stored = (model.transform(X[REST]) != bits[Z.argmax(axis=1)]).sum(axis=1)
    assert to_corner.mean() < 0.7 * stored.mean()
    others = (
        CGHash(4, n_near=5, n_far=5),
        StructHash(4, embedding="metric"),
        StructHash(4, family="rbf"),
        ITQ(4),
    )
    for other in others:
        other.fit(X[:100], Y[:100])
        np.testing.assert_array_equal(other.encode_queries(X), other.encode(X))


@pytest.mark.parametrize("n", [2, 3])
def test_two_or_three_rows_are_enough(n):
    codes = StructHash(8, random_state=0).fit(X[:n]).transform(X[:n])
    assert len(np.unique(codes, axis=0)) == n


def test_partners_stand_for_all_points_but_the_query():
    for n, length, n_near in ((100, 20, 5), (100, 99, 5), (100, 20, 20)):
        counts = stand_for(n, length, n_near)
        assert len(counts) == length
        assert (counts[:n_near] == 1).all()
        assert counts.sum() == pytest.approx(n - 1 if n_near < length else length)
    assert (stand_for(100, 20, 0) == 1).all()


def ordered(n_classes, seed=0):
    """Rows along a line, classes in its order: no corner of the class probabilities is near any row."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes).repeat(10), rng.integers(0, n_classes, 600)]
    return np.c_[6.0 * y + rng.normal(size=len(y)), rng.normal(size=len(y))], y


@pytest.mark.slow
def test_where_queries_of_their_own_code_find_less_they_have_none():
    rows, y = ordered(50)
    model = StructHash(32, random_state=0).fit(rows[:500], y[:500])
    assert model.query_powers_[-1] == model.row_power_
    np.testing.assert_array_equal(model.encode_queries(rows), model.encode(rows))
    asked = model.embedding_.raised(model.embedding_.embed(rows[500:700], model.embedding_state_), 1.0)
    corners = model.family_.decide(model.family_.features(asked, model.state_), model.bits_) > 0
    found = []
    for codes in (pack(corners), model.encode_queries(rows[500:700])):
        blocks = code_blocks(codes, model.encode(rows[700:]), same_label(y[500:700], y[700:]))
        found.append(retrieval(blocks, ["map"]).mean["map"])
    assert found[1] > found[0] + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("unlabeled", [None, X[REST]])
def test_left_out_rows_decide_at_each_length_whether_queries_have_codes_of_their_own(unlabeled):
    model = StructHash(20, random_state=0).fit(X[TRAIN], Y[TRAIN], unlabeled=unlabeled)
    assert len(model.query_powers_) == 5  # 1, 2, 4, 8 and 16 bits
    own = model.row_power_
    model.query_powers_ = np.array([own, 1, own, 1.0, own])
    bits = unpack(model.encode(X[REST]), 20)
    model.query_powers_[-1] = 1
    asked = unpack(model.encode_queries(X[REST]), 20)
    assert (asked != bits).any()
    for n_bits, own in (
        (1, False),
        (2, True),
        (3, True),
        (4, False),
        (7, False),
        (8, True),
        (15, True),
        (20, True),
    ):
        expected = (asked if own else bits)[:, :n_bits]
        np.testing.assert_array_equal(unpack(model.encode_queries(X[REST], n_bits), n_bits), expected)


def test_as_good_is_the_first_within_a_standard_error_of_the_best():
    noise = np.random.default_rng(0).normal(size=100)
    best = np.ones(100)
    error = noise.std(ddof=0) / 10
    level, short = (best - noise + noise.mean() - part * error for part in (0.9, 1.1))
    assert as_good([short, best]) == 1
    assert as_good([level, best]) == 0
    assert as_good([short, level, best]) == 1
    assert as_good([best, best + 1]) == 1
    assert as_good([np.zeros(0), np.zeros(0)]) == 0
    assert as_good([short, best], errors=2) == 0


@pytest.mark.slow
def test_queries_of_their_own_code_find_more():
    model = StructHash(32, random_state=0).fit(X[TRAIN], Y[TRAIN])
    ranks = []
    for asked in (model.encode(X[REST][:300]), model.encode_queries(X[REST][:300])):
        blocks = code_blocks(asked, model.encode(X[REST][300:]), same_label(Y[REST][:300], Y[REST][300:]))
        ranks.append(retrieval(blocks, ["precision@10"]).mean["precision@10"])
    assert ranks[1] > ranks[0]


@pytest.mark.slow
def test_unlabeled_rows_move_the_bits_to_where_they_lie():
    near, far = X[Y < 5], X[Y >= 5] + 20.0
    labels = Y[Y < 5]
    plain = StructHash(16, embedding="metric", random_state=0).fit(near, labels)
    moved = StructHash(16, embedding="metric", random_state=0).fit(near, labels, unlabeled=far)
    np.testing.assert_allclose(moved.embedding_state_["mean"], far.mean(axis=0))
    assert moved.score(far, Y[Y >= 5]) > plain.score(far, Y[Y >= 5]) + 0.05


@pytest.mark.slow
def test_it_sees_whether_unlabeled_rows_are_of_new_classes():
    old = Y < 6
    known, labels = X[old][:300], Y[old][:300]
    many = np.repeat(X[~old], 3, axis=0) + np.random.default_rng(0).normal(size=(3 * (~old).sum(), 64))
    cases = ((None, "posterior"), (X[old][300:], "posterior"), (X[~old], "metric"), (many, "manifold"))
    for rows, name in cases:
        assert recommended(known, labels, rows) == name
        model = StructHash(8, random_state=0).fit(known, labels, unlabeled=rows)
        named = StructHash(8, embedding=name, random_state=0).fit(known, labels, unlabeled=rows)
        np.testing.assert_array_equal(model.encode(X), named.encode(X))


def test_how_often_a_known_row_is_the_surer():
    known, labels, rows = X[:300], Y[:300], X[300:700]
    state, Z = Posterior().fit(known, labels, None, np.arange(300), np.random.default_rng(0))
    both = Z, Posterior().embed(rows, state)
    sure, unsure = ((V**8 / (V**8).sum(axis=1, keepdims=True)).max(axis=1) for V in both)
    apart = sure[:, None] - unsure
    expected = (apart > 0).mean() + (apart == 0).mean() / 2
    chance, accident = surer(known, labels, rows)
    assert chance == pytest.approx(expected, abs=1e-3)
    assert 0.01 < accident < 0.03
    assert surer(known[Y[:300] < 6], labels[Y[:300] < 6], X[Y >= 6])[0] > 0.8


def test_a_fit_by_a_ranking_keeps_nothing_of_a_distilled_one(tmp_path):
    model = StructHash(4, n_near=5, n_far=5, random_state=0).fit(X[:100], Y[:100])
    model.set_params(ranking="auc").fit(X[:100], Y[:100]).save(tmp_path / "model")
    assert not hasattr(model, "embedding_state_")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(X), model.encode(X))


def test_what_cannot_be_distilled_is_refused():
    with pytest.raises(
        ValueError, match="embedding='metric' learns from labels: give y, or embedding='cosine'"
    ):
        StructHash(4, embedding="metric").fit(X)
    with pytest.raises(ValueError, match="no piece of embeddings is called 'nosuch'; there are cosine"):
        StructHash(4, embedding="nosuch").fit(X, Y)
    for settings, y in (({"ranking": "auc"}, Y), ({}, Neighbours()), ({"schedule": "totally_corrective"}, Y)):
        with pytest.raises(ValueError, match="unlabeled rows are for labels, one a row, or none"):
            StructHash(4, **settings).fit(X, y, unlabeled=X)
        with pytest.raises(ValueError, match="embedding='metric' is for labels, one a row, or none"):
            StructHash(4, embedding="metric", **settings).fit(X, y)
    bad = X[:9].copy()
    bad[3, 3] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        StructHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=bad)
    for rows in (X[:1], np.ones((5, 64))):
        with pytest.raises(
            ValueError, match=f"unlabeled has {len(rows)} rows, all the same; give rows that differ"
        ):
            StructHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=rows)
    with pytest.raises(ValueError, match="unlabeled: X has 5 features"):
        StructHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=X[:9, :5])
    with pytest.raises(
        ValueError, match=r"unlabeled reaches 1.6e\+41 where X reaches 16; give both in the same"
    ):
        StructHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=X * 1e40)
    with pytest.raises(ValueError, match="unlabeled has 9 rows, all the same"):  # as floats
        StructHash(4).fit(X[TRAIN], Y[TRAIN], unlabeled=np.full((9, 64), 2**62) + np.arange(9)[:, None])
    with pytest.raises(ValueError, match="continuous"):
        StructHash(4).fit(X, Y + 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("embedding", ["posterior", "metric", "manifold", "cosine"])
def test_codes_do_not_depend_on_the_threads_of_blas(embedding):
    rows = np.random.default_rng(0).normal(size=(700, 300)).astype(np.float32)
    codes = []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            model = StructHash(8, embedding=embedding, random_state=0)
            codes.append(model.fit(rows[:400], np.arange(400) % 7, unlabeled=rows[400:]).bits_["normal"])
    np.testing.assert_array_equal(*codes)


def test_other_schedules_and_supervisions_take_the_ranking_sndcg():
    settings = {"n_bits": 4, "n_near": 5, "n_far": 5, "random_state": 0}
    for more, y in (({"schedule": "totally_corrective"}, Y[:100]), ({}, Neighbours(n_near=5, n_far=5))):
        auto = StructHash(**settings, **more).fit(X[:100], y)
        given = StructHash(**settings, **more, ranking="sndcg").fit(X[:100], y)
        assert auto.embedding_ is None
        np.testing.assert_array_equal(auto.encode(X), given.encode(X))


def test_few_unlabeled_rows_are_said_to_be_few(caplog):
    for rows, warns in ((X[300:340], True), (X[300:350], False)):
        caplog.clear()
        StructHash(2, embedding="metric", random_state=0).fit(X[:100], Y[:100], unlabeled=rows)
        assert ("unlabeled has 40 rows, too few" in caplog.text) == warns
