"""KSH against a dense implementation of the paper's formulas, finite differences and its own objective."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_digits

from structhash.baselines import ITQ, KSH
from structhash.baselines._greedy_bits import Residual, ascend, learn_bits


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y


@pytest.fixture(scope="module")
def small(digits):
    """Centred features of 60 rows and 12 anchors, written out, and S."""
    X, y = digits[0][:60], digits[1][:60]
    distances = ((X[:, None] - X[None, :12]) ** 2).sum(axis=2)
    K = np.exp(-distances / (2 * distances.mean()))
    return K - K.mean(axis=0), y, np.where(y[:, None] == y[None], 1.0, -1.0)


def sign(scores):
    return np.where(scores > 0, 1.0, -1.0)


def test_first_bit_is_the_top_eigenvector(small):
    K, y, S = small
    A, history, _ = learn_bits(K, y, 10, n_bits=1, max_iter=1)
    _, vectors = eigh(K.T @ S @ K, K.T @ K)
    spectral = sign(K @ vectors[:, -1])
    got = sign(K @ A[0])
    assert got @ S @ got >= spectral @ S @ spectral
    if not history[0]["refined"]:
        assert abs(got @ spectral) == 60
        assert np.sum((K @ A[0]) ** 2) == pytest.approx(60)


def test_bits_and_losses_against_dense_residuals(small):
    """Each bit is at least as good as the spectral one of the dense residual, and losses are as recorded."""
    K, y, S = small
    n_bits = 6
    A, history, _ = learn_bits(K, y, 10, n_bits=n_bits, max_iter=200)
    R, Y = n_bits * S, []
    for a, record in zip(A, history, strict=True):
        _, vectors = eigh(K.T @ R @ K, K.T @ K)
        spectral, got = sign(K @ vectors[:, -1]), sign(K @ a)
        gains = got @ R @ got, spectral @ R @ spectral
        assert gains[0] > gains[1] if record["refined"] else gains[0] == pytest.approx(gains[1])
        Y.append(got)
        R = R - np.outer(got, got)
        YY = np.array(Y).T @ np.array(Y)
        assert record["loss"] == pytest.approx(np.mean((YY / n_bits - S) ** 2))


def test_residual_against_dense(small):
    _, y, S = small
    rng = np.random.default_rng(0)
    Y = sign(rng.standard_normal((3, 60)))
    dense, v = 5 * S - Y.T @ Y, rng.standard_normal(60)
    R = Residual(5, 10, y, Y)
    value, *parts = R.along(v)
    assert value == pytest.approx(v @ dense @ v)
    np.testing.assert_allclose(R.times(*parts), dense @ v, atol=1e-10)


def by_sets(Y):
    """S of rows that may have several labels: 1 where the sets of their labels meet, else -1."""
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    return np.array([[1.0 if one & other else -1.0 for other in sets] for one in sets])


def test_residual_of_several_labels_against_dense():
    rng = np.random.default_rng(0)
    sets = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    label = rng.integers(0, 4, 60)
    S, alike = by_sets(sets[label]), np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1.0]])
    Y = sign(rng.standard_normal((3, 60)))
    dense, v = 5 * S - Y.T @ Y, rng.standard_normal(60)
    R = Residual(5, 4, label, Y, alike)
    value, *parts = R.along(v)
    assert value == pytest.approx(v @ dense @ v)
    np.testing.assert_allclose(R.times(*parts), dense @ v, atol=1e-10)


@pytest.mark.parametrize("max_rows", [200, 10_000])
def test_several_labels_fit_the_similarity_by_sets(digits, max_rows):
    """Losses are those of S from sets, and each bit is at least as good as the spectral one of dense R."""
    X, y = digits[0][:300], digits[1][:300]
    labels = np.column_stack([y % 2 == 0, y > 4, np.isin(y, [2, 3, 5, 7])])  # 1 has none, 6 and 8 have two
    encoder = KSH(n_bits=6, n_anchors=40, max_rows=max_rows, random_state=0).fit(X, labels)
    drawn = np.random.default_rng(0).permutation(300)[:200] if max_rows == 200 else np.arange(300)
    anchors = encoder.kernel_["anchors"] + encoder.kernel_["center"]
    distances = ((X[drawn, None] - anchors[None]) ** 2).sum(axis=2)
    K = np.exp(-distances / (2 * distances.mean()))
    K -= K.mean(axis=0)
    S = by_sets(labels[drawn])
    assert 0 < (S.max(axis=1) < 0).sum() < len(S)
    R, Y = 6 * S, []
    for a, record in zip(encoder.coef_, encoder.history_, strict=True):
        got, spectral = sign(K @ a), sign(K @ eigh(K.T @ R @ K, K.T @ K)[1][:, -1])
        assert got @ R @ got >= spectral @ R @ spectral - 1e-9
        Y.append(got)
        R = R - np.outer(got, got)
        assert record["loss"] == pytest.approx(np.mean((np.array(Y).T @ np.array(Y) / 6 - S) ** 2))
    assert encoder.history_[-1]["loss"] < 0.8


def test_ascent_climbs_to_a_stationary_point(small):
    K, y, S = small
    R = Residual(4, 10, y, np.empty((0, 60)))

    def smooth(a):
        f = np.tanh(K @ a / 2)
        return f @ (4 * S) @ f

    start = np.random.default_rng(1).standard_normal(12)
    one, n_steps = ascend(K, R, start, 1)
    assert n_steps == 1
    slope = np.array([(smooth(start + e) - smooth(start - e)) / 2e-5 for e in 1e-5 * np.eye(12)])
    moved = one - start  # a first step goes along the gradient, by 1 / 2^k
    assert moved @ slope / np.linalg.norm(moved) / np.linalg.norm(slope) == pytest.approx(1, abs=1e-6)
    ratio = np.log2(np.linalg.norm(slope) / np.linalg.norm(moved))
    assert ratio == pytest.approx(round(ratio), abs=1e-4)
    values = [smooth(ascend(K, R, start, max_iter)[0]) for max_iter in (1, 10, 100)]
    assert smooth(start) < values[0] < values[1] < values[2]


def test_codes_are_the_formula(digits):
    X, y = digits
    encoder = KSH(n_bits=8, n_anchors=50, max_iter=50, random_state=0).fit(X[:300], y[:300])
    anchors = encoder.kernel_["anchors"] + encoder.kernel_["center"]
    assert len(anchors) == 50
    assert (((anchors[:, None] - X[None, :300]) ** 2).sum(axis=2).min(axis=1) < 1e-18).all()  # training rows
    distances = ((X[:, None] - anchors[None]) ** 2).sum(axis=2)
    K = np.exp(-distances / (2 * distances[:300].mean()))
    scores = (K - K[:300].mean(axis=0)) @ encoder.coef_.T
    clear = np.abs(scores) > 1e-9 * np.abs(scores).max()
    assert ((encoder.transform(X) == (scores > 0)) | ~clear).all()
    assert [record["bit"] for record in encoder.history_] == list(range(8))
    Y = sign(scores[:300])
    S = np.where(y[:300, None] == y[None, :300], 1.0, -1.0)
    assert encoder.history_[-1]["loss"] == pytest.approx(np.mean((Y @ Y.T / 8 - S) ** 2))


def test_retrieval_on_digits(digits):
    X, y = digits
    encoder = KSH(n_bits=8, n_anchors=60, random_state=0).fit(X[:300], y[:300])
    itq = ITQ(n_bits=8, random_state=0).fit(X[:300])
    assert encoder.score(X[1200:], y[1200:]) > itq.score(X[1200:], y[1200:]) + 0.1


def test_singular_features(digits):
    """More anchors than rows, and constant features: no bit is constant or the same as all others."""
    X, y = digits[0][:30], digits[1][:30]
    bits = KSH(n_bits=8, random_state=0).fit(X, y).transform(X)
    assert (bits.min(axis=0) < bits.max(axis=0)).all()
    together = y[:, None] == y[None]
    apart = (bits[:, None] != bits[None]).mean(axis=2)
    assert apart[together].max() < apart[~together].min()  # 30 points can be told apart by 30 weights


def test_rows_at_most(digits):
    X, y = digits
    encoder = KSH(n_bits=4, n_anchors=500, max_rows=60, random_state=0).fit(X, y)
    assert encoder.coef_.shape == (4, 60)
    assert encoder.score(X, y) > 0.2


@pytest.mark.parametrize("name", ["n_anchors", "max_iter", "max_rows"])
def test_settings(digits, name):
    with pytest.raises(ValueError, match=f"{name}=0: give an integer of at least 1"):
        KSH(**{name: 0}).fit(*digits)
