"""STH: the graph by loops, the eigenmap against a dense solver, the SVM by its optimality conditions."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_digits

from structhash._numerics.blocks import normalize_rows
from structhash.baselines import ITQ, LSH, STH
from structhash.baselines.sth import _LONE_DEGREE, _eigenmap, _halves, _label_graph


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def loop_graph(X, y, k):
    n = len(X)
    W = np.zeros((n, n))
    for i in range(n):
        same = [j for j in range(n) if j != i and y[j] == y[i]]
        cosine = {j: X[i] @ X[j] / np.linalg.norm(X[i]) / np.linalg.norm(X[j]) for j in same}
        for j in sorted(same, key=lambda j: -cosine[j])[:k]:
            W[i, j] = W[j, i] = cosine[j]
    return W


@pytest.mark.parametrize("k", [3, 100])
def test_graph(digits, k):
    X, y = digits[0][:80], digits[1][:80]
    W = _label_graph(normalize_rows(X), y, k).toarray()
    np.testing.assert_allclose(W, loop_graph(X, y, k), atol=1e-12)


@pytest.mark.parametrize("k", [2, 100])
def test_eigenmap(digits, k):
    X, y = digits[0][:90], digits[1][:90]
    W = _label_graph(normalize_rows(X), y, k)
    D = np.diag(W.sum(axis=1))
    values, Y = _eigenmap(W, 30, np.random.default_rng(0))
    expected = eigh(D - W.toarray(), D, eigvals_only=True)[1:31]
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose((D - W.toarray()) @ Y, D @ Y * values, atol=1e-10)
    np.testing.assert_allclose(Y.T @ D @ Y, np.eye(30), atol=1e-10)
    np.testing.assert_allclose(Y.T @ D @ np.ones(90), 0, atol=1e-10)


def test_lonely_rows():
    W = _label_graph(np.eye(4), np.array([0, 0, 1, 2]), 5)
    values, Y = _eigenmap(W, 9, np.random.default_rng(0))
    assert Y.shape == (4, 3)
    assert np.isfinite(Y).all()
    D = np.diag([W[0, 1], W[0, 1], _LONE_DEGREE, _LONE_DEGREE])
    np.testing.assert_allclose(Y.T @ D @ Y, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(values, [0, 0, 2], atol=1e-10)


def test_medians():
    Y = np.array([[0.0, 1, 1], [1, 1, 0], [2, 1, 0], [3, 0, 0]])
    bits = [[False, True, True], [False, True, False], [True, True, False], [True, False, False]]
    np.testing.assert_array_equal(_halves(Y), bits)


def test_svm_is_optimal(digits):
    X, y = digits[0][:300], digits[1][:300]
    encoder = STH(9, C=0.7, random_state=0).fit(X, y)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    _, Y = _eigenmap(_label_graph(U, y, 25), 9, np.random.default_rng(0))
    for w, bits in zip(encoder.planes_, _halves(Y).T):
        side = np.where(bits, 1, -1)
        short = np.maximum(0, 1 - side * (U @ w))
        gradient = w - 2 * 0.7 * U.T @ (side * short)
        assert np.linalg.norm(gradient) < 0.02 * np.linalg.norm(2 * 0.7 * U.T @ side)
        assert np.mean((U @ w > 0) == bits) > 0.9


def test_first_bits_tell_classes_apart(digits):
    X, y = digits
    encoder = STH(9, random_state=0).fit(X[:600], y[:600])
    np.testing.assert_allclose(encoder.eigenvalues_, 0, atol=1e-12)
    score = encoder.score(X[600:], y[600:])
    assert score > 0.1 + ITQ(9, random_state=0).fit(X[:600]).score(X[600:], y[600:])
    assert score > 0.1 + LSH(9, random_state=0).fit(X[:600]).score(X[600:], y[600:])
    assert STH(48, random_state=0).fit(X[:600], y[:600]).score(X[600:], y[600:]) > score - 0.03


def test_length_of_rows_does_not_matter(digits):
    X, y = digits
    encoder = STH(12, random_state=0).fit(X[:300], y[:300])
    lengths = 2.0 ** np.random.default_rng(0).integers(-5, 5, len(X))[:, None]
    np.testing.assert_array_equal(encoder.transform(X * lengths), encoder.transform(X))
    again = STH(12, random_state=0).fit((X * lengths)[:300], y[:300])
    np.testing.assert_allclose(again.planes_, encoder.planes_, atol=1e-10)


def test_more_bits_than_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 3))
    encoder = STH(12, random_state=0).fit(X, np.arange(6) % 2)
    np.testing.assert_array_equal(encoder.planes_[5:10], encoder.planes_[:5])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0: give an integer of at least 1"),
        ({"C": 0}, "C=0: give a finite number above 0"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        STH(**settings).fit(*digits)
