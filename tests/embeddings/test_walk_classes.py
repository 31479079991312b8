"""Class probabilities from rows and the walk: the regression against refits, the weights against a search."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from structhash.embeddings import _walk_classes
from structhash.embeddings._walk_classes import (
    ASSUMED_RIDGE,
    WALK_RIDGES,
    _assumed,
    _regressions,
    _weigh,
    fit_walk_classes,
    join_walk,
)

CENTRES = np.random.default_rng(0).normal(size=(4, 6))


def draw(sizes, seed, noise=1.0):
    """Walk vectors near the centre of their class, probabilities that say nothing, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    walk = CENTRES[y] + noise * rng.normal(size=(len(y), 6))
    return np.full((len(y), len(sizes)), 1 / len(sizes)), walk, y


def fit(P, walk, y, temperature=1.0):
    return fit_walk_classes(P, np.arange(len(y)), walk, y, temperature)


@pytest.mark.parametrize("number", [0, 5, 9])
def test_scores_are_those_of_refits_without_the_row(number):
    _, walk, y = draw([4, 6, 5, 9], 1)
    scores, coef = list(_regressions(walk, y, np.arange(5, 20)))[number]
    Y = (y[:, None] == np.arange(4)) - np.bincount(y) / len(y)

    def solve(kept):
        A = walk[kept]
        return np.linalg.solve(A.T @ A + WALK_RIDGES[number] * np.eye(6), A.T @ Y[kept])

    refits = [walk[i] @ solve(np.delete(np.arange(len(y)), i)) for i in range(5, 20)]
    np.testing.assert_allclose(scores, np.array(refits) + np.bincount(y) / len(y), atol=1e-8)
    np.testing.assert_allclose(coef, solve(np.arange(len(y))), atol=1e-8)


def test_the_weights_are_those_of_a_search_without_slopes():
    rng = np.random.default_rng(2)
    classes = rng.integers(0, 4, 60)
    parts = rng.normal(size=(3, 60, 4))
    parts[:2, np.arange(60), classes] += 1
    share, assumed = rng.random(60), np.array([1.0, 2.0, 0.5])
    share /= share.sum()

    def loss(t):
        logs = log_softmax(np.exp(t[0]) * parts[0] + np.exp(t[1]) * parts[1] + t[2] * parts[2], axis=1)
        away = t - [0, np.log(2), 0.5]
        return -logs[np.arange(60), classes] @ share + 0.01 * (away**2).sum()

    options = {"xatol": 1e-6, "fatol": 1e-10, "maxiter": 5000}
    t = minimize(loss, [0, 0, 0.5], method="Nelder-Mead", bounds=[(-5, 1), (-5, 3), (0, 2)], options=options).x
    found = _weigh(parts, classes, share, assumed, 0.01)
    np.testing.assert_allclose(found, [np.exp(t[0]), np.exp(t[1]), t[2]], rtol=1e-2, atol=1e-3)


def test_the_walk_tells_classes_that_the_rows_do_not():
    P, walk, y = draw([8] * 4, 3, 0.7)
    found = fit(P, walk, y)
    assert (found.left_out.argmax(axis=1) == y).mean() > 0.8
    P, walk, y = draw([500] * 4, 4, 0.7)
    joined = join_walk(P, walk, found.state)
    assert (joined.argmax(axis=1) == y).mean() > 0.8
    np.testing.assert_allclose(joined.sum(axis=1), 1)


def test_a_walk_that_says_nothing_leaves_sure_rows_as_they_are():
    _, walk, y = draw([9] * 4, 5)
    P = softmax(4.0 * (y[:, None] == np.arange(4)), axis=1)
    found = fit(P, np.random.default_rng(0).normal(size=walk.shape), y)
    assert (found.left_out.argmax(axis=1) == y).mean() > 0.95


def test_rare_classes_are_found_as_well_as_frequent_ones():
    fitted = fit(*draw([150, 60, 6, 3], 6, 0.8)[:3]).state
    P, walk, y = draw([300] * 4, 7, 0.8)
    right = join_walk(P, walk, fitted).argmax(axis=1) == y
    assert right[y >= 2].mean() > 0.6


def test_one_row_a_class_takes_the_assumed_weights():
    P, walk, y = draw([1] * 4, 8, 0.1)
    state = fit(P, walk, y, 2.0).state
    a, b, _ = _assumed(WALK_RIDGES[ASSUMED_RIDGE])
    coef = list(_regressions(walk, y, np.arange(4)))[ASSUMED_RIDGE][1]
    assert state["row_weight"] == a
    np.testing.assert_allclose(state["walk_coef"], b * coef / 2)
    P, walk, y = draw([100] * 4, 9, 0.1)
    assert (join_walk(P, walk, state).argmax(axis=1) == y).mean() > 0.95


def test_with_more_labels_the_walk_loses_its_part():
    far = []
    for size in (10, 14, 19, 20, 40):
        P, walk, y = draw([size] * 4, 10)
        P = softmax(np.random.default_rng(0).normal(size=P.shape), axis=1)
        found = fit(P, walk, y)
        np.testing.assert_allclose(join_walk(P, walk * 0, found.state).sum(axis=1), 1)
        far.append(np.abs(found.left_out - P).mean())
    assert far[0] > far[2] > far[3] == far[4] == pytest.approx(0, abs=1e-12)
    assert _walk_classes._walk_part(np.array([20, 20])) == 0
    assert _walk_classes._walk_part(np.array([10, 10])) == 1


def test_the_temperature_is_that_of_the_probabilities():
    _, walk, y = draw([5] * 4, 11)
    P = softmax(np.random.default_rng(1).normal(size=(20, 4)), axis=1)
    soft = softmax(np.log(P) / 8, axis=1)
    sharp, same = fit(P, walk, y), fit(soft, walk, y, 8.0)
    np.testing.assert_allclose(softmax(8 * np.log(same.left_out), axis=1), sharp.left_out, atol=1e-6)
    joined = join_walk(soft, walk, same.state)
    np.testing.assert_allclose(softmax(8 * np.log(joined), axis=1), join_walk(P, walk, sharp.state), atol=1e-6)
