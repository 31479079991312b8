"""The chance of a known class: its regression against refits, its calibration against the truth."""

import numpy as np
import pytest

from structhash.embeddings._known_classes import (
    RIDGES,
    _as_searched,
    _leave_one_out,
    chance_of_known_class,
    constant_chance,
    fit_known_classes,
)

CENTRES = np.random.default_rng(0).normal(size=(6, 8)) * 2


def draw(classes, n, seed, drift=0.0):
    """Rows of these classes, moved by a drift, with class probabilities: sure of 0 to 3, unsure of others."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    rows = CENTRES[y] + rng.normal(size=(n, 8)) + drift
    scores = -((rows[:, None] - CENTRES[:4]) ** 2).sum(axis=2) / 8
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (rows, P / P.sum(axis=1, keepdims=True)), y


def test_scores_are_those_of_weighted_refits_without_the_row():
    rng = np.random.default_rng(0)
    rows, wanted, weights = rng.normal(size=(30, 4)), rng.random(30), rng.random(30) + 0.5

    def predict(kept, row, ridge):
        w = weights[kept]
        centre, level = np.average(rows[kept], axis=0, weights=w), np.average(wanted[kept], weights=w)
        A = rows[kept] - centre
        coef = np.linalg.solve((w * A.T) @ A + ridge * np.eye(4), (w * A.T) @ (wanted[kept] - level))
        return level + (rows[row] - centre) @ coef

    refits = [[predict(np.delete(np.arange(30), i), i, ridge) for i in range(30)] for ridge in RIDGES]
    best = min(refits, key=lambda found: (weights * (np.array(found) - wanted) ** 2).sum())
    found = _leave_one_out(rows, wanted, weights)[0] + np.average(wanted, weights=weights)
    np.testing.assert_allclose(found, best, atol=1e-9)


@pytest.mark.parametrize("share", [0, 0.3, 0.7, 1])
def test_the_share_of_known_classes_is_found(share):
    labelled, y = draw([0, 1, 2, 3], 500, 1)
    old, _ = draw([0, 1, 2, 3], int(1000 * share), 2)
    new, _ = draw([4, 5], 1000 - len(old[0]), 3)
    searched = tuple(np.vstack(pair) for pair in zip(old, new))
    found = fit_known_classes(labelled, searched, y, searched[1])
    assert found.of_searched.mean() == pytest.approx(share, abs=0.07)
    assert found.of_labelled.mean() > 0.8
    is_known = np.arange(1000) < len(old[0])
    assert ((found.of_searched > 0.5) == is_known).mean() > 0.9
    chances = chance_of_known_class(*searched, found.state)
    assert abs(chances - found.of_searched).mean() < 0.02


def test_known_rows_that_drift_stay_mostly_known():
    chances = []
    for seed in range(4):
        labelled, y = draw([0, 1, 2, 3], 500, 10 * seed + 1)
        direction = np.random.default_rng(seed).normal(size=8)
        drift = 0.5 * direction / np.linalg.norm(direction)
        searched, _ = draw([0, 1, 2, 3], 1000, 10 * seed + 2, drift)
        chances.append(fit_known_classes(labelled, searched, y, searched[1]).of_searched.mean())
    assert np.mean(chances) > 0.75  # .67 where the upper quartile of the odds stands for known rows


def test_classes_that_are_labelled_less_often_than_searched_are_known():
    labelled, y = draw([0] * 60 + [1] * 20 + [2] * 2 + [3], 500, 1)
    searched, _ = draw([0, 1, 2, 3], 1000, 2)
    found = fit_known_classes(labelled, searched, y, searched[1])
    assert found.of_searched.mean() > 0.9
    even = np.tile([0.25] * 4, (1000, 1)) * np.bincount(y)  # as if they were searched as often as labelled
    assert fit_known_classes(labelled, searched, y, even).of_searched.mean() < 0.5


def test_labelled_rows_weigh_as_their_class_is_searched():
    y = np.repeat([0, 1, 2], [90, 8, 2])
    weights = _as_searched(y, np.array([300.0, 30.0, 270.0]))
    assert weights.mean() == pytest.approx(1)
    sums = np.bincount(y, weights)
    assert sums[2] / sums[0] == pytest.approx(270 / 300)
    assert weights[90] / weights[0] == pytest.approx(1 / (50 / 90))  # 8 of 5 are within chance
    np.testing.assert_array_equal(_as_searched(y, np.array([880.0, 70.0, 50.0])), 1)
    np.testing.assert_array_equal(_as_searched(y, np.array([1.2, 0.4, 0.4])), 1)  # of too few rows to say so


def test_the_chance_can_do_without_how_sure_the_classes_are():
    labelled, y = draw([0, 1, 2, 3], 60, 1)
    searched, _ = draw([0, 1, 2, 3], 500, 2)
    unsure = labelled[0], labelled[1] * 0.5 + 0.125  # as where each row that is left out matters
    assert fit_known_classes(unsure, searched, y, searched[1]).of_searched.mean() < 0.5
    found = fit_known_classes(unsure, searched, y, searched[1], by_sureness=False)
    assert found.of_searched.mean() > 0.8
    unsure = searched[0], searched[1] * 0.5 + 0.125
    expected = chance_of_known_class(*searched, found.state)
    np.testing.assert_array_equal(chance_of_known_class(*unsure, found.state), expected)


def test_a_constant_chance_is_1_for_every_row():
    rows, _ = draw([0, 5], 20, 4)
    np.testing.assert_array_equal(chance_of_known_class(*rows, constant_chance(8)), 1)
