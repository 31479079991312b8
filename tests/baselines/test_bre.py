"""BRE's one-weight searches against trying all intervals, its objective against the sum over pairs."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import BRE, LSH
from structhash.baselines._coordinate_descent import best_step, descend, flip, normals, random_pairs


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def objective(H, first, second, target):
    """Sum of (n_bits (d - t))^2 of codes H (n_bits, n), a pair at a time."""
    total = 0.0
    for i, j, t in zip(first, second, target, strict=True):
        total += (np.sum(H[:, i] != H[:, j]) - len(H) * t) ** 2
    return total


@pytest.fixture
def problem():
    """30 unit rows, 5 bits of 4 anchors each."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((30, 6))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    first, second = random_pairs(30, rng)
    first, second = first[:400], second[:400]
    target = rng.integers(0, 2, len(first)).astype(float)
    anchors = np.array([rng.permutation(30)[:4] for _ in range(5)])
    return Z, first, second, target, anchors, rng.standard_normal((5, 4)), rng


@pytest.mark.parametrize("b", range(5))
def test_best_step_is_the_best_of_all(problem, b):
    Z, first, second, target, anchors, W, _ = problem
    scores = normals(Z, anchors, W) @ Z.T
    H, missed = scores > 0, -5 * target
    for h in H:
        flip(np.zeros(30, bool), h, first, second, missed)
    assert missed @ missed == objective(H, first, second, target)
    k = Z @ Z[anchors[b, 2]]
    step = best_step(scores[b], k, H[b], first, second, missed)
    edges = np.sort(-scores[b] / k)
    tried = []
    for s in np.concatenate([edges[:1] - 1, (edges[1:] + edges[:-1]) / 2, edges[-1:] + 1]):
        changed = H.copy()
        changed[b] = scores[b] + s * k > 0
        tried.append(objective(changed, first, second, target))
    assert len(set(tried)) > 10
    H[b] = scores[b] + step * k > 0
    assert objective(H, first, second, target) == min(tried)
    distance = np.abs(edges - step)
    inside = edges.min() < step < edges.max()
    nearest, second_nearest = np.sort(distance)[:2]
    assert not inside or nearest == pytest.approx(second_nearest)  # the middle of an interval


def test_descent_never_rises_and_ends_where_it_says(problem):
    Z, first, second, target, anchors, W, rng = problem
    missed = -5 * target
    losses = descend(Z, first, second, missed, anchors, W, 200, rng)
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < 0.95 * losses[0]
    assert losses[-1] == losses[-2]  # of fewer than 200 rounds
    H = normals(Z, anchors, W) @ Z.T > 0
    assert losses[-1] == objective(H, first, second, target) == missed @ missed


def test_tied_rows_and_idle_anchors(problem):
    """Rows that are equal move together; an anchor at a right angle to all rows moves nothing."""
    Z, first, second, target, anchors, W, rng = problem
    Z[15:] = Z[:15]
    Z[0] = Z[15] = 0  # a row at the mean: similar to none
    anchors[:, 0] = 0
    missed = -5 * target
    losses = descend(Z, first, second, missed, anchors, W, 50, rng)
    assert np.isfinite(W).all()
    assert (np.diff(losses) <= 0).all()
    H = normals(Z, anchors, W) @ Z.T > 0
    np.testing.assert_array_equal(H[:, 15:], H[:, :15])
    assert losses[-1] == objective(H, first, second, target)


def test_model(digits):
    X, y = digits[0][:200], digits[1][:200]
    encoder = BRE(n_bits=8, random_state=0).fit(X, y)
    np.testing.assert_allclose(encoder.mean_, X.mean(axis=0))
    bits = encoder.transform(X)
    np.testing.assert_array_equal(bits, (X - X.mean(axis=0)) @ encoder.planes_.T > 0)
    distances = (bits[:, None] != bits[None]).mean(axis=2)
    error = (distances - (y[:, None] != y[None])) ** 2
    expected = error.sum() / (200 * 199)  # over all pairs, of which a quarter were drawn
    assert encoder.losses_[-1] == pytest.approx(expected, rel=0.05)
    assert encoder.losses_[-1] < encoder.losses_[0]
    again = BRE(n_bits=8, random_state=0).fit(X * 2.0**100, y)
    np.testing.assert_array_equal(again.transform(X * 2.0**100), bits)


def test_pairs():
    for n, partners in ((2, 1), (30, 29), (400, 50), (2000, 100)):
        first, second = random_pairs(n, np.random.default_rng(0))
        assert (first != second).all()
        assert len(np.unique(first.astype(np.int64) * n + second)) == len(first)
        assert partners - 1 <= np.bincount(first, minlength=n).min() <= np.bincount(first).max() <= partners


def test_retrieval_on_digits(digits):
    X, y = digits
    encoder = BRE(n_bits=16, random_state=0).fit(X[:300], y[:300])
    lsh = LSH(n_bits=16, random_state=0).fit(X[:300])
    assert encoder.score(X[1200:], y[1200:]) > lsh.score(X[1200:], y[1200:]) + 0.15


def test_rows_at_most(digits):
    encoder = BRE(n_bits=4, max_rows=50, random_state=0).fit(*digits)
    assert not np.allclose(encoder.mean_, digits[0].mean(axis=0))


@pytest.mark.parametrize("name", ["n_anchors", "max_iter", "max_rows"])
def test_settings(digits, name):
    with pytest.raises(ValueError, match=f"{name}=0: give an integer of at least 1"):
        BRE(**{name: 0}).fit(*digits)
