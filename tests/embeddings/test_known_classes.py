"""The chance of a known class: its regression against refits, its calibration against the truth."""

import numpy as np
import pytest

from structhash.embeddings._known_classes import (
    RIDGES,
    _leave_one_out,
    chance_of_known_class,
    constant_chance,
    fit_known_classes,
)

CENTRES = np.random.default_rng(0).normal(size=(6, 8)) * 2


def draw(classes, n, seed):
    """Rows of these classes, and class probabilities that are sure of classes 0 to 3 and unsure of others."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    rows = CENTRES[y] + rng.normal(size=(n, 8))
    scores = -((rows[:, None] - CENTRES[:4]) ** 2).sum(axis=2) / 8
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (rows, P / P.sum(axis=1, keepdims=True)), y


def test_scores_are_those_of_refits_without_the_row():
    rng = np.random.default_rng(0)
    rows, wanted = rng.normal(size=(30, 4)), rng.random(30)

    def predict(kept, row, ridge):
        centre = rows[kept].mean(axis=0)
        A = rows[kept] - centre
        coef = np.linalg.solve(A.T @ A + ridge * np.eye(4), A.T @ (wanted[kept] - wanted[kept].mean()))
        return wanted[kept].mean() + (rows[row] - centre) @ coef

    refits = [[predict(np.delete(np.arange(30), i), i, ridge) for i in range(30)] for ridge in RIDGES]
    best = min(refits, key=lambda found: ((np.array(found) - wanted) ** 2).mean())
    np.testing.assert_allclose(_leave_one_out(rows, wanted)[0] + wanted.mean(), best, atol=1e-9)


@pytest.mark.parametrize("share", [0, 0.3, 0.7, 1])
def test_the_share_of_known_classes_is_found(share):
    labelled, _ = draw([0, 1, 2, 3], 500, 1)
    old, _ = draw([0, 1, 2, 3], int(1000 * share), 2)
    new, _ = draw([4, 5], 1000 - len(old[0]), 3)
    searched = tuple(np.vstack(pair) for pair in zip(old, new))
    found = fit_known_classes(labelled, searched)
    assert found.of_searched.mean() == pytest.approx(share, abs=0.07)
    assert found.of_labelled.mean() > 0.8
    is_known = np.arange(1000) < len(old[0])
    assert ((found.of_searched > 0.5) == is_known).mean() > 0.9
    chances = chance_of_known_class(*searched, found.state)
    assert abs(chances - found.of_searched).mean() < 0.02


def test_a_constant_chance_is_1_for_every_row():
    rows, _ = draw([0, 5], 20, 4)
    np.testing.assert_array_equal(chance_of_known_class(*rows, constant_chance(8)), 1)
