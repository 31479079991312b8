"""SDH against loops written from the formulas, enumeration and scikit-learn's ridge regression."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import normalize_rows
from structhash.baselines import ITQ, LSH, SDH
from structhash.baselines._discrete import ridge_with_bias
from structhash.baselines.sdh import _descend
from structhash.codes import hamming
from structhash.metrics import average_precision, tie_blocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:], y[400:]


def similarities(X, anchors, sigma):
    return np.array([[np.exp(-((x - a) ** 2).sum() / (2 * sigma**2)) for a in anchors] for x in X])


def plain(X, y, n_bits, seed, ridge=1.0, nu=1e-5, kernel_ridge=1e-2, sigma=0.4, max_iter=5):
    """The method by dense routines, a row and a bit at a time; the last features, P and losses."""
    rng = np.random.default_rng(seed)
    Z = np.array([x / np.sqrt((x**2).sum()) for x in X])
    anchors = Z[rng.choice(len(Z), len(Z), replace=False)]
    B = np.where(rng.random((len(Z), n_bits)) < 0.5, 1.0, -1.0)
    Y = y if y.ndim == 2 else (y[:, None] == np.unique(y)).astype(float)
    phi = np.hstack([similarities(Z, anchors, sigma), np.ones((len(Z), 1))])

    def regress(A, T, weight):
        return np.linalg.inv(A.T @ A + weight * np.eye(A.shape[1])) @ A.T @ T

    losses = []
    for round in range(max_iter + 1):
        W, P = regress(B, Y, ridge), regress(phi, B, kernel_ridge)
        fit = np.linalg.norm(B - phi @ P) ** 2 + kernel_ridge * np.linalg.norm(P) ** 2
        losses.append(np.linalg.norm(Y - B @ W) ** 2 + ridge * np.linalg.norm(W) ** 2 + nu * fit)
        if round == max_iter:
            break
        before = B.copy()
        for _ in range(10):
            for k in range(n_bits):
                for i in range(len(B)):
                    costs = []
                    for sign in (-1, 1):
                        b = B[i].copy()
                        b[k] = sign
                        costs.append(((Y[i] - b @ W) ** 2).sum() + nu * ((b - phi[i] @ P) ** 2).sum())
                    B[i, k] = 1 if costs[1] < costs[0] else -1
        if (before == B).all():
            break
    return anchors, P, np.array(losses)


def test_against_loops(digits):
    X, y, other, _ = digits
    X, y, other = X[:40], y[:40], other[:30]
    encoder = SDH(n_bits=5, random_state=7).fit(X, y)
    anchors, P, losses = plain(X, y, 5, 7)
    np.testing.assert_allclose(encoder.losses_, losses, rtol=1e-9)
    np.testing.assert_allclose(encoder.coef_, P[:-1].T, atol=1e-8)
    phi = similarities(other / np.linalg.norm(other, axis=1, keepdims=True), anchors, 0.4)
    np.testing.assert_array_equal(encoder.transform(other), phi @ P[:-1] + P[-1] > 0)


def several_labels(y):
    """Indicators of what digits are: even, above 4, a prime; 1 is nothing of this."""
    return np.column_stack([y % 2 == 0, y > 4, np.isin(y, [2, 3, 5, 7])]).astype(float)


def test_several_labels_against_loops(digits):
    X, y = digits[0][:40], digits[1][:40]
    Y = several_labels(y)
    assert set(Y.sum(axis=1)) == {0, 1, 2}
    encoder = SDH(n_bits=5, random_state=7).fit(X, Y)
    _, P, losses = plain(X, Y, 5, 7)
    np.testing.assert_allclose(encoder.losses_, losses, rtol=1e-9)
    np.testing.assert_allclose(encoder.coef_, P[:-1].T, atol=1e-8)


def test_labels_step_is_ridge():
    rng = np.random.default_rng(0)
    B, Y = np.where(rng.random((30, 6)) < 0.5, 1.0, -1.0), (rng.random((30, 4)) < 0.4).astype(float)
    W, loss = SDH(ridge=0.3)._regress(B, Y)
    other = Ridge(alpha=0.3, fit_intercept=False).fit(B, Y).coef_.T
    np.testing.assert_allclose(W, other, atol=1e-12)
    assert loss == pytest.approx(np.linalg.norm(Y - B @ other) ** 2 + 0.3 * np.linalg.norm(other) ** 2)


@pytest.mark.parametrize("nu", [1e-5, 0.3])
def test_loss_never_rises(digits, nu):
    losses = SDH(n_bits=16, nu=nu, max_iter=15, random_state=1).fit(*digits[:2]).losses_
    assert losses[-1] < 0.95 * losses[0]
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()


def test_descent_against_enumeration():
    rng = np.random.default_rng(3)
    B, Q, W = np.where(rng.random((50, 6)) < 0.5, 1.0, -1.0), rng.normal(size=(50, 6)), rng.normal(size=(6, 3))
    A = W @ W.T

    def loss(b, q):
        return b @ A @ b - 2 * b @ q

    start = B.copy()
    found = _descend(B, Q, A)
    every = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    best = 0
    for before, after, q in zip(start, found, Q, strict=True):
        reached = loss(after, q)
        assert reached <= loss(before, q) + 1e-12
        flips = after * (1 - 2 * np.eye(6))
        assert all(loss(flipped, q) >= reached - 1e-12 for flipped in flips)  # one bit's change never helps
        best += reached <= min(loss(b, q) for b in every) + 1e-12
    assert best > 20  # of 50: chance would be 1


def test_regression_is_ridge():
    rng = np.random.default_rng(0)
    K, B = rng.random((30, 12)), rng.normal(size=(30, 4))
    P, p = ridge_with_bias(K, 0.7)(B)
    other = Ridge(alpha=0.7, fit_intercept=False).fit(np.hstack([K, np.ones((30, 1))]), B)
    np.testing.assert_allclose(np.vstack([P, p]), other.coef_.T, atol=1e-10)


def test_unit_rows():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [3e300, 4e300], [-3e-310, 4e-310]])
    np.testing.assert_allclose(normalize_rows(X), [[0.6, 0.8], [0, 0], [0.6, 0.8], [-0.6, 0.8]])


def test_row_length_does_not_matter(digits):
    X, y, other, _ = digits
    encoder = SDH(n_bits=16, random_state=0).fit(X, y)
    again = SDH(n_bits=16, random_state=0).fit(X * 2.0 ** (np.arange(len(X)) % 5)[:, None], y)
    np.testing.assert_array_equal(again.transform(other * 8), encoder.transform(other))


def test_rows_far_away_are_seen_from_their_mean(digits):
    X, y, other, y_other = digits
    encoder = SDH(n_bits=16, random_state=0).fit(X + 1e7, y)
    np.testing.assert_allclose(encoder.kernel_["origin"], X.mean(axis=0) + 1e7)
    assert encoder.score(other + 1e7, y_other) > 0.7
    assert not SDH(n_bits=16, random_state=0).fit(X, y).kernel_["origin"].any()


def precision(encoder, digits):
    X, y, other, y_other = digits
    encoder.fit(X, y)
    blocks = tie_blocks(hamming(encoder.encode(other), encoder.encode(X)), y_other[:, None] == y)
    return average_precision(blocks).mean()


def test_retrieval(digits):
    ours = precision(SDH(n_bits=32, random_state=0), digits)
    assert ours > 0.85
    assert ours > precision(ITQ(n_bits=32, random_state=0), digits) + 0.2
    assert ours > precision(LSH(n_bits=32, random_state=0), digits) + 0.3


def test_anchors(digits):
    X, y, *_ = digits
    assert SDH(n_bits=4, n_anchors=30, random_state=0).fit(X, y).coef_.shape == (4, 30)
    encoder = SDH(n_bits=4, random_state=0).fit(X[:25], y[:25])
    anchors = encoder.kernel_["anchors"] + encoder.kernel_["center"]
    rows = X[:25] / np.linalg.norm(X[:25], axis=1, keepdims=True)
    apart = ((anchors[:, None] - rows[None]) ** 2).sum(axis=2)
    assert sorted(apart.argmin(axis=1)) == list(range(25))
    assert apart.min(axis=1).max() < 1e-20


def test_threads(digits):
    fits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fits.append(SDH(n_bits=8, random_state=0).fit(*digits[:2]).coef_)
    np.testing.assert_array_equal(*fits)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_anchors": 0}, "n_anchors=0: give an integer of at least 1"),
        ({"max_iter": 1.5}, "max_iter=1.5: give an integer of at least 1"),
        ({"bandwidth": 1e300}, "bandwidth=1e[+]300: give a number above 1e-152 and at most"),
        ({"bandwidth": 0}, "bandwidth=0: give a number above 1e-152 and at most"),
        ({"ridge": -1}, "ridge=-1: give a finite number above 0"),
        ({"nu": np.inf}, "nu=inf: give a finite number above 0"),
        ({"kernel_ridge": "1"}, "kernel_ridge='1': give a finite number above 0"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        SDH(**settings).fit(*digits[:2])
