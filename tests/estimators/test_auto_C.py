"""C="auto": the value around the usual C under which held-out rows are retrieved best."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

from structhash import CGHash, HashEncoder, Labels, StructHash, Triplets, load_model
from structhash.estimators import _auto_C, _comparing
from structhash.estimators._auto_C import choose_C, values_around
from structhash.training.selection import split

SMALL = {"n_bits": 6, "n_near": 5, "n_far": 5, "random_state": 0}
X, Y = (array[:160] for array in load_digits(return_X_y=True))
AUTO = [StructHash(**SMALL, C="auto"), CGHash(**SMALL, C="auto")]


@pytest.fixture
def no_search(monkeypatch):
    """Where C is chosen, the test fails."""

    def searched(*args):
        raise AssertionError("C was searched")

    monkeypatch.setattr(_comparing, "choose_C", searched)


def same_model(a, b):
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    np.testing.assert_array_equal(a.prefix_weights_, b.prefix_weights_)


@pytest.mark.slow
@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_chosen_C_is_that_of_the_plain_loop_and_the_model_that_of_all_rows(encoder, seed):
    model = clone(encoder).set_params(random_state=seed).fit(X, Y)
    usual, (learn, judge) = type(encoder)().C, split(160, seed)
    assert usual == {StructHash: 30, CGHash: 300}[type(encoder)]
    scores = {
        C: clone(model).set_params(C=C).fit(X[learn], Y[learn]).score(X[judge], Y[judge])
        for C in (usual, usual / 10, usual * 10)
    }
    assert max(scores, key=scores.get) == model.C_
    assert model.C == "auto"
    same_model(model, clone(model).set_params(C=model.C_).fit(X, Y))


@pytest.mark.slow
@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
def test_each_of_the_three_values_is_chosen_where_it_is_best(encoder, monkeypatch):
    """Scores are made up, by C, so that each wins once."""
    usual = type(encoder)().C
    for wanted in (usual / 10, usual, usual * 10):
        monkeypatch.setattr(HashEncoder, "score", lambda self, X, y, C=wanted: -abs(self.C - C))
        assert wanted == clone(encoder).fit(X, Y).C_


def test_where_time_runs_out_C_is_the_usual_one(monkeypatch):
    monkeypatch.setattr(HashEncoder, "score", lambda self, X, y: self.C)
    monkeypatch.setattr(_auto_C, "MAX_SECONDS", 1e-9)
    assert clone(AUTO[1]).fit(X, Y).C_ == 300
    monkeypatch.setattr(_auto_C, "MAX_SECONDS", np.inf)
    assert clone(AUTO[1]).fit(X, Y).C_ == 3000


@pytest.mark.slow
@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
def test_steps_and_one_seed_give_one_model(encoder):
    plain, watched = clone(encoder).fit(X, Y), clone(encoder)
    steps = list(watched.steps(X, Y))
    assert len(steps) == 6
    assert watched.C_ == plain.C_
    same_model(watched, plain)


@pytest.mark.parametrize(
    "random_state",
    [None, np.random.RandomState(0), np.random.default_rng(0)],
    ids=["None", "RandomState", "Generator"],
)
def test_any_random_state_will_do(random_state):
    model = clone(AUTO[0]).set_params(random_state=random_state).fit(X, Y)
    assert model.C_ in (3, 30, 300)


def test_generators_in_the_same_state_give_one_model():
    a, b = (clone(AUTO[0]).set_params(random_state=np.random.default_rng(7)).fit(X, Y) for _ in range(2))
    assert a.C_ == b.C_
    same_model(a, b)


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
def test_the_chosen_C_is_saved(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(HashEncoder, "score", lambda self, X, y: self.C)
    model = clone(encoder).fit(X, Y)
    model.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert (loaded.C, loaded.C_) == ("auto", model.C_)
    assert model.C_ == 10 * type(encoder)().C
    same_model(loaded, model)


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
def test_a_grown_model_keeps_its_C(encoder, monkeypatch):
    monkeypatch.setattr(HashEncoder, "score", lambda self, X, y: -self.C)
    grown = clone(encoder).set_params(warm_start=True, n_bits=4).fit(X, Y)
    monkeypatch.setattr(_comparing, "choose_C", lambda *args: pytest.fail("C was searched again"))
    grown.set_params(n_bits=6).fit(X, Y)
    assert type(encoder)().C / 10 == grown.C_
    same_model(grown, clone(encoder).set_params(C=grown.C_).fit(X, Y))


def test_without_warm_start_C_is_chosen_anew(monkeypatch):
    monkeypatch.setattr(HashEncoder, "score", lambda self, X, y: -self.C)
    model = clone(AUTO[0]).fit(X, Y)
    monkeypatch.setattr(HashEncoder, "score", lambda self, X, y: self.C)
    assert (model.C_, model.fit(X, Y).C_) == (3, 300)


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
def test_a_failed_search_leaves_the_model_as_it_was(encoder, monkeypatch):
    model = clone(encoder).set_params(C=5).fit(X, Y)
    before = dict(vars(model.set_params(C="auto")))
    y = np.arange(160)
    y[:2] = 200  # at seed 0 not both are held out
    with pytest.raises(ValueError, match="no two of these 40"):
        model.fit(X, y)
    assert vars(model) == before
    assert model.C_ == 5
    assert model.transform(X).shape == (160, 6)


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(
    "y",
    [Labels(Y), Triplets(np.array([[0, 10, 1]])), np.eye(10, dtype=int)[Y] | np.eye(10, dtype=int)[0]],
    ids=["Labels", "Triplets", "0/1"],
)
def test_C_is_chosen_by_plain_labels_only(encoder, y):
    model = clone(encoder)
    with pytest.raises(
        ValueError, match=r"C='auto' is chosen by labels, one a row; .* number for C, such as 30"
    ):
        model.fit(X, y)
    assert not hasattr(model, "C_")


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(
    ("y", "message"), [(None, "requires y to be passed"), (np.zeros(160, int), "all 160 rows have the label 0")]
)
def test_labels_that_say_nothing_are_refused_as_with_a_number(encoder, y, message):
    for C in ("auto", 30):
        with pytest.raises(ValueError, match=message) as caught:
            clone(encoder).set_params(C=C).fit(X, y)
        assert "tried on" not in str(caught.value)


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("C", ["Auto", "30", None, -1, True])
def test_other_words_for_C_are_refused(encoder, C):
    with pytest.raises(ValueError, match=r"give a number above 0 and at most 1e.08, or 'auto'"):
        clone(encoder).set_params(C=C).fit(X, Y)


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
def test_with_a_number_nothing_is_searched(encoder, no_search):
    for y in (Y, Labels(Y)):
        assert clone(encoder).set_params(C=7).fit(X, y).C_ == 7


@pytest.mark.slow
def test_a_search_may_stand_inside_a_grid_search():
    search = GridSearchCV(clone(AUTO[0]), {"C": [1e-3, "auto"]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"C": "auto"}
    assert search.best_estimator_.C_ == clone(AUTO[0]).fit(X, Y).C_
    assert "C='auto'" in repr(search.best_estimator_)


def test_rows_that_are_queries_later_are_not_seen(monkeypatch):
    """Every fit and every score of a search is on rows of the training matrix."""
    seen, plain = [], HashEncoder._check_input
    monkeypatch.setattr(
        HashEncoder, "_check_input", lambda self, X, *a, **k: seen.append(len(X)) or plain(self, X, *a, **k)
    )
    clone(AUTO[0]).fit(X, Y)
    assert seen == [160, 120, 120, 120]


def test_what_is_no_seed_is_refused_as_without_a_search():
    with pytest.raises(ValueError, match="random_state=-1: give None, an integer >= 0"):
        CGHash(4, C="auto", random_state=-1).fit(X, Y)


@pytest.mark.parametrize(
    ("C", "expected"), [(30.0, [30, 3, 300]), (5e7, [5e7, 5e6]), (1e8, [1e8, 1e7]), (5e-324, [5e-324, 5e-323])]
)
def test_values_around_are_a_tenth_and_ten_times_within_the_bounds(C, expected):
    assert values_around(C) == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [StructHash, CGHash])
def test_C_is_the_best_of_three_and_the_encoder_stays(kind, monkeypatch):
    encoder = kind(**SMALL, C="auto", warm_start=True)
    before = dict(vars(encoder))
    for wanted in (5.0, 0.5, 50.0):
        monkeypatch.setattr(HashEncoder, "score", lambda self, X, y, C=wanted: -abs(self.C - C))
        assert choose_C(encoder, 5.0, X, Y) == wanted
    assert vars(encoder) == before


def test_a_generator_draws_the_split_and_moves_on():
    a, b = np.random.default_rng(3), np.random.default_rng(3)
    encoder = StructHash(**{**SMALL, "random_state": a}, C="auto")
    choose_C(encoder, 30.0, X, Y)
    b.integers(2**31)
    assert a.random() == b.random()
