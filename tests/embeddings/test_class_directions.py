"""Directions of class probabilities, against their definition, and what they find of new classes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.embeddings.class_directions import ClassDirections
from structhash.embeddings.posterior import Posterior

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
KNOWN, NEW = np.flatnonzero(Y < 7)[::4], np.flatnonzero(Y >= 7)


ONE_POINT = np.zeros(1, int)


def fit(unlabeled=None, points=ONE_POINT):
    return ClassDirections().fit(X[KNOWN], Y[KNOWN], unlabeled, points, np.random.default_rng(0))


@pytest.fixture(scope="module")
def state():
    return fit().state


def directions(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def left_out_probabilities(points):
    return Posterior().fit(X[KNOWN], Y[KNOWN], None, points, np.random.default_rng(0)).vectors.astype(float)


def test_vectors_and_factors_are_as_defined():
    fitted = fit(points=np.arange(len(KNOWN)))
    P = left_out_probabilities(np.arange(len(KNOWN)))  # at temperature 16
    at_8 = P**2 / (P**2).sum(axis=1, keepdims=True)
    soft = directions(np.sqrt(P) - np.sqrt(at_8).mean(axis=0))
    centred = directions(X[KNOWN] - X[KNOWN].mean(axis=0, dtype=float))
    sizes = np.bincount(Y[KNOWN])
    trust = (P**16 / (P**16).sum(axis=1, keepdims=True)) @ (sizes / (sizes + 5))
    np.testing.assert_allclose(fitted.vectors, np.hstack([trust[:, None], soft, centred]), atol=2e-5)
    rows, queries = (
        ClassDirections().factors(fitted.vectors, fitted.state, queries=each) for each in (False, True)
    )
    np.testing.assert_allclose(rows, np.hstack([soft, 0.3 * centred]), atol=2e-5)
    np.testing.assert_allclose(
        queries @ rows.T, trust[:, None] * soft @ soft.T + 0.3 * centred @ centred.T, atol=1e-4
    )
    assert (queries @ rows.T).max() < 1.3 < ClassDirections().most_alike(fitted.state)
    np.testing.assert_allclose(
        ClassDirections().at_temperature(fitted.vectors, 1.0, fitted.state), rows, atol=1e-6
    )


def test_more_rows_of_new_classes_are_found_than_by_the_likeliest_class(state):
    def found(queries, rows):
        nearest = np.argsort(-queries[NEW] @ rows.T, axis=1)[:, 1:11]  # the first is the query itself
        return np.mean(Y[nearest] == Y[NEW, None])

    vectors = ClassDirections().embed(X, state)
    ours = found(*(ClassDirections().factors(vectors, state, queries=each) for each in (True, False)))
    P = Posterior().at_temperature(Posterior().embed(X, state), 1.0, state)
    assert ours > 0.75 > 0.5 > found(P, P)


def test_rows_that_are_searched_move_the_mean_row(state):
    moved = fit(X[NEW], np.arange(5))
    np.testing.assert_allclose(moved.state["mean"], X[NEW].mean(axis=0), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(moved.vectors, ClassDirections().embed(X[NEW[:5]], moved.state))
    np.testing.assert_allclose(state["mean"], X[KNOWN].mean(axis=0), rtol=1e-4, atol=1e-5)


def test_it_needs_labels():
    with pytest.raises(ValueError, match="'class_directions' learns from labels; give labels"):
        ClassDirections().fit(X[:100], None, None, np.arange(50), np.random.default_rng(0))
