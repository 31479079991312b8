"""Label probabilities: the closed forms against fits without the row, the calibration, the limits."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from structhash.embeddings import _kernel_logits, _regression
from structhash.embeddings._kernel_logits import MAX_LEFT_OUT
from structhash.embeddings._many_rows import Kernel, fit_ridge
from structhash.embeddings._outcomes import LabelSets
from structhash.embeddings._regression import regress
from structhash.embeddings.multilabel import Multilabel

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 3))
LABELS = np.column_stack([ROWS[:, 0] > 0, ROWS[:, 1] > 0.5, ROWS[:, 0] + ROWS[:, 2] > 1.5])
OUTCOMES = LabelSets.of(LABELS)
SIGMA, RIDGE = 0.8, 0.1
DIGITS, Y = shuffle(*load_digits(return_X_y=True), random_state=0)
SETS = np.column_stack([Y % 2 == 0, Y % 3 == 0, Y > 6, Y == 1])  # 5 has none


def fit(X, labels, seed=0, unlabeled=None, points=None, **settings):
    points = np.arange(len(X)) if points is None else points
    return Multilabel(**settings).fit(X, labels, unlabeled, points, np.random.default_rng(seed))


def kernel(A, B):
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=-1) / (2 * SIGMA**2))


def scores_without(row, anchors):
    """Scores of a row by a regression that is fitted without it, around the shares of all rows."""
    shares = (LABELS.sum(axis=0) + 0.5) / 41
    rest = np.delete(np.arange(40), row)
    K, A = kernel(ROWS[rest], anchors), kernel(anchors, anchors)
    coef = np.linalg.solve(K.T @ K + RIDGE * A, K.T @ (LABELS[rest] - shares))
    return kernel(ROWS[[row]], anchors)[0] @ coef + shares


@pytest.mark.parametrize("n_anchors", [40, 12])
def test_left_out_scores_are_those_of_fits_without_the_row(n_anchors, monkeypatch):
    monkeypatch.setattr(_regression, "RIDGES", (RIDGE,))
    monkeypatch.setattr(_regression, "MIN_KERNEL_EIGENVALUE", 0.0)
    points, anchors = np.arange(5, 25), ROWS[:n_anchors]
    if n_anchors == 40:
        found = regress(ROWS, OUTCOMES, SIGMA, points)
    else:
        few = Kernel(np.eye(3), anchors, SIGMA)
        found = fit_ridge(ROWS.__getitem__, few, OUTCOMES, points, [RIDGE])
    np.testing.assert_allclose(found.left_out, [scores_without(i, anchors) for i in points], atol=1e-6)
    loss, link = OUTCOMES.part(points).calibrate(found.left_out)
    assert found.loss == pytest.approx(loss)
    np.testing.assert_allclose(found.link.offset, link.offset, rtol=1e-6)


@pytest.mark.parametrize("n_anchors", [40, 12])
def test_vectors_are_the_probabilities_of_these_scores(n_anchors, monkeypatch):
    """Through `fit`: the kernel is fixed. The test computes everything else itself."""
    monkeypatch.setattr(_regression, "RIDGES", (RIDGE,))
    monkeypatch.setattr("structhash.embeddings._many_rows.RIDGE_FACTORS", (1.0,))
    monkeypatch.setattr("structhash.embeddings._many_rows.RIDGES", (RIDGE,))
    monkeypatch.setattr(_regression, "MIN_KERNEL_EIGENVALUE", 0.0)
    state, vectors, _ = fit(ROWS, LABELS, n_anchors=n_anchors)
    units, sigma = state["units"], float(state["bandwidth"])
    parts = []
    if units[0]:
        parts.append(ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True) / units[0])
    if units[1]:
        parts.append((ROWS - state["center"]) / units[1])
    rows = np.hstack(parts)
    if state["directions"].size:
        rows = rows @ state["directions"]
    anchors = state["anchors"]

    def similar(A, B):
        return np.exp(-((A[:, None] - B) ** 2).sum(axis=-1) / (2 * sigma**2))

    K, A, shares = similar(rows, anchors), similar(anchors, anchors), (LABELS.sum(axis=0) + 0.5) / 41

    def fitted(kept):
        return np.linalg.lstsq(K[kept].T @ K[kept] + RIDGE * A, K[kept].T @ (LABELS[kept] - shares))[0]

    scores = np.array([K[i] @ fitted(np.delete(np.arange(40), i)) + shares for i in range(40)])
    _, link = OUTCOMES.calibrate(scores)
    np.testing.assert_allclose(vectors, expit(link.sharpness * scores + link.offset), atol=1e-4)
    new = K @ fitted(np.arange(40)) + shares
    found = Multilabel().embed(ROWS, state)
    np.testing.assert_allclose(found, expit(link.sharpness * new + link.offset), atol=1e-4)


def test_targets_are_the_expected_numbers_of_common_labels():
    P = RNG.random((6, 4))
    partners = np.array([[1, 2, 3], [0, 4, 5]])
    counts = np.array([1.0, 2.0, 3.0])
    expected = np.zeros((2, 3))
    for i, query in enumerate([3, 1]):
        for j in range(3):
            for label in range(4):
                expected[i, j] += counts[j] * P[query, label] * P[partners[i, j], label]
    found = Multilabel().targets(P, np.array([3, 1]), partners, counts, {})
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)


def test_a_row_that_surely_has_no_label_has_targets_too():
    P = np.vstack([np.zeros((1, 3)), RNG.random((3, 3))])
    found = Multilabel().targets(P, np.array([0]), np.array([[1, 2, 3]]), np.ones(3), {})
    np.testing.assert_allclose(found, 1 / 3)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_probabilities_of_new_rows_are_right_and_calibrated(dtype):
    X = DIGITS.astype(dtype)
    state, vectors, left_out = fit(X[:600], SETS[:600])
    new = Multilabel().embed(X[600:], state)
    assert left_out is None
    assert vectors.dtype == new.dtype == dtype
    assert {array.dtype for array in state.values()} == {np.dtype(dtype)}
    for P, labels in ((vectors, SETS[:600]), (new, SETS[600:])):
        assert ((P > 0.5) == labels).mean() > 0.95
        np.testing.assert_allclose(P.mean(axis=0), labels.mean(axis=0), atol=0.03)
        bins = np.digitize(P, [0.1, 0.5, 0.9])
        for each in range(4):  # of rows that are given a probability, that share has the label
            assert P[bins == each].mean() == pytest.approx(labels[bins == each].mean(), abs=0.12)


def test_left_out_rows_are_as_unsure_as_new_rows():
    state, vectors, _ = fit(DIGITS[:300], SETS[:300])
    seen, new = (Multilabel().embed(part, state) for part in (DIGITS[:300], DIGITS[300:]))
    sure = [np.abs(P - 0.5).mean() for P in (vectors, new, seen)]
    assert abs(sure[0] - sure[1]) < 0.01 < sure[2] - sure[1]


@pytest.mark.slow
def test_more_rows_than_are_all_anchors():
    X = np.random.default_rng(1).normal(size=(2600, 4))
    labels = np.column_stack([X[:, 0] > 0, X[:, 1] > 1, X[:, 0] + X[:, 2] > 1, X[:, 3] > 2])
    state, vectors, _ = fit(X[:2200], labels[:2200], n_anchors=100)
    assert len(state["anchors"]) == 100
    assert state["directions"].size
    new = Multilabel().embed(X[2200:], state)
    right = [((P > 0.5) == known).mean() for P, known in ((vectors, labels[:2200]), (new, labels[2200:]))]
    assert min(right) > 0.95
    assert abs(right[0] - right[1]) < 0.01
    np.testing.assert_allclose(vectors.mean(axis=0), labels[:2200].mean(axis=0), atol=0.02)


def test_without_a_setting_the_rows_beyond_2000_are_not_all_anchors(monkeypatch):
    monkeypatch.setattr(_kernel_logits, "ALL_ANCHORS", 100)
    state, vectors, _ = fit(DIGITS[:400], SETS[:400])
    assert len(state["anchors"]) == 200  # sqrt(100 * 400)
    assert ((vectors > 0.5) == SETS[:400]).mean() > 0.93


def test_points_of_unlabeled_rows_are_embedded_like_new_rows(monkeypatch):
    points = np.arange(0, 400, 2)
    state, vectors, _ = fit(DIGITS[:300], SETS[:300], unlabeled=DIGITS[300:], points=points)
    np.testing.assert_array_equal(vectors, Multilabel().embed(DIGITS[300:][points], state))
    assert ((vectors > 0.5) == SETS[300:][points]).mean() > 0.9
    assert MAX_LEFT_OUT >= 300
    monkeypatch.setattr(_kernel_logits, "MAX_LEFT_OUT", 200)
    other, _, _ = fit(DIGITS[:300], SETS[:300], unlabeled=DIGITS[300:], points=points)
    np.testing.assert_allclose(other["anchors"], state["anchors"])
    assert ((Multilabel().embed(DIGITS[300:], other) > 0.5) == SETS[300:]).mean() > 0.9


@pytest.mark.slow
def test_classes_given_as_numbers_are_labels_of_which_each_row_has_one():
    of_numbers, of_sets = fit(DIGITS[:300], Y[:300]), fit(DIGITS[:300], Y[:300, None] == np.arange(10))
    np.testing.assert_array_equal(of_numbers.vectors, of_sets.vectors)
    P = Multilabel().embed(DIGITS[300:], of_numbers.state)
    assert (P.argmax(axis=1) == Y[300:]).mean() > 0.9
    assert P.sum(axis=1).mean() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    "labels",
    [
        np.column_stack([SETS[:60], np.ones(60, bool), np.zeros(60, bool)]),
        SETS[:60, :1],
        np.eye(60, dtype=bool)[:, :3] | (np.arange(60) < 2)[:, None],
        np.column_stack([SETS[:60]] * 40),
    ],
    ids=["labels of all and of none", "one label", "rare labels", "copies"],
)
@pytest.mark.filterwarnings("error")
def test_odd_label_sets_give_probabilities(labels):
    state, vectors, _ = fit(DIGITS[:60], labels)
    new = Multilabel().embed(DIGITS[60:200], state)
    for P in (vectors, new):
        assert P.shape[1] == labels.shape[1]
        assert ((P >= 0) & (P <= 1)).all()
    np.testing.assert_allclose(new.mean(axis=0), labels.mean(axis=0), atol=0.15)


def test_two_rows_are_enough():
    _, vectors, _ = fit(DIGITS[:2], np.array([[True, True], [True, False]]))
    assert np.isfinite(vectors).all()


def noise(seed):
    """Rows, and labels that they say nothing of."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 4)), rng.random((60, 3)) < 0.3


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_noise_are_not_given_the_opposite_of_their_labels(seed):
    X, labels = noise(seed)
    P = Multilabel().embed(X, fit(X, labels).state)
    assert P[labels].mean() > P[~labels].mean()


def test_a_state_from_a_file_is_as_declared():
    piece = Multilabel()
    state = fit(DIGITS[:60], SETS[:60], n_anchors=20).state
    np.testing.assert_array_equal(piece.check_state(state, DIGITS[:1]), piece.embed(DIGITS[:1], state))
    for name in state:
        with pytest.raises(ValueError, match=name):
            piece.check_state({key: array for key, array in state.items() if key != name}, DIGITS[:1])
        with pytest.raises(ValueError, match=name):
            piece.check_state(state | {name: state[name] * np.nan}, DIGITS[:1])
    with pytest.raises(ValueError, match="with n_classes="):
        piece.check_state(state | {"coef": state["coef"][:, 1:]}, DIGITS[:1])


@pytest.mark.parametrize("value", [1, 0, 2.5, True, "many"])
def test_a_bad_number_of_anchors_is_refused(value):
    with pytest.raises(ValueError, match=r"n_anchors=.*: give an integer of at least 2"):
        Multilabel(n_anchors=value)


def test_labels_are_needed():
    with pytest.raises(ValueError, match="the embedding 'multilabel' learns from labels; give labels"):
        fit(ROWS, None)
