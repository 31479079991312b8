"""Settings are chosen on rows that are held out, within a time limit: in the library and for C="auto"."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

from structhash import CGHash, HashEncoder, Labels, StructHash, Triplets, load_model
from structhash.baselines import ITQ
from structhash.evaluation.methods import Method
from structhash.training import fitting
from structhash.training import selection as tuning
from structhash.training.selection import Trial, alternatives, best, split, trials

SMALL = {"n_bits": 6, "n_near": 5, "n_far": 5, "random_state": 0}
X, Y = (array[:160] for array in load_digits(return_X_y=True))
AUTO = [StructHash(**SMALL, ranking="sndcg", C="auto"), CGHash(**SMALL, C="auto")]


class Watch:
    """A clock that stands still but for the work of `Slow`."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Slow(HashEncoder):
    """Takes so many seconds to fit, by a watch, and is as good as it says."""

    def __init__(self, seconds=0.0, quality=0.0, watch=None):
        self.seconds = seconds
        self.quality = quality
        self.watch = watch

    def __sklearn_clone__(self):
        return Slow(self.seconds, self.quality, self.watch)  # with the same watch

    def fit(self, X, y):
        self.watch.now += self.seconds
        return self

    def score(self, X, y):
        return self.quality


@pytest.fixture
def no_search(monkeypatch):
    """Where C is chosen, the test fails."""

    def searched(*args):
        raise AssertionError("C was searched")

    monkeypatch.setattr(fitting, "choose_C", searched)


class Two:
    """The alternatives of a method that are one and the same."""

    def __init__(self, encoder):
        self.method = Method("two", (encoder, encoder))

    def fit(self, X, y):
        self.method.fit(X, y, 4, 0)


def same_model(a, b):
    np.testing.assert_array_equal(a.transform(X), b.transform(X))
    np.testing.assert_array_equal(a.step_weights_, b.step_weights_)


# the split


@pytest.mark.parametrize(("n", "held"), [(3, 0), (4, 1), (41, 10), (160, 40)])
def test_a_quarter_of_the_rows_is_held_out(n, held):
    learn, judge = split(n, 0)
    assert len(judge) == held
    assert sorted([*learn, *judge]) == list(range(n))


def test_the_split_is_random_and_that_of_its_seed():
    first, again, other = (split(160, seed)[1].tolist() for seed in (0, 0, 1))
    assert first == again
    assert sorted(first) != sorted(other)
    assert sorted(first) != list(range(40))


# trials


@pytest.mark.parametrize("seed", [0, 1])
def test_trials_are_the_plain_loop_over_clone_fit_and_score(seed):
    encoders = [CGHash(**SMALL, C=C) for C in (300, 1e-3)] + [StructHash(**SMALL), ITQ(6, random_state=0)]
    before = [encoder.get_params() for encoder in encoders]
    learn, judge = split(160, seed)
    expected = [clone(each).fit(X[learn], Y[learn]).score(X[judge], Y[judge]) for each in encoders]
    tried = list(trials(encoders, X, Y, seed))
    assert [trial.score for trial in tried] == expected
    assert all(trial.encoder is each for trial, each in zip(tried, encoders, strict=True))
    assert [vars(encoder) for encoder in encoders] == before  # not fitted
    assert len(set(expected)) == 4
    assert best(tried) is encoders[int(np.argmax(expected))]


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ([0.2, 0.7, 0.5], 1),
        ([0.5, 0.5], 0),
        ([0.1, None, None], 0),
        ([0.0, 0.0, None], 0),
        ([0.1, 0.2, None], 1),
    ],
)
def test_the_first_of_the_best_that_were_tried_wins(scores, winner):
    assert best([Trial(place, score) for place, score in enumerate(scores)]) == winner


@pytest.mark.parametrize(
    ("seconds", "limit", "n_tried"),
    [
        ([5, 5, 5], np.inf, 3),
        ([5, 5, 5], 15, 3),
        ([5, 5, 5], 14.9, 2),  # 10 + 5 would pass it
        ([5, 5, 5], 10, 2),
        ([5, 5, 5], 9.9, 2),  # 5: the first one may have compiled, and says nothing about the next
        ([5, 5, 5], 4.9, 1),
        ([5, 5, 5], 1e-9, 1),  # the first whatever it takes
        ([1, 8, 1, 1], 16, 2),  # the longest counts, not the last
        ([1, 8, 1, 1], 17, 3),  # 9 + 8, but not 10 + 8: none is tried after one that was not
        ([1, 8, 1, 1], 18, 4),
        ([0, 0, 0], 1e-9, 3),
    ],
)
def test_no_trial_is_begun_that_would_probably_pass_the_limit(seconds, limit, n_tried):
    watch = Watch()
    encoders = [Slow(each, place, watch) for place, each in enumerate(seconds)]
    tried = list(trials(encoders, X, Y, 0, limit, watch))
    assert [trial.score for trial in tried] == [*range(n_tried), *[None] * (len(seconds) - n_tried)]
    assert watch.now == 100 + sum(seconds[:n_tried])
    assert best(tried) is encoders[n_tried - 1]


@pytest.mark.parametrize("encoder", [*AUTO, StructHash(**SMALL)], ids=lambda each: type(each).__name__)
def test_held_out_rows_that_share_no_label_are_refused(encoder):
    y = np.arange(160) % 80
    _, judge = split(160, 0)
    y[judge] = 100 + np.arange(40)  # every pair is among the rows to learn from
    message = (
        "judged on a quarter of the 160 rows, but no two of these 40 have the same label; "
        "give more rows of each class, or one setting, such as a number for C"
    )
    with pytest.raises(ValueError, match=message):
        (clone(encoder) if encoder.C == "auto" else Two(encoder)).fit(X, y)


def test_what_cannot_be_learned_from_three_quarters_is_said():
    _, judge = split(160, 0)
    y = np.zeros(160, int)
    y[judge[:20]] = 1  # the second class is held out as a whole
    with pytest.raises(
        ValueError,
        match=r"have the label 0; give at least 2 classes \(so ended CGHash\(.*, tried on 120 of the 160",
    ):
        clone(AUTO[1]).fit(X, y)


# C="auto"


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


@pytest.mark.parametrize("encoder", AUTO, ids=lambda each: type(each).__name__)
def test_each_of_the_three_values_is_chosen_where_it_is_best(encoder, monkeypatch):
    """Scores are made up, by C, so that each wins once."""
    usual = type(encoder)().C
    for wanted in (usual / 10, usual, usual * 10):
        monkeypatch.setattr(HashEncoder, "score", lambda self, X, y, C=wanted: -abs(self.C - C))
        assert wanted == clone(encoder).fit(X, Y).C_


def test_where_time_runs_out_C_is_the_usual_one(monkeypatch):
    monkeypatch.setattr(HashEncoder, "score", lambda self, X, y: self.C)
    monkeypatch.setattr(tuning, "LIMIT", 1e-9)
    assert clone(AUTO[1]).fit(X, Y).C_ == 300
    monkeypatch.setattr(tuning, "LIMIT", np.inf)
    assert clone(AUTO[1]).fit(X, Y).C_ == 3000


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
    monkeypatch.setattr(fitting, "choose_C", lambda *args: pytest.fail("C was searched again"))
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
    [Labels(Y), Triplets(np.array([[0, 10, 1]])), np.eye(10, dtype=int)[Y]],
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


@pytest.mark.parametrize("C", ["auto", 7])
def test_distilling_has_no_use_for_C(no_search, tmp_path, C):
    model = StructHash(6, C=C, random_state=0).fit(X, Y)
    same_model(model, StructHash(6, random_state=0).fit(X, Y))
    model.save(tmp_path / "m")
    assert model.C_ is load_model(tmp_path / "m").C_ is None
    assert StructHash(4, C="auto", random_state=0).fit(X).C_ is None


def test_a_search_may_stand_inside_a_grid_search():
    search = GridSearchCV(clone(AUTO[0]), {"C": [1e-3, "auto"]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"C": "auto"}
    assert search.best_estimator_.C_ == clone(AUTO[0]).fit(X, Y).C_
    assert "C='auto'" in repr(search.best_estimator_)


def test_rows_that_are_queries_later_are_not_seen(monkeypatch):
    """Every fit and every score of a search is on rows of the training matrix."""
    seen, plain = [], HashEncoder._check
    monkeypatch.setattr(
        HashEncoder, "_check", lambda self, X, *a, **k: seen.append(len(X)) or plain(self, X, *a, **k)
    )
    clone(AUTO[0]).fit(X, Y)
    assert seen == [160, 120, 120, 120]


# the grid of --tune


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        (StructHash(), ["as set", "start=several", "ranking=sndcg,family=rbf"]),
        (StructHash(embedding="manifold"), ["as set", "start=several"]),
        (StructHash(start="random_planes"), ["as set", "ranking=sndcg,family=rbf"]),
        (StructHash(family="stump"), ["as set", "start=several"]),
        (StructHash(ranking="auc"), ["as set", "C=3", "C=300", "family=rbf"]),
        (StructHash(ranking="auc", C=1), ["as set", "C=0.1", "C=10", "family=rbf"]),
        (StructHash(schedule="totally_corrective"), ["as set", "C=3", "C=300", "family=rbf"]),
        (StructHash(ranking="auc", family="tree"), ["as set", "C=3", "C=300"]),
        (StructHash(ranking="auc", C="auto"), ["as set", "family=rbf"]),
        (CGHash(), ["as set", "C=30", "C=3000", "family=rbf"]),
        (CGHash(C=5e7), ["as set", "C=5e+06", "family=rbf"]),
    ],
    ids=repr,
)
def test_the_grid_changes_what_is_as_by_default(encoder, words):
    grid = alternatives(encoder)
    assert [each for each, _ in grid] == words
    for text, other in grid:
        change = {} if text == "as set" else dict(part.split("=") for part in text.split(","))
        if "C" in change:
            change["C"] = float(change["C"])
        assert other.get_params() == {**encoder.get_params(), **change}


@pytest.mark.parametrize(
    "encoder", [StructHash(**SMALL), AUTO[0], StructHash(**SMALL, ranking="auc"), CGHash(**SMALL)]
)
def test_every_alternative_of_the_grid_can_be_fitted(encoder):
    tried = list(trials([each for _, each in alternatives(encoder)], X, Y, 0))
    assert len(tried) >= 2
    assert all(0 < trial.score <= 1 for trial in tried)
    assert json.dumps([trial.score for trial in tried])


def test_what_is_no_seed_is_refused_as_without_a_search():
    with pytest.raises(ValueError, match="random_state=-1: give None, an integer >= 0"):
        CGHash(4, C="auto", random_state=-1).fit(X, Y)
