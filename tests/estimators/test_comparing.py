"""CGHash and StructHash: supervision, settings, history, weights, randomness, the optimum."""

import json
import logging

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from structhash import CGHash, Labels, StructHash, Triplets, load_model
from structhash.pieces import names

SMALL = {"n_bits": 6, "n_near": 5, "n_far": 5, "random_state": 0}
BOTH = [StructHash, CGHash]
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


@pytest.mark.parametrize("cls", BOTH)
def test_what_to_learn_from_is_named_where_it_is_missing(cls):
    expected = "the target y is None; give labels, Neighbours, Triplets or Qrels"
    with pytest.raises(ValueError, match=f"^the method requires y to be passed, but {expected}$"):
        cls(**SMALL).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    "make", [lambda y: y.astype(str), lambda y: y.astype(str).astype(object), list, Labels]
)
def test_only_which_labels_are_equal_matters(cls, make):
    encoder = cls(**{**SMALL, "n_near": 50, "n_far": 100})  # as Labels has them
    a, b = clone(encoder).fit(X, make(Y)), clone(encoder).fit(X, Y)
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    np.testing.assert_array_equal(a.weights_, b.weights_)


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
        (np.where(Y == 3, np.nan, Y), "y holds NaN in row 3"),
        (Y[:50], r"labels have shape \(50,\); give one label for each of the 120 rows"),
        (np.column_stack([Y, Y]), r"labels of shape \(120, 2\) must be 0 or 1"),
        (np.array(["a", None] * 60, object), "y holds None in row 1; give each row a label"),
        (np.array(["a", 1] * 60, object), "give numbers only or text only"),
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


@pytest.mark.parametrize("cls", BOTH)
def test_weights_of_triplets_only_count_relative_to_each_other(cls, triplets):
    some = np.arange(len(triplets)) % 2
    alike = cls(**SMALL).fit(X, Triplets(triplets, np.full(len(triplets), 4.0)))
    plain = cls(**SMALL).fit(X, Triplets(triplets))
    np.testing.assert_array_equal(alike.transform(X), plain.transform(X))
    half = cls(**SMALL).fit(X, Triplets(triplets, some.astype(float)))
    only = cls(**SMALL).fit(X, Triplets(triplets[some > 0]))
    assert half.history_[0]["objective"] == pytest.approx(only.history_[0]["objective"])


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
        ({"family": "linear:depth=2"}, "it has .*max_iter.*sharpness"),
        ({"family": "linear:max_iter=-2"}, "max_iter=-2"),
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
    assert (fitted.prefix_weights_ >= 0).all()
    assert fitted.prefix_weights_.shape == (6, 6)
    assert not np.triu(fitted.prefix_weights_, 1).any()
    np.testing.assert_array_equal(fitted.prefix_weights_[-1], fitted.weights_)


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
    assert "all weights are 0: at C=1e-06 no bit is worth its cost; raise C" in caplog.text
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
    assert "5 of 6 bits are copies of earlier ones" in caplog.text


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


@pytest.mark.parametrize("cls", BOTH)
def test_one_seed_gives_one_model(cls):
    a, b = (cls(**SMALL).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    np.testing.assert_array_equal(a.prefix_weights_, b.prefix_weights_)


@pytest.mark.parametrize("cls", BOTH)
def test_another_seed_gives_another_model(cls):
    a, b = (cls(**{**SMALL, "random_state": seed}).fit(X, Y) for seed in (0, 1))
    assert (a.transform(X) != b.transform(X)).any()


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_number_of_threads_changes_nothing(cls, schedule):
    one, two = (cls(**SMALL, schedule=schedule, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(one.prefix_weights_, two.prefix_weights_)


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


# the end at the optimum


@pytest.mark.parametrize("cls", BOTH)
def test_an_estimator_ends_early_only_when_told_to(cls, digits, tmp_path, caplog):
    X, y = digits[0][:60, 18:46], digits[1][:60] % 3
    settings = {"n_bits": 40, "family": "stump", "schedule": "totally_corrective", "C": 3.0}
    settings |= {"n_near": 5, "n_far": 5, "random_state": 0}
    if cls is StructHash:
        settings["ranking"] = "auc"
    with caplog.at_level("INFO", "structhash"):
        short = cls(**settings, stop_at_optimum=True).fit(X, y)
    whole = cls(**settings).fit(X, y)
    n = short.n_bits_
    assert whole.n_bits_ == 40
    assert 2 <= n < 40
    assert f"no better bit was found after {n} of 40" in caplog.text
    assert len(short.history_) == len(short.weights_) == len(short.prefix_weights_) == n
    np.testing.assert_array_equal(short.transform(X), whole.transform(X)[:, :n])
    assert all(each["violation"] > short.tolerance for each in short.history_[1:])
    assert whole.history_[n]["violation"] <= whole.tolerance
    assert whole.history_[-1]["objective"] >= whole.history_[n - 1]["objective"] * (1 - 2e-3)
    short.save(tmp_path / "model")
    assert load_model(tmp_path / "model").encode(X).shape == (60, (n + 7) // 8)


@pytest.mark.parametrize("cls", BOTH)
def test_a_model_has_one_bit_at_least(cls, digits):
    model = cls(n_bits=8, C=1e-6, stop_at_optimum=True, random_state=0)
    model.fit(digits[0][:60], digits[1][:60])
    assert model.n_bits_ == 1
    assert not model.weights_.any()
