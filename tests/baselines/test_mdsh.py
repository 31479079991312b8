"""Multidimensional spectral hashing: eigenfunctions, choice of bits, the kernel distance."""

import itertools

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from structhash.baselines import LSH, MDSH, PCAH
from structhash.baselines._eigenfunctions import Eigenfunctions, choose, one_dimensional
from structhash.metrics import average_precision, tie_blocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def test_eigenfunctions_solve_the_generalised_problem():
    V = np.random.default_rng(0).gamma(2.0, size=(800, 2)) * [1.0, 0.5]
    found = one_dimensional(V, 0.4)
    assert found.knots.shape == (2, 52)
    for a in range(2):
        low, high = found.knots[a, 0], found.knots[a, -1]
        np.testing.assert_allclose([low, high], np.quantile(V[:, a], [0.025, 0.975]), atol=0.06)
        clipped = np.clip(V[:, a], low, high)
        counts, edges = np.histogram(clipped, 50, (low, high))
        p = counts / 800 + 0.1
        p /= p.sum()
        centres = (edges[1:] + edges[:-1]) / 2
        np.testing.assert_allclose(found.knots[a, 1:-1], centres)
        W = np.exp(-((centres[:, None] - centres) ** 2) / (2 * 0.4**2))
        P, D = np.diag(p), np.diag(W @ p)
        L = np.diag(P @ W @ p) - P @ W @ P
        values, _ = eigh(L, P @ D)  # the Laplacian that the paper minimises: 1 - our eigenvalues
        np.testing.assert_allclose(1 - found.eigenvalues[a], values, atol=1e-10)
        phi = found.values[a, :, 1:-1]
        np.testing.assert_allclose(phi @ P @ D @ phi.T, np.eye(50), atol=1e-8)
        np.testing.assert_allclose(L @ phi.T, P @ D @ phi.T * (1 - found.eigenvalues[a]), atol=1e-10)
        ends = found.values[a, :, [0, -1]].T
        np.testing.assert_allclose(2 * (phi[:, 0] - ends[:, 0]), phi[:, 1] - phi[:, 0], atol=1e-9)


def toy(eigenvalues):
    k, m = np.shape(eigenvalues)
    values = np.random.default_rng(0).standard_normal((k, m, m + 2))
    return Eigenfunctions(np.zeros((k, m + 2)), values, np.array(eigenvalues))


def test_choice():
    too_wide = [1.0, 0.9, 0.8, 0.7]
    functions = toy([[1.0, 0.8, 0.3, 0.0], [1.0, 0.4, 0.05, 0.0], too_wide])
    axis, mode, thresholds, weights = choose(functions, 2, 0.1, 1.0)
    assert list(zip(axis, mode, strict=True)) == [(0, 1), (1, 1)]
    np.testing.assert_allclose(weights, [1, 0.5])
    pool = functions.values[[0, 1], [1, 1], 1:-1]
    np.testing.assert_allclose(thresholds, np.median(pool))
    axis, mode, thresholds, _ = choose(functions, 8, 0.1, 1.0)  # three functions: twice, and two of them again
    assert list(zip(axis, mode, strict=True)) == [(0, 1), (1, 1), (0, 2)] * 2 + [(0, 1), (1, 1)]
    pool = np.sort(functions.values[[0, 1, 0], [1, 1, 2], 1:-1].ravel())
    np.testing.assert_allclose(thresholds[[0, 3, 6]], [pool[2:4].mean(), pool[5:7].mean(), pool[8:10].mean()])
    assert (thresholds[:3] == thresholds[0]).all()


def test_affinity_is_that_of_all_products(digits):
    X = digits[0]
    encoder = MDSH(n_bits=9, random_state=0).fit(X)
    b = 2.0 * encoder.transform(X[:12]) - 1
    expected = np.zeros((12, 12))
    for level in np.unique(encoder.thresholds_):
        axes = [
            np.flatnonzero((encoder.axis_ == a) & (encoder.thresholds_ == level)).tolist() for a in range(9)
        ]
        for several in itertools.product(*[[None, *bits] for bits in axes if bits]):
            bits = [j for j in several if j is not None]
            if bits:  # one more bit, the product of those of different axes, and its weight
                product = b[:, bits].prod(axis=1)
                expected += encoder.weights_[bits].prod() * np.outer(product, product)
    np.testing.assert_allclose(-encoder.own_distances(X[:12])(X[:12]), expected, atol=1e-7)


def test_affinity_of_many_bits_follows_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1500, 2)) * [3.0, 1.0]
    encoder = MDSH(n_bits=200, bandwidth=0.8, random_state=0).fit(X)
    Q = X[:60]
    true = np.exp(-((Q[:, None] - X) ** 2).sum(axis=2) / (2 * 0.8**2))
    found = -encoder.own_distances(X)(Q)
    assert np.corrcoef(true.ravel(), found.ravel())[0, 1] > 0.9


def test_sigma(digits):
    X = digits[0]
    assert MDSH(n_bits=4).fit(X).bandwidth_ == pytest.approx(cdist(X, X).mean() / 4)
    with pytest.raises(ValueError, match="bandwidth=0: give a finite number above 0"):
        MDSH(bandwidth=0).fit(X)
    with pytest.raises(
        ValueError, match=r"bandwidth=0\.001 is too small for the spread of the rows; leave it out"
    ):
        MDSH(bandwidth=1e-3).fit(X)
    with pytest.raises(ValueError, match=r"bandwidth=1e\+09 is too large for the spread of the rows"):
        MDSH(bandwidth=1e9).fit(X)
    with pytest.raises(ValueError, match="min_weight=2: give a number above 0 and at most 1"):
        MDSH(min_weight=2).fit(X)


def test_one_axis_by_interpolation():
    X = np.random.default_rng(1).standard_normal((700, 1))
    encoder = MDSH(n_bits=3, bandwidth=0.5, min_weight=0.9).fit(X)  # one function, three thresholds
    assert (encoder.weights_ == 1).all()
    assert len(np.unique(encoder.thresholds_)) == 3
    sign = encoder.axes_[0, 0]
    grid = np.linspace(-4, 4, 333)[:, None]
    v = np.clip(sign * (grid[:, 0] - X.mean()), encoder.knots_[0, 0], encoder.knots_[0, -1])
    for j in range(3):
        i = np.clip(np.searchsorted(encoder.knots_[j], v) - 1, 0, 50)
        left, right = encoder.knots_[j, i], encoder.knots_[j, i + 1]
        share = (v - left) / (right - left)
        value = (1 - share) * encoder.values_[j, i] + share * encoder.values_[j, i + 1]
        np.testing.assert_array_equal(encoder.transform(grid)[:, j], value > encoder.thresholds_[j] + 1e-9)


def test_retrieval(digits):
    X, y = digits
    encoder = MDSH(n_bits=32, random_state=0).fit(X[100:])
    ours = encoder.score(X, y)
    assert ours > LSH(n_bits=32, random_state=0).fit(X).score(X, y) + 0.02
    assert ours > PCAH(n_bits=32).fit(X).score(X, y) + 0.02
    own = encoder.own_distances(X[100:])(X[:100])
    assert average_precision(tie_blocks(own, y[:100, None] == y[None, 100:])).mean() > 0.4
