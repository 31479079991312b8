"""Class probabilities: the closed forms against fits without the row, the choices, the limits."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from structhash.embeddings import _regression
from structhash.embeddings._kernel_logits import anchors_for
from structhash.embeddings._many_rows import Kernel, fit_ridge, regress_on_anchors
from structhash.embeddings._outcomes import Classes
from structhash.embeddings._regression import regress
from structhash.embeddings._targets import sharpen
from structhash.embeddings.posterior import Posterior

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 3))
INDEX = np.r_[np.zeros(14, int), np.ones(13, int), np.full(13, 2)]
CLASSES = Classes.of(INDEX)
SIGMA = 0.8
PRIOR = np.bincount(INDEX) / 40
Y = np.eye(3)[INDEX] - PRIOR


def kernel(A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=-1) / (2 * SIGMA**2))


def solve(anchors, rows, ridge=0.1):
    """Coefficients that minimise ||K c - Y||^2 + ridge c'Ac on these rows."""
    K, A = kernel(ROWS[rows], anchors), kernel(anchors, anchors)
    return np.linalg.solve(K.T @ K + ridge * A, K.T @ Y[rows])


def test_left_out_scores_are_those_of_fits_without_the_row(monkeypatch):
    monkeypatch.setattr(_regression, "RIDGES", (0.1,))
    monkeypatch.setattr(_regression, "MIN_KERNEL_EIGENVALUE", 0.0)
    points, K = np.arange(5, 25), kernel(ROWS, ROWS)
    found = regress(ROWS, CLASSES, SIGMA, points)
    expected = [K[i] @ solve(ROWS, np.delete(np.arange(40), i)) + PRIOR for i in points]
    np.testing.assert_allclose(found.left_out, expected, atol=1e-6)
    np.testing.assert_allclose(K @ found.coef, K @ solve(ROWS, np.arange(40)), atol=1e-6)


def test_a_row_alone_judges_nothing_and_keeps_its_own_score(monkeypatch):
    index = np.r_[np.zeros(25, int), np.ones(14, int), 2]
    outcomes, points = Classes.of(index), np.arange(40)
    monkeypatch.setattr(_regression, "RIDGES", (0.1,))
    few = Kernel(np.eye(3), ROWS[:12], SIGMA)
    for anchors, found in (
        (ROWS, regress(ROWS, outcomes, SIGMA, points)),
        (ROWS[:12], fit_ridge(ROWS.__getitem__, few, outcomes, points, [0.1])),
    ):
        fitted = kernel(ROWS, anchors) @ found.coef + outcomes.prior
        np.testing.assert_allclose(found.left_out[39], fitted[39], atol=1e-6)
        assert not np.isclose(found.left_out[:39], fitted[:39], atol=1e-4).all(axis=1).any()
        loss, link = outcomes.part(slice(39)).calibrate(found.left_out[:39])
        np.testing.assert_allclose((found.loss, *found.link), (loss, *link), rtol=1e-6)


def test_rows_alone_are_anchors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    index = np.r_[np.arange(599) % 2, 2]
    chosen, _ = regress_on_anchors(X.__getitem__, Classes.of(index), 1.0, 30, np.arange(600), rng)
    assert np.isclose(chosen.anchors, X[599] @ chosen.directions).all(axis=1).any()


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
    assert (found.points, found.rows) == (8, 16)
    assert Posterior().temperatures(None) == found


def test_queries_are_at_most_as_soft_as_rows_and_those_of_rows_come_first():
    found = Posterior().temperatures(np.repeat([0, 1], 500)).queries
    assert found == (16, 11.3, 8, 5.66, 4, 2.83, 2, 1.41, 1)
    assert Posterior().temperatures(np.repeat([0, 1], 5)).queries == (8, 5.66, 4, 2.83, 2, 1.41, 1)
    found = Posterior(temperature=3.0, max_row_temperature=5.0, query_candidates=(2.0, 5.0, 7.0))
    assert found.temperatures(None) == (3, 5, (5, 2))


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


def test_left_out_scores_with_fewer_anchors_than_rows_are_those_of_fits_without_the_row():
    points, anchors = np.arange(5, 25), ROWS[:12]
    kernel_of_12 = Kernel(np.eye(3), anchors, SIGMA)
    found = fit_ridge(ROWS.__getitem__, kernel_of_12, CLASSES, points, [0.1])
    K = kernel(ROWS, anchors)
    expected = [K[i] @ solve(anchors, np.delete(np.arange(40), i)) + PRIOR for i in points]
    np.testing.assert_allclose(found.left_out, expected, atol=1e-6)
    np.testing.assert_allclose(found.coef, solve(anchors, np.arange(40)), rtol=1e-4)
    p = softmax(found.link.sharpness * found.left_out, axis=1)[np.arange(20), INDEX[points]]
    assert found.loss == pytest.approx(-np.log(p).mean())


def test_directions_without_classes_are_left_out_and_ambiguous_rows_are_anchors():
    rng, y = np.random.default_rng(1), np.repeat([0, 1], 600)
    X = rng.normal(size=(1200, 40)) * np.r_[2, 2, np.full(38, 0.2)]
    X[:, 0] += 8 * y
    X[[600, 1100], 0] = 4  # half way
    kernel, found = regress_on_anchors(X.__getitem__, Classes.of(y), 4.0, 60, np.arange(0, 1200, 3), rng)
    assert kernel.directions.shape[1] < 30
    assert (kernel.directions[:2] ** 2).sum() > 1.98  # the first two features are kept
    assert len(kernel.anchors) == 60
    away = np.abs(kernel.anchors - (X[[600, 1100]] @ kernel.directions)[:, None]).max(axis=-1).min(axis=1)
    np.testing.assert_allclose(away, 0, atol=1e-9)
    middle = np.abs(kernel.anchors @ kernel.directions[0] - 4) < 2
    assert middle.mean() > 2 * (np.abs(X[:, 0] - 4) < 2).mean()
    assert (found.left_out.argmax(axis=1) == y[::3]).mean() > 0.95


def test_the_number_of_anchors_grows_with_the_root_of_the_rows():
    found = [anchors_for(n) for n in (300, 2000, 2001, 8000, 32_000, 10**6)]
    assert found == [300, 2000, 2000, 4000, 8000, 44_721]


@pytest.mark.parametrize(("n_anchors", "expected"), [(30, 30), (60, 60), (8000, 60)])
def test_no_more_anchors_than_the_setting_and_the_rows(n_anchors, expected):
    X, y = load_digits(return_X_y=True)
    piece = Posterior(n_anchors=n_anchors)
    state = piece.fit(X[:60], y[:60], None, np.arange(60), np.random.default_rng(0)).state
    assert len(state["anchors"]) == expected


@pytest.mark.slow
def test_more_rows_than_anchors_give_vectors_as_unsure_as_those_of_new_rows():
    X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
    piece = Posterior(n_anchors=400)
    found = piece.fit(X[:1200], y[:1200], None, np.arange(1200), np.random.default_rng(0))
    assert found.state["directions"].shape[1] == found.state["anchors"].shape[1] < 64
    new = piece.embed(X[1200:], found.state)
    right = [(Z.argmax(axis=1) == labels).mean() for Z, labels in ((found.vectors, y[:1200]), (new, y[1200:]))]
    sure = [piece.at_temperature(Z, 2.0, {}).max(axis=1).mean() for Z in (found.vectors, new)]
    assert min(right) > 0.95
    assert abs(right[0] - right[1]) < 0.02
    assert abs(sure[0] - sure[1]) < 0.02


def test_a_few_rows_among_copies_of_one_are_told_apart():
    X, y = np.zeros((4000, 4)), np.zeros(4000, int)
    X[:2], y[:2] = 1, 1
    same = 0
    for seed in range(4):
        sampled = np.random.default_rng(seed).permutation(4000)[: _regression.MAX_TRIAL_ROWS]
        same += sampled.min() > 1
        found = Posterior(n_anchors=20).fit(X, y, None, np.arange(100), np.random.default_rng(seed))
        assert np.isfinite(found.vectors).all()
        P = Posterior().embed(X[[0, -1]], found.state)
        assert P[0, 1] > P[1, 1]
    assert same > 0


def test_a_state_from_a_file_is_as_declared():
    X, y = load_digits(return_X_y=True)
    piece = Posterior(n_anchors=20)
    state = piece.fit(X[:60], y[:60], None, np.arange(60), np.random.default_rng(0)).state
    np.testing.assert_array_equal(piece.check_state(state, X[:1]), piece.embed(X[:1], state))
    for bad in (state["directions"][:, 1:], state["directions"].astype(int), state["directions"] * np.nan):
        with pytest.raises(ValueError, match=r"directions|matmul"):
            piece.check_state(state | {"directions": bad}, X[:1])
    for missing in (state["directions"][:, :0], state["directions"][1:]):
        with pytest.raises(ValueError, match="matmul"):
            piece.check_state(state | {"directions": missing}, X[:1])


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
    with pytest.raises(ValueError, match="the embedding 'posterior' learns from labels; give labels"):
        Posterior().fit(ROWS, None, None, np.arange(40), RNG)
