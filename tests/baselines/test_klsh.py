"""KLSH against its derivation in feature space, and against the chance that a plane parts two points."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import KLSH, LSH
from structhash.baselines._rows import draw_anchors
from structhash.baselines.klsh import _random_normals


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def similarities(X, anchors, sigma):
    return np.exp(-((X[:, None] - anchors[None]) ** 2).sum(axis=2) / (2 * sigma**2))


def test_bits_are_planes_in_feature_space(digits):
    """An explicit map phi with phi(x)'phi(y) = k(x, y), mean and covariance of the anchors taken there."""
    X = digits[0]
    encoder = KLSH(n_bits=12, n_anchors=40, n_summed=6, random_state=0).fit(X)
    anchors = encoder.kernel_["anchors"] + encoder.kernel_["center"]
    distances = ((anchors[:, None] - anchors[None]) ** 2).sum(axis=2)
    sigma = np.sqrt(distances.mean())
    assert encoder.kernel_["bandwidth"] == pytest.approx(sigma)
    both = np.concatenate([anchors, X[:60]])
    values, vectors = np.linalg.eigh(similarities(both, both, sigma))
    phi = vectors * np.sqrt(np.maximum(values, 0))  # a row a point
    mean = phi[:40].mean(axis=0)
    spread, axes = np.linalg.eigh(np.cov(phi[:40].T, bias=False))
    kept = spread > 1e-9
    root = axes[:, kept] / np.sqrt(spread[kept]) @ axes[:, kept].T
    scores = []
    for w in encoder.coef_:  # which anchors were drawn: K^(1/2) w is their indicator, centred
        K = similarities(anchors, anchors, sigma)
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        size, directions = np.linalg.eigh(K)
        indicator = directions * np.sqrt(np.maximum(size, 0)) @ directions.T @ w
        drawn = indicator > (indicator.max() + indicator.min()) / 2
        assert drawn.sum() == 6
        normal = root @ (phi[:40][drawn] - mean).sum(axis=0) / np.sqrt(6)
        scores.append((phi - mean) @ normal)
    scores = np.array(scores).T
    clear = np.abs(scores) > 1e-6
    assert clear.mean() > 0.99
    assert ((encoder.transform(both) == (scores > 0)) | ~clear).all()


def test_weights_have_unit_variance_and_no_sum(digits):
    X = digits[0][:100]
    G = similarities(X, X, 30.0)
    W = _random_normals(G, 50, 10, np.random.default_rng(0))
    np.testing.assert_allclose(W.sum(axis=0), 0, atol=1e-6)
    scores = (G - G.mean(axis=0)) @ W
    # w'Kw = (p - 1) / t * (t - t^2 / p), for e_S minus its mean has squared norm t - t^2 / p
    K = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    np.testing.assert_allclose(np.einsum("ij,ij->j", W, K @ W), 99 / 10 * (10 - 1.0), rtol=1e-8)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-9)


def test_collisions_follow_the_angle(digits):
    """The chance that a plane parts two points is nearly their angle, seen from the mean in feature space."""
    X = digits[0][:160]
    encoder = KLSH(n_bits=4000, n_anchors=160, random_state=0).fit(X)
    bits = encoder.transform(X).astype(float)
    apart = (bits @ (1 - bits).T + (1 - bits) @ bits.T) / 4000
    G = similarities(X, X, encoder.kernel_["bandwidth"])
    K = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
    norms = np.sqrt(np.diag(K))
    angle = np.arccos(np.clip(K / norms / norms[:, None], -1, 1)) / np.pi
    assert np.corrcoef(apart.ravel(), angle.ravel())[0, 1] > 0.98
    assert np.abs(apart - angle).mean() < 0.02


def test_bits_split_evenly_and_beat_nothing(digits):
    X, y = digits
    encoder = KLSH(n_bits=64, random_state=0).fit(X)
    share = encoder.transform(X).mean(axis=0)
    assert np.median(np.abs(share - 0.5)) < 0.1
    assert encoder.score(X, y) > KLSH(n_bits=8, random_state=0).fit(X).score(X, y)
    assert encoder.score(X, y) > 0.5 * LSH(n_bits=64, random_state=0).fit(X).score(X, y)


@pytest.mark.parametrize("rows", [2, 3, 7])
def test_few_rows(rows):
    X = np.random.default_rng(0).standard_normal((rows, 3))
    bits = KLSH(n_bits=32, random_state=0).fit(X).transform(X)
    assert len(np.unique(bits, axis=0)) > rows // 2
    assert (bits.min(axis=0) < bits.max(axis=0)).all()


def test_anchors_are_distinct():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((5, 2)), [100, 1, 1, 1, 1], axis=0)
    for count, expected in ((3, 3), (5, 5), (50, 5)):
        assert (
            len(np.unique(draw_anchors(X, count, rng), axis=0)) == len(draw_anchors(X, count, rng)) == expected
        )
    many = rng.standard_normal((40, 2))
    assert len(np.unique(draw_anchors(many, 30, rng), axis=0)) == 30
    assert {tuple(row) for row in draw_anchors(many, 40, rng)} == {tuple(row) for row in many}


@pytest.mark.parametrize("name", ["n_anchors", "n_summed"])
def test_settings(digits, name):
    with pytest.raises(ValueError, match=f"{name}=0: give an integer of at least 1"):
        KLSH(**{name: 0}).fit(digits[0])
