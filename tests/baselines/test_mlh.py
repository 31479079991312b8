"""MLH against enumeration, finite differences and naive loops."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import ITQ, MLH, _pair_steps
from structhash.baselines._pair_steps import augment, curve, train
from structhash.baselines.mlh import _WEIGHT_DECAYS
from structhash.codes import hamming
from structhash.metrics import average_precision, tie_blocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:800], y[400:800]


def loss(d, alike, rho, n_bits):
    return max(d - rho + 1, 0) / (n_bits - rho + 1) if alike else max(rho + 1 - d, 0) / (rho + 1)


def bounds(F, H, alike, rho):
    """By enumeration of all pairs of codes."""
    n_bits = F.shape[1]
    codes = np.array(list(product([-1, 1], repeat=n_bits)))
    apart = (codes[:, None] != codes[None]).sum(axis=2)
    found = []
    for f, h, same in zip(F, H, alike):
        values = np.array([loss(d, same, rho, n_bits) for d in range(n_bits + 1)])[apart]
        values = values + (codes @ f)[:, None] + (codes @ h)[None]
        found.append(values.max() - np.abs(f).sum() - np.abs(h).sum())
    return np.array(found)


@pytest.mark.parametrize("rho", [1, 2, 4])
def test_inference_by_enumeration(rho):
    rng = np.random.default_rng(rho)
    F, H = 0.15 * rng.normal(size=(2, 80, 4))
    alike = np.arange(80) < 40
    G, K, losses = augment(F, H, alike, rho)
    best = bounds(F, H, alike, rho)
    g, k = np.sign(F) - G, np.sign(H) - K
    for i in range(80):
        d = (np.sign(F[i]) != np.sign(H[i])).sum()
        assert losses[i] == pytest.approx(loss(d, alike[i], rho, 4))
        reached = loss((g[i] != k[i]).sum(), alike[i], rho, 4) - G[i] @ F[i] - K[i] @ H[i]
        assert reached == pytest.approx(best[i], abs=1e-12)
    assert (best >= losses - 1e-12).all()
    assert 0 < np.mean(np.abs(G).sum(axis=1) > 0) < 1


def test_gradient_by_finite_differences():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 10, 3))
    W, alike = 0.1 * rng.normal(size=(4, 3)), np.arange(10) < 5
    G, K, _ = augment(X @ W.T, Y @ W.T, alike, 2)
    gradient = G.T @ X + K.T @ Y
    for j, k in product(range(4), range(3)):
        ends = []
        for e in (1e-6, -1e-6):
            moved = W.copy()
            moved[j, k] += e
            ends.append(bounds(X @ moved.T, Y @ moved.T, alike, 2).sum())
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(-gradient[j, k], abs=1e-5)


def test_curve_by_loops():
    rng = np.random.default_rng(0)
    apart, alike = rng.integers(1, 5, (20, 30)), rng.random((20, 30)) < 0.3
    precision, recall = curve(apart, alike, 6)
    for radius in range(7):
        inside = apart <= radius
        assert recall[radius] == pytest.approx((inside & alike).sum() / alike.sum())
        assert precision[radius] == pytest.approx(alike[inside].mean() if inside.any() else 1)


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_share_of_alike_pairs(monkeypatch, share):
    seen = []

    def spy(F, H, alike, rho):
        seen.append(alike.mean())
        return augment(F, H, alike, rho)

    monkeypatch.setattr(_pair_steps, "augment", spy)
    rng = np.random.default_rng(0)
    index = np.repeat(np.arange(8), [5, 20, 35, 20, 20, 50, 10, 40])
    iterate = train(rng.normal(size=(200, 3)), index, rng.normal(size=(2, 3)), 1, 1e-4, share, rng)
    for _ in range(20):
        iterate(0.0)
    chance = (np.bincount(index) ** 2).sum() / 200**2
    drawn = max(round(100 * (share - chance)), 0) / 100
    assert np.mean(seen) == pytest.approx(drawn + (1 - drawn) * chance, abs=0.01)


def test_no_step_without_loss():
    """Two far groups that the planes part by all bits: nothing but weight decay moves W."""
    X = np.array([[1.0, 0], [1, 0], [-1, 0], [-1, 0]])
    start = np.array([[3.0, 1], [3, 2]])
    W, losses = train(X, np.array([0, 0, 1, 1]), start, 1, 0.01, 0.5, np.random.default_rng(0))(0.1)
    assert losses == 0
    np.testing.assert_allclose(W / W[0, 0], start / start[0, 0])


@pytest.mark.parametrize("n_bits", [8, 16])
def test_retrieval(digits, n_bits):
    X, y, Q, y_query = digits
    encoder = MLH(n_bits=n_bits, rho=n_bits // 4, weight_decay=0.01, random_state=0).fit(X, y)
    found = []
    for each in (encoder, ITQ(n_bits=n_bits, random_state=0).fit(X)):
        apart = hamming(each.encode(Q), each.encode(X))
        found.append(average_precision(tie_blocks(apart, y_query[:, None] == y)).mean())
    assert found[0] > found[1] + 0.1
    assert encoder.losses_[-1] < 0.8 * encoder.losses_[0]


def test_settings_are_chosen(digits):
    X, y = digits[:2]
    encoder = MLH(n_bits=8, max_iter=1, validation_iter=1, random_state=0).fit(X, y)
    assert 1 <= encoder.rho_ <= 8
    assert encoder.weight_decay_ in _WEIGHT_DECAYS
    given = MLH(n_bits=8, rho=7, weight_decay=0.5, max_iter=1, random_state=0).fit(X, y)
    assert (given.rho_, given.weight_decay_) == (7, 0.5)
    few = MLH(n_bits=8, max_iter=1, random_state=0).fit(X[:3], [0, 1, 2])
    assert (few.rho_, few.weight_decay_) == (2, 1e-4)


def test_lengths_of_rows_do_not_matter(digits):
    X, y = digits[:2]
    X = np.concatenate([X, 2 * X.mean(axis=0) - X])  # so that the mean stays
    y = np.concatenate([y, y])
    factor = np.tile(1 + np.arange(400) % 3, 2)[:, None]
    Z = X - X.mean(axis=0)
    settings = {"n_bits": 6, "rho": 2, "weight_decay": 1e-3, "max_iter": 2, "random_state": 0}
    one, other = MLH(**settings).fit(Z, y), MLH(**settings).fit(Z * factor, y)
    np.testing.assert_allclose(one.planes_, other.planes_, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rho": 0}, "rho=0: give an integer of at least 1"),
        ({"rho": 65}, "rho=65: give at most n_bits, 64"),
        ({"weight_decay": 0}, "weight_decay=0: give a finite number above 0"),
        ({"positive_share": 1.5}, "positive_share=1.5: give a number above 0 and at most 1"),
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
        ({"validation_iter": 0}, "validation_iter=0: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        MLH(**settings).fit(*digits[:2])
