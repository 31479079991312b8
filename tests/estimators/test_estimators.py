"""CGHash and StructHash as scikit-learn estimators: contract, supervision, settings, history, randomness."""

import json
import logging

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from structhash import CGHash, Labels, StructHash, Triplets
from structhash.pieces import load, names

SMALL = {"n_bits": 6, "n_near": 5, "n_far": 5, "random_state": 0}


def ranked(*args, **settings):
    """The paper's method, with a ranking unless one is given."""
    return StructHash(*args, **{"ranking": "sndcg", **settings})


ranked.__name__ = "StructHash"
BOTH = [ranked, CGHash]
SCHEDULES = names("schedules")
X, Y = (array[:120] for array in load_digits(return_X_y=True))
KEYS = ["bit", "objective", "gap", "rounds", "violation", "redraws", "distinct", "seconds"]


@pytest.fixture(
    scope="module",
    params=[(cls, schedule) for cls in BOTH for schedule in SCHEDULES],
    ids=lambda pair: f"{pair[0].__name__}-{pair[1]}",
)
def fitted(request):
    cls, schedule = request.param
    return cls(**SMALL, schedule=schedule).fit(X, Y)


FEW = ("check_n_features_in_after_fitting", "check_estimators_nan_inf", "check_fit2d_1feature")


def too_few_rows(estimator):
    """Checks whose 5 or 10 rows are too few to hold out a quarter with two rows of a class."""
    return dict.fromkeys(FEW, "too few rows to choose C by") if estimator.C == "auto" else {}


@pytest.mark.slow
@parametrize_with_checks(
    [cls(n_bits=3, n_near=3, n_far=3, schedule=schedule) for cls in BOTH for schedule in SCHEDULES]
    + [cls(n_bits=3, n_near=3, n_far=3, C="auto") for cls in BOTH]
    + [StructHash(n_bits=3)],
    expected_failed_checks=too_few_rows,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", BOTH)
def test_settings_are_read_set_and_cloned(cls):
    encoder = cls(n_bits=3, C=7, family="linear:steps=2")
    assert encoder.get_params()["C"] == 7
    assert clone(encoder).get_params() == encoder.get_params()
    assert encoder.set_params(C=8).C == 8
    with pytest.raises(ValueError, match="Invalid parameter 'D'"):
        encoder.set_params(D=8)


@pytest.mark.parametrize("cls", [StructHash, CGHash])
def test_tags_say_whether_labels_are_needed_and_that_types_are_not_kept(cls):
    tags = get_tags(cls())
    assert tags.target_tags.required == (cls is CGHash)
    assert tags.transformer_tags.preserves_dtype == []


@pytest.mark.parametrize(
    ("encoder", "grid"),
    [
        (StructHash(**SMALL), {"ranking": ["auc", "ndcg:k=10", "sndcg"]}),
        (CGHash(**SMALL), {"C": [1e-6, 100.0]}),
    ],
)
def test_grid_search_chooses_by_score(encoder, grid):
    folds = StratifiedKFold(2)
    search = GridSearchCV(encoder, grid, cv=folds).fit(X, Y)
    ((key, values),) = grid.items()
    expected = []
    for value in values:
        fold = [
            clone(encoder).set_params(**{key: value}).fit(X[a], Y[a]).score(X[b], Y[b])
            for a, b in folds.split(X, Y)
        ]
        expected.append(np.mean(fold))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert search.best_params_ == {key: values[int(np.argmax(expected))]}
    assert search.transform(X).shape == (120, 6)


# supervision


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    "make", [lambda y: y.astype(str), lambda y: y.astype(str).astype(object), list, Labels]
)
def test_only_which_labels_are_equal_matters(cls, make):
    encoder = cls(**{**SMALL, "n_near": 50, "n_far": 100})  # as Labels has them
    a, b = clone(encoder).fit(X, make(Y)), clone(encoder).fit(X, Y)
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    np.testing.assert_array_equal(a.weights_, b.weights_)


@pytest.mark.parametrize(("n_near", "n_far"), [(3, 4), (50, 100), (1000, 1000)])
def test_labels_draw_distinct_partners_of_the_same_and_of_other_classes(n_near, n_far):
    r = Labels(Y, n_near, n_far).comparisons(X, np.random.default_rng(0))
    assert r.queries.tolist() == list(range(120))
    assert (r.near_ptr[0], r.near_ptr[-1], r.far_ptr[0], r.far_ptr[-1]) == (0, len(r.near), 0, len(r.far))
    for q in range(120):
        same, other = np.flatnonzero(Y[q] == Y), np.flatnonzero(Y[q] != Y)
        near = r.near[r.near_ptr[q] : r.near_ptr[q + 1]]
        far = r.far[r.far_ptr[q] : r.far_ptr[q + 1]]
        assert len(near) == len(set(near)) == min(n_near, len(same) - 1)
        assert len(far) == len(set(far)) == min(n_far, len(other))
        assert set(near) <= set(same) - {q}
        assert set(far) <= set(other)


def test_labels_draw_every_partner_equally_often():
    y, rng = np.array([1, 0, 1, 0, 1, 2, 2]), np.random.default_rng(0)
    counts = np.zeros((7, 7))
    for _ in range(600):
        r = Labels(y, 1, 1).comparisons(X[:7], rng)
        np.add.at(counts, (r.queries, r.near), 1)
        np.add.at(counts, (r.queries, r.far), 1)
    same = (y[:, None] == y) & ~np.eye(7, dtype=bool)
    other = y[:, None] != y
    chance = same / same.sum(axis=1, keepdims=True) + other / other.sum(axis=1, keepdims=True)
    assert np.abs(counts / 600 - chance).max() < 5 * 0.5 / np.sqrt(600)


@pytest.mark.parametrize("cls", BOTH)
def test_rows_alone_in_their_class_are_skipped_counted_and_logged(cls, caplog):
    y = Y.copy()
    y[[3, 7, 11]] = [100, 101, 102]
    with caplog.at_level(logging.WARNING, "structhash"):
        encoder = cls(**SMALL).fit(X, y)
    assert encoder.n_skipped_ == 3
    assert "3 of 120 points are the only ones of their class" in caplog.text
    caplog.clear()
    assert cls(**SMALL).fit(X, Y).n_skipped_ == 0
    assert "only ones of their class" not in caplog.text


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.arange(120), "each of the 120 rows has a label of its own; at least one class needs 2 rows"),
        (np.zeros(120, int), "all 120 rows have the label .*0.*; give at least 2 classes"),
        (np.full(120, "a"), "give at least 2 classes"),
        (None, "requires y to be passed"),
        (np.where(Y == 3, np.nan, Y), "y contains NaN"),
        (Y[:50], r"inconsistent numbers of samples: \[120, 50\]"),
        (np.column_stack([Y, Y]), "1d array"),
        (np.array(["a", None] * 60, object), "give numbers only or text only"),
        (Labels(Y[:50]), r"labels have shape \(50,\); give one label for each of the 120 rows"),
        (Labels(Y, n_near=0), "n_near=0: give an integer of at least 1"),
        (Triplets(np.array([[0, 1]])), r"of shape \(1, 2\)"),
        (Triplets(np.array([[0, 1, 120]])), "the matrix has rows 0 to 119"),
        (Triplets(np.array([[0, 1, 1]])), "its three rows must differ"),
        (Triplets(np.array([[0, 1, 2]]), np.array([-1.0])), "triplet weights"),
    ],
)
def test_supervision_that_says_nothing_is_refused(cls, y, message):
    with pytest.raises(ValueError, match=message):
        cls(**SMALL).fit(X, y)


@pytest.fixture(scope="module")
def triplets():
    rng = np.random.default_rng(0)
    rows = []
    for i in range(80):
        near = rng.choice(np.flatnonzero((Y[i] == Y) & (np.arange(120) != i)))
        rows.append([i, near, rng.choice(np.flatnonzero(Y[i] != Y))])
    return np.array(rows)


def margins(model, triplets):
    bits = model.transform(X).astype(float)
    i, j, k = triplets.T
    return (np.abs(bits[i] - bits[k]) - np.abs(bits[i] - bits[j])) @ model.weights_


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_cghash_from_triplets_reaches_the_objective_it_reports(triplets, schedule):
    model = CGHash(**SMALL, schedule=schedule).fit(X, Triplets(triplets))
    loss = np.maximum(0, 1 - margins(model, triplets)) ** 2
    expected = model.weights_.sum() + model.C * loss.mean()
    assert model.history_[-1]["objective"] == pytest.approx(expected)
    assert expected < model.history_[0]["objective"] < model.C  # C: no bits at all
    assert model.n_skipped_ == 40


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_structhash_from_triplets_reaches_the_objective_it_reports(triplets, schedule):
    """With one near and one far point a query, 1 - AUC is 1 for the wrong order and w'dPsi = 2 w'dh."""
    model = StructHash(**SMALL, ranking="auc", schedule=schedule).fit(X, Triplets(triplets))
    loss = np.maximum(0, 1 - 2 * margins(model, triplets))
    expected = model.weights_.sum() + model.C * loss.mean()
    assert model.history_[-1]["objective"] == pytest.approx(expected)
    assert expected < model.history_[0]["objective"] < model.C


@pytest.mark.parametrize("cls", BOTH)
def test_weights_of_triplets_only_count_relative_to_each_other(cls, triplets):
    some = np.arange(len(triplets)) % 2
    alike = cls(**SMALL).fit(X, Triplets(triplets, np.full(len(triplets), 4.0)))
    plain = cls(**SMALL).fit(X, Triplets(triplets))
    np.testing.assert_array_equal(alike.transform(X), plain.transform(X))
    half = cls(**SMALL).fit(X, Triplets(triplets, some.astype(float)))
    only = cls(**SMALL).fit(X, Triplets(triplets[some > 0]))
    assert half.history_[0]["objective"] == pytest.approx(only.history_[0]["objective"])


# settings


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        *[({"n_bits": value}, f"n_bits={value!r}: give an integer") for value in (0, -1, 1.5, True, "8", None)],
        *[({"C": value}, "C=.*: give a number above 0") for value in (0, -1, np.nan, np.inf, "3", True, None)],
        *[({"tolerance": value}, "tolerance=.*: give a finite number") for value in (0, -1e-3, np.nan)],
        *[({"n_near": value}, "n_near=.*: give an integer") for value in (0, 1.5, "5", True)],
        *[({"n_far": value}, "n_far=.*: give an integer") for value in (0, 1.5, "5", True)],
        ({"family": "nosuch"}, "families is called 'nosuch'; there are .*linear"),
        ({"start": "nosuch"}, "starts is called 'nosuch'; there are .*spectral"),
        ({"schedule": "nosuch"}, "schedules is called 'nosuch'; there are stagewise, totally_corrective"),
        ({"regularizer": "nosuch"}, "regularizers is called 'nosuch'; there are .*l1"),
        ({"family": "linear:depth=2"}, "it has .*steps.*sharpness"),
        ({"family": "linear:steps=-2"}, "steps=-2"),
        ({"family": 3}, "3 is no piece of families"),
        ({"start": "spectral:ridge=-1"}, "ridge=-1"),
        ({"start": "spectral:ridge=wide"}, "ridge"),
        ({"schedule": "stagewise:speed=3"}, "it has none"),
        ({"random_state": -1}, "random_state=-1: give None"),
    ],
    ids=repr,
)
def test_a_bad_setting_is_refused_at_fit(cls, setting, message):
    with pytest.raises(ValueError, match=message):
        cls(**{**SMALL, **setting}).fit(X, Y)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ("nosuch", "rankings is called 'nosuch'; there are auc, .*ndcg, .*sndcg"),
        ("ndcg:k=0", "k is 0"),
        ("ndcg:depth=3", "it has k, normalizer"),
        ("auc:k=3", "it has none"),
        (None, "None is no piece of rankings"),
    ],
)
def test_a_bad_ranking_is_refused_at_fit(ranking, message):
    with pytest.raises(ValueError, match=message):
        StructHash(**SMALL, ranking=ranking).fit(X, Y)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("nosuch", "losses is called 'nosuch'; there are .*squared_hinge"),
        ("squared_hinge:k=2", "it has none"),
        (2, "2 is no piece of losses"),
    ],
)
def test_a_bad_loss_is_refused_at_fit(loss, message):
    with pytest.raises(ValueError, match=message):
        CGHash(**SMALL, loss=loss).fit(X, Y)


@pytest.mark.parametrize("ranking", names("rankings"))
def test_structhash_learns_every_ranking(ranking):
    model = StructHash(**{**SMALL, "n_near": 12, "n_far": 30}, ranking=ranking).fit(X, Y)  # more than k
    assert model.weights_.any()
    assert model.score(X, Y) > StructHash(**SMALL, C=1e-6).fit(X, np.roll(Y, 1)).score(X, Y)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", names("losses"))
def test_cghash_reaches_the_objective_it_reports_for_every_loss(loss, schedule, triplets):
    model = CGHash(**SMALL, loss=loss, schedule=schedule).fit(X, Triplets(triplets))
    expected = model.weights_.sum() + model.C * load("losses", loss).value(margins(model, triplets)).mean()
    assert model.history_[-1]["objective"] == pytest.approx(expected)
    assert model.history_[-1]["gap"] <= 1e-6


@pytest.mark.parametrize("loss", names("losses"))
@pytest.mark.parametrize("regularizer", names("regularizers"))
def test_cghash_learns_every_loss_and_regularizer(loss, regularizer):
    model = CGHash(**SMALL, loss=loss, regularizer=regularizer).fit(X, Y)
    assert model.weights_.any()
    assert np.isfinite(model.history_[-1]["objective"])


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in ("families", "starts") for name in names(kind)]
)
def test_every_family_and_start_learns_distinct_bits(cls, kind, name):
    model = cls(**SMALL, **{{"families": "family", "starts": "start"}[kind]: name}).fit(X, Y)
    bits = model.transform(X)
    either = {tuple(column ^ column[0]) for column in bits.T}  # a bit and its complement are one
    assert len(either) == 6
    assert all(each["distinct"] for each in model.history_)


# history and weights


def test_history_has_one_json_record_a_bit(fitted):
    assert [each["bit"] for each in fitted.history_] == list(range(6))
    for each in fitted.history_:
        assert list(each) == KEYS
        assert {key: type(value) for key, value in each.items()} == {
            **dict.fromkeys(("bit", "rounds", "redraws"), int),
            **dict.fromkeys(("objective", "gap", "violation", "seconds"), float),
            "distinct": bool,
        }
    assert json.loads(json.dumps(fitted.history_, allow_nan=False)) == fitted.history_


@pytest.mark.parametrize("cls", BOTH)
def test_the_objective_never_rises_where_all_weights_move(cls):
    model = cls(**SMALL, schedule="totally_corrective").fit(X, Y)
    objectives = [each["objective"] for each in model.history_]
    slack = model.tolerance * (model.C if cls is StructHash else objectives[0])
    assert np.diff(objectives).max() <= slack


def test_the_gap_is_within_the_tolerance(fitted):
    allowed = fitted.tolerance * (fitted.C if isinstance(fitted, StructHash) else 1)
    assert all(-1e-9 <= each["gap"] <= allowed * (1 + 1e-9) for each in fitted.history_)


def test_weights_are_not_negative_and_kept_for_every_step(fitted):
    assert (fitted.step_weights_ >= 0).all()
    assert fitted.step_weights_.shape == (6, 6)
    assert not np.triu(fitted.step_weights_, 1).any()
    np.testing.assert_array_equal(fitted.step_weights_[-1], fitted.weights_)


def test_stagewise_weights_are_equal_but_the_last_and_searched_plainly(fitted):
    if fitted.schedule == "stagewise":
        for k in range(2, 7):
            assert len(set(fitted.weights_at(k)[:-1])) == 1
        assert not fitted.weighted_
        assert fitted.search_weights_ is None
    else:
        assert len(set(fitted.weights_)) > 2
        assert fitted.weighted_
        np.testing.assert_array_equal(fitted.search_weights_, fitted.weights_)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_too_small_a_C_leaves_all_weights_zero_and_says_so(cls, schedule, caplog):
    with caplog.at_level(logging.WARNING, "structhash"):
        model = cls(**SMALL, schedule=schedule, C=1e-6).fit(X, Y)
    assert not model.weights_.any()
    assert "all weights are 0: at C=1e-06 no bit is worth its cost; raise it" in caplog.text
    assert model.search_weights_ is None
    assert 0 < model.score(X, Y) < 1


@pytest.mark.parametrize("cls", BOTH)
def test_a_good_C_logs_no_warning(cls, caplog):
    with caplog.at_level(logging.WARNING, "structhash"):
        cls(**SMALL).fit(X, Y)
    assert caplog.text == ""


@pytest.mark.parametrize("cls", BOTH)
def test_rows_that_allow_no_more_bits_are_said(cls, caplog):
    with caplog.at_level(logging.WARNING, "structhash"):
        model = cls(**SMALL).fit([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1])
    assert [each["distinct"] for each in model.history_] == [True, *[False] * 5]
    assert "5 of 6 bits repeat an earlier one on the training rows" in caplog.text


@pytest.mark.parametrize("cls", BOTH)
def test_rows_that_are_all_the_same_are_refused(cls):
    with pytest.raises(ValueError, match="rows are the same"):
        cls(**SMALL).fit(np.ones((120, 3)), Y)


@pytest.mark.parametrize("cls", BOTH)
def test_steps_are_the_fit_bit_by_bit(cls):
    watched, plain = cls(**SMALL), cls(**SMALL).fit(X, Y)
    steps = list(watched.steps(X, Y))
    np.testing.assert_array_equal(np.column_stack([step.bit for step in steps]), plain.transform(X))
    for k, step in enumerate(steps, 1):
        np.testing.assert_array_equal(step.weights, plain.weights_at(k))
    np.testing.assert_array_equal(watched.transform(X), plain.transform(X))


# randomness


@pytest.mark.parametrize("cls", BOTH)
def test_one_seed_gives_one_model(cls):
    a, b = (cls(**SMALL).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    np.testing.assert_array_equal(a.step_weights_, b.step_weights_)


@pytest.mark.parametrize("cls", BOTH)
def test_another_seed_gives_another_model(cls):
    a, b = (cls(**{**SMALL, "random_state": seed}).fit(X, Y) for seed in (0, 1))
    assert (a.transform(X) != b.transform(X)).any()


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_number_of_threads_changes_nothing(cls, schedule):
    one, two = (cls(**SMALL, schedule=schedule, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(one.step_weights_, two.step_weights_)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_may_be_the_seed_and_moves_on(cls, make):
    a, b = (cls(**{**SMALL, "random_state": make(3)}).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    moved = cls(**{**SMALL, "random_state": a.random_state}).fit(X, Y)
    assert (moved.transform(X) != a.transform(X)).any()


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("seed", [0, None])
def test_the_global_random_state_of_numpy_is_not_touched(cls, seed):
    before = np.random.get_state()  # noqa: NPY002
    cls(**{**SMALL, "random_state": seed}).fit(X, Y).transform(X)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2:] == after[2:]
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("cls", BOTH)
def test_without_a_seed_the_global_random_state_does_not_decide(cls):
    models, state = [], np.random.get_state()  # noqa: NPY002
    for _ in range(2):
        np.random.set_state(state)  # noqa: NPY002
        models.append(cls(**{**SMALL, "random_state": None}).fit(X, Y).transform(X))
    assert (models[0] != models[1]).any()
