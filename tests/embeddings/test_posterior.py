"""Class probabilities: the closed forms against fits without the row, the choices, the limits."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from structhash.embeddings import _regression
from structhash.embeddings._regression import _calibrate, regress
from structhash.embeddings._targets import sharpen
from structhash.embeddings.posterior import Posterior

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 3))
INDEX = np.r_[np.zeros(14, int), np.ones(13, int), np.full(13, 2)]
SIGMA = 0.8


def kernel(A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=-1) / (2 * SIGMA**2))


@pytest.mark.parametrize("n_anchors", [40, 12])
def test_left_out_scores_are_those_of_fits_without_the_row(n_anchors, monkeypatch):
    ridge = 0.1
    monkeypatch.setattr(_regression, "POSTERIOR_RIDGES", (ridge,))
    monkeypatch.setattr(_regression, "MIN_KERNEL_EIGENVALUE", 0.0)
    anchors, points = ROWS[:n_anchors], np.arange(5, 25)
    found = regress(ROWS.__getitem__, anchors, INDEX, SIGMA, points)
    prior = np.bincount(INDEX) / 40
    Y, K, among = np.eye(3)[INDEX] - prior, kernel(ROWS, anchors), kernel(anchors, anchors)

    def solve(rows):  # min ||K c - Y||^2 + ridge c'Kc
        return np.linalg.solve(K[rows].T @ K[rows] + ridge * among, K[rows].T @ Y[rows])

    expected = [K[i] @ solve(np.delete(np.arange(40), i)) + prior for i in points]
    np.testing.assert_allclose(found.left_out, expected, atol=1e-6)
    np.testing.assert_allclose(K @ found.coef, K @ solve(np.arange(40)), atol=1e-6)


def test_the_sharpness_is_the_likeliest_one():
    scores, index = RNG.normal(size=(50, 4)), RNG.integers(0, 4, 50)
    scores[np.arange(50), index] += 1
    loss, sharpness = _calibrate(scores, index)

    def at(s):
        return -np.log(softmax(s * scores, axis=1)[np.arange(50), index]).mean()

    assert loss == pytest.approx(at(sharpness))
    assert loss <= min(at(sharpness * factor) for factor in (0.9, 0.97, 1.03, 1.1)) + 1e-9


def test_targets_are_the_chances_of_a_common_class():
    P = RNG.dirichlet(np.ones(4), size=6)
    Z = sharpen(P, 1 / 16)
    partners = np.array([[1, 2, 3], [0, 4, 5]])
    expected = np.array([[P[0] @ P[j] for j in partners[0]], [P[1] @ P[j] for j in partners[1]]])
    found = Posterior().targets(Z, np.array([0, 1]), partners, np.ones(3), {})
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)


def test_vectors_at_a_temperature_are_the_softmax_of_scores_divided_by_it():
    scores = RNG.normal(size=(6, 4)) * 3
    piece, Z = Posterior(), softmax(scores / 16, axis=1)  # of rows
    for temperature in (16, 10, 8, 2, 1):
        found = piece.at_temperature(Z, temperature, {})
        np.testing.assert_allclose(found, softmax(scores / temperature, axis=1), rtol=1e-10)
        assert piece.at_temperature(Z.astype(np.float32), temperature, {}).dtype == np.float32
    assert piece.at_temperature(Z, 16.0, {}) is Z


def test_bits_are_learned_at_half_the_temperature_of_rows():
    found = Posterior().temperatures(np.repeat([0, 1], 500))
    assert (found.points, found.rows, found.queries) == (8, 16, (4, 2, 1))
    assert Posterior().temperatures(None) == found
    found = Posterior(temperature=3.0, max_row_temperature=5.0, query_candidates=(2.0,)).temperatures(None)
    assert found == (3, 5, (2.0,))


def test_rows_are_coded_the_softer_the_more_training_rows_a_class_has():
    def rows(class_index):
        return Posterior().temperatures(class_index).rows

    found = [rows(np.repeat([0, 1], n)) for n in (3, 10, 20, 50, 100, 500)]
    assert found[:2] == [8, 8]
    assert found[-2:] == [16, 16]
    assert 8 < found[2] < found[3] < 16
    assert rows(np.repeat([3, 7], [400, 5])) == 8  # a rare class counts, not the mean
    assert rows(np.repeat([3, 7], [100, 25])) == rows(np.repeat([3, 7], [40, 40])) < 16  # harmonic mean: 40
    half_way = rows(np.arange(3162) % 100)
    assert half_way == pytest.approx(np.sqrt(8 * 16), rel=1e-4)


def test_training_vectors_are_as_unsure_as_those_of_new_rows():
    X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
    state, Z, left_out = Posterior().fit(X[:300], y[:300], None, np.arange(300), np.random.default_rng(0))
    seen, new = Posterior().embed(X[:300], state), Posterior().embed(X[300:], state)
    sure = [Posterior().at_temperature(V, 2.0, {}).max(axis=1).mean() for V in (Z, new, seen)]
    assert abs(sure[0] - sure[1]) < 0.03 < sure[2] - sure[1]
    np.testing.assert_array_equal(left_out.rows, np.arange(300))
    np.testing.assert_array_equal(left_out.vectors, Z)


@pytest.mark.slow
@pytest.mark.parametrize("n_anchors", [50, 2000])
def test_it_classifies_new_rows(n_anchors):
    X, y = load_digits(return_X_y=True)
    piece = Posterior(n_anchors=n_anchors)
    state, _, _ = piece.fit(X[:600], y[:600], None, np.arange(600), np.random.default_rng(0))
    assert len(state["anchors"]) == min(n_anchors, 600)
    assert (piece.embed(X[600:], state).argmax(axis=1) == y[600:]).mean() > (0.85 if n_anchors == 50 else 0.93)


def test_rows_that_differ_by_their_length_alone_are_told_apart():
    X = np.outer(np.r_[np.linspace(1, 2, 30), np.linspace(5, 6, 30)], np.ones(4))
    y = np.repeat([0, 1], 30)
    state, _, _ = Posterior().fit(X, y, None, np.arange(60), np.random.default_rng(0))
    assert (Posterior().embed(X, state).argmax(axis=1) == y).all()


@pytest.mark.parametrize("value", [1, 0, 2.5, True, "many"])
def test_a_bad_number_of_anchors_is_refused(value):
    with pytest.raises(ValueError, match=r"n_anchors=.*: give an integer of at least 2"):
        Posterior(n_anchors=value)


@pytest.mark.parametrize("name", ["temperature", "max_row_temperature", "query_candidates"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "warm"])
def test_a_bad_temperature_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}=.*: give a finite number above 0"):
        Posterior(**{name: value})


def test_candidates_for_queries_are_a_tuple_however_they_are_given():
    assert Posterior(query_candidates=2.0).query_candidates == (2.0,)
    assert Posterior(query_candidates=[4.0, 1.0]) == Posterior(query_candidates=(4.0, 1.0))
    assert Posterior(query_candidates=()).temperatures(None).queries == ()


def test_beside_unlabeled_rows_left_out_vectors_are_of_training_rows_and_the_points_are_not():
    X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
    points = np.arange(0, 400, 2)
    state, vectors, left_out = Posterior().fit(X[:300], y[:300], X[300:], points, np.random.default_rng(0))
    np.testing.assert_array_equal(vectors, Posterior().embed(X[300:][points], state))
    assert sorted(left_out.rows) == list(range(300))
    assert left_out.vectors.shape == (300, 10)
    right = left_out.vectors.argmax(axis=1) == y[left_out.rows]
    assert 0.85 < right.mean() < 1


def test_labels_are_needed():
    with pytest.raises(ValueError, match="the embedding 'posterior' learns from labels; give class_index"):
        Posterior().fit(ROWS, None, None, np.arange(40), RNG)
