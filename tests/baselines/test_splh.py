"""SPLH against dense matrices, and its supervision against none."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import LSH, PCAH, SPLH
from structhash.baselines._label_pairs import draw_pairs
from structhash.baselines.splh import _ROW_NORM


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def dense_splh(X, S, n_bits, eta, alpha):
    """All n x n matrices, and the residual of the rows themselves."""
    Z = X - X.mean(axis=0)
    Z = Z * _ROW_NORM / np.sqrt(np.mean((Z**2).sum(axis=1)))
    R, S, planes = Z.copy(), S.astype(float), []
    for _ in range(n_bits):
        M = R.T @ R / len(Z) + eta * Z.T @ S @ Z / len(Z)
        values, vectors = np.linalg.eigh(M)
        w = vectors[:, np.argmax(values)]
        D = Z @ np.outer(w, w) @ Z.T
        for i in range(len(Z)):
            for j in range(len(Z)):
                if S[i, j] * D[i, j] < 0:
                    S[i, j] -= alpha * D[i, j]
        R = R - np.outer(R @ w, w)
        planes.append(w)
    return np.array(planes)


@pytest.mark.parametrize(("eta", "alpha"), [(0.2, 1.0), (0.01, 0.3)])
def test_planes_against_dense(digits, eta, alpha):
    X, y = digits[0][:90], digits[1][:90]
    encoder = SPLH(6, eta=eta, alpha=alpha, n_similar=90, n_dissimilar=90).fit(X, y)
    S = np.where(y[:, None] == y, 1, -1) * (1 - np.eye(90))
    planes = dense_splh(X, S, 6, eta, alpha)
    np.testing.assert_allclose(np.abs((encoder.planes_ * planes).sum(axis=1)), 1, atol=1e-6)
    assert (encoder.planes_.max(axis=1) >= -encoder.planes_.min(axis=1)).all()


def test_without_pairs_they_are_principal_components(digits):
    X, y = digits
    encoder = SPLH(5, eta=1e-12).fit(X, y)
    expected = np.linalg.eigh(np.cov(X.T))[1][:, ::-1][:, :5].T
    np.testing.assert_allclose(np.abs((encoder.planes_ * expected).sum(axis=1)), 1, atol=1e-6)


def test_scale_and_prefix(digits):
    X, y = digits
    long, short = (SPLH(m, random_state=1).fit(X[:400], y[:400]) for m in (12, 8))
    np.testing.assert_array_equal(long.encode(X, n_bits=8), short.encode(X))
    for factor in (2.0**-600, 2.0**600):
        again = SPLH(12, random_state=1).fit(X[:400] * factor, y[:400])
        np.testing.assert_array_equal(again.transform(X * factor), long.transform(X))


def test_pairs_from_labels():
    index = np.repeat([0, 1, 2], [2, 30, 40])
    pairs = draw_pairs(index, 5, 7, np.random.default_rng(0))
    assert (pairs.first < pairs.second).all()
    assert len(set(zip(pairs.first, pairs.second))) == len(pairs.first)
    np.testing.assert_array_equal(pairs.similar, index[pairs.first] == index[pairs.second])
    ends = np.concatenate([pairs.first, pairs.second])
    both = np.concatenate([pairs.similar, pairs.similar])
    similar, dissimilar = (np.bincount(ends[mask], minlength=72) for mask in (both, ~both))
    assert similar[:2].tolist() == [1, 1]
    assert similar[2:].min() >= 5
    assert dissimilar.min() >= 7
    assert pairs.similar.sum() <= 5 * 70 + 1
    everything = draw_pairs(index, 100, 100, np.random.default_rng(0))
    assert len(everything.first) == 72 * 71 // 2


def test_labels_help(digits):
    X, y = digits
    supervised = SPLH(16, random_state=0).fit(X[:600], y[:600]).score(X[600:], y[600:])
    assert supervised > 0.03 + LSH(16, random_state=0).fit(X[:600]).score(X[600:], y[600:])
    assert supervised > 0.03 + PCAH(16).fit(X[:600]).score(X[600:], y[600:])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eta": 0}, "eta=0: give a finite number above 0"),
        ({"alpha": -1}, "alpha=-1: give a finite number above 0"),
        ({"n_similar": 0}, "n_similar=0: give an integer of at least 1"),
        ({"n_dissimilar": 1.5}, "n_dissimilar=1.5: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        SPLH(**settings).fit(*digits)
