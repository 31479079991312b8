"""FSDH: its steps against enumeration and scikit-learn, its result against the paper's formulas."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from structhash.baselines import FSDH, ITQ, SDH


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:900], y[400:900]


@pytest.fixture
def parts():
    """Small B, Y, F, W to step from."""
    rng = np.random.default_rng(5)
    Y = np.eye(4)[rng.integers(0, 4, 30)]
    return np.where(rng.random((30, 6)) < 0.5, 1.0, -1.0), Y, rng.normal(size=(30, 6)), rng.normal(size=(4, 6))


@pytest.mark.parametrize("nu", [1e-5, 0.5, 10])
def test_codes_are_the_best(parts, nu):
    B, Y, F, W = parts
    every = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    best = [every[(((every - y @ W) ** 2) + nu * (every - f) ** 2).sum(axis=1).argmin()] for y, f in zip(Y, F)]
    np.testing.assert_array_equal(FSDH(nu=nu)._step(B, Y, F, W), best)


@pytest.mark.parametrize("several", [False, True])
def test_labels_step_is_ridge(parts, several):
    B, Y, *_ = parts
    if several:
        Y = (np.random.default_rng(6).random(Y.shape) < 0.4).astype(float)
        assert set(Y.sum(axis=1)) >= {0, 1, 2, 3}
    W, loss = FSDH(ridge=0.3)._regress(B, Y)
    other = Ridge(alpha=0.3, fit_intercept=False).fit(Y, B).coef_.T
    np.testing.assert_allclose(W, other, atol=1e-12)
    assert loss == pytest.approx(np.linalg.norm(B - Y @ other) ** 2 + 0.3 * np.linalg.norm(other) ** 2)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("nu", [1e-5, 0.3])
def test_loss_never_rises(digits, nu, several):
    X, y = digits[:2]
    if several:
        y = np.column_stack([y % 2 == 0, y > 4, y % 3 == 0])
    losses = FSDH(n_bits=16, nu=nu, max_iter=10, random_state=1).fit(X, y).losses_
    assert len(losses) > 2
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()


def test_random_codewords(digits):
    """With the default nu the targets are one codeword a class: the majority of the random start."""
    X, y = digits[:2]
    keep = np.concatenate([np.flatnonzero(y == c)[:35] for c in range(10)])  # odd, so that there is a majority
    X, y = X[keep], y[keep]
    rng = np.random.default_rng(2)
    rng.choice(len(X), len(X), replace=False)
    B = np.where(rng.random((len(X), 12)) < 0.5, 1.0, -1.0)
    words = np.array([np.where(B[y == c].sum(axis=0) > 0, 1.0, -1.0) for c in range(10)])
    encoder = FSDH(n_bits=12, random_state=2).fit(X, y)
    assert len(encoder.losses_) == 2  # the second round changes nothing
    Z = X / np.linalg.norm(X, axis=1, keepdims=True)
    kernel = encoder.kernel_
    anchors = kernel["anchors"] + kernel["center"]
    K = np.exp(-((Z[:, None] - anchors[None]) ** 2).sum(axis=2) / (2 * 0.4**2))
    other = Ridge(alpha=1e-2, fit_intercept=False).fit(np.hstack([K, np.ones((len(K), 1))]), words[y]).coef_
    np.testing.assert_allclose(encoder.coef_, other[:, :-1], atol=1e-5)
    np.testing.assert_allclose(encoder.intercept_, other[:, -1], atol=1e-5)
    assert np.mean(encoder.transform(X) == (words[y] > 0)) > 0.98


def test_retrieval(digits):
    X, y, other, y_other = digits
    scores = {
        method: method(n_bits=32, random_state=0).fit(X, y).score(other, y_other) for method in (FSDH, SDH, ITQ)
    }
    assert scores[FSDH] > 0.85
    assert abs(scores[FSDH] - scores[SDH]) < 0.05
    assert scores[FSDH] > scores[ITQ] + 0.2


def test_seeds(digits):
    X, y, other, _ = digits
    same = [FSDH(n_bits=8, random_state=seed).fit(X, y).transform(other) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(same[0], same[1])
    assert (same[0] != same[2]).any()


def test_settings(digits):
    with pytest.raises(ValueError, match="nu=0: give a finite number above 0"):
        FSDH(nu=0).fit(*digits[:2])
