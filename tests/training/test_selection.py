"""Settings are chosen on rows that are held out, within a time limit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from structhash import CGHash, DistilHash, HashEncoder, StructHash
from structhash.training.selection import Trial, best, first_as_good, split, trials

SMALL = {"n_bits": 6, "n_near": 5, "n_far": 5, "random_state": 0}
X, Y = (array[:160] for array in load_digits(return_X_y=True))


class Watch:
    """A clock that only `Slow` moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Slow(HashEncoder):
    """An encoder with a given fit time, on a simulated clock, and a given score."""

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


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_trials_are_the_plain_loop_over_clone_fit_and_score(seed):
    encoders = [CGHash(**SMALL, C=C) for C in (300, 1e-3)] + [
        StructHash(**SMALL),
        DistilHash(6, random_state=0),
    ]
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
        ([5, 5, 5], 9.9, 2),  # 5: the first one may have compiled, and does not predict the next
        ([5, 5, 5], 4.9, 1),
        ([5, 5, 5], 1e-9, 1),  # the first is always tried
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


def test_held_out_rows_that_share_no_label_are_refused():
    y = np.arange(160) % 80
    _, judge = split(160, 0)
    y[judge] = 100 + np.arange(40)  # every pair is among the rows to learn from
    message = (
        "judged on a quarter of the 160 rows, but no two of these 40 have the same label; "
        "give more rows of each class, or one setting, such as a number for C"
    )
    with pytest.raises(ValueError, match=message):
        next(trials([StructHash(**SMALL)], X, y, 0))


def test_what_cannot_be_learned_from_three_quarters_is_said():
    _, judge = split(160, 0)
    y = np.zeros(160, int)
    y[judge[:20]] = 1  # the second class is held out as a whole
    with pytest.raises(
        ValueError,
        match=r"have the label 0; give at least 2 classes \(so ended CGHash\(.*, tried on 120 of the 160",
    ):
        next(trials([CGHash(**SMALL)], X, y, 0))


def test_more_is_given_to_every_fit():
    seen = []

    class Takes(Slow):
        def __sklearn_clone__(self):
            return self

        def fit(self, X, y, unlabeled):
            seen.append(unlabeled)
            return self

    list(trials([Takes(), Takes()], X, Y, 0, unlabeled="rows"))
    assert seen == ["rows", "rows"]


# alternatives of equal worth


def test_the_first_as_good_is_the_first_within_a_standard_error_of_the_best():
    noise = np.random.default_rng(0).normal(size=100)
    best = np.ones(100)
    error = noise.std(ddof=0) / 10
    level, short = (best - noise + noise.mean() - part * error for part in (0.9, 1.1))
    assert first_as_good([short, best]) == 1
    assert first_as_good([level, best]) == 0
    assert first_as_good([short, level, best]) == 1
    assert first_as_good([best, best + 1]) == 1
    assert first_as_good([np.zeros(0), np.zeros(0)]) == 0
    assert first_as_good([short, best], errors=2) == 0


def test_several_labels_a_row_judge_alternatives():
    rng = np.random.default_rng(0)
    indicators, rows = rng.random((8, 3)) < 0.7, rng.standard_normal((8, 4))
    indicators[:, 0] = True  # any two rows share a label, also the two that judge
    fitted = []

    class Takes(StructHash):
        def fit(self, X, y):
            fitted.append(y)
            return self

        def score(self, X, y):
            return float(len(y))

    learn, _ = split(8, 0)
    assert [each.score for each in trials([Takes()], rows, indicators, 0)] == [2.0]
    np.testing.assert_array_equal(fitted[0], indicators[learn])
