"""Anchor graph hashing against dense algebra and brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from structhash.baselines import AGH, ITQ, LSH
from structhash.baselines._anchor_graph import graph, nearest, second_cuts, similar, spectrum


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def dense_graph(X, encoder):
    """Z, a row and an anchor at a time."""
    anchors, s = encoder.anchors_ + encoder.center_, encoder.n_nearest
    Z = np.zeros((len(X), len(anchors)))
    for i, x in enumerate(X):
        distances = [float(np.linalg.norm(x - u)) for u in anchors]
        for j in sorted(range(len(anchors)), key=distances.__getitem__)[:s]:
            Z[i, j] = np.exp(-(distances[j] ** 2) / encoder.bandwidth_**2)
    return Z / Z.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("s", [2, 5])
def test_bits_are_signs_of_eigenvectors_of_the_full_graph(digits, s):
    X = digits[0][:300] + 0.01 * np.random.default_rng(0).standard_normal((300, 64))
    encoder = AGH(n_bits=12, layers=1, n_anchors=40, n_nearest=s, random_state=0).fit(X)
    Z = dense_graph(X, encoder)
    A = Z / Z.sum(axis=0) @ Z.T
    np.testing.assert_allclose(A.sum(axis=1), 1)
    values, vectors = np.linalg.eigh(A)
    inner = np.flatnonzero(values < 1 - 1e-3)[::-1][:12]
    np.testing.assert_allclose(encoder.eigenvalues_, values[inner], atol=1e-8)
    bits = encoder.transform(X).astype(bool)
    for j, k in enumerate(inner):
        sure = np.abs(vectors[:, k]) > 1e-6
        same = (bits[:, j] == (vectors[:, k] > 0))[sure]
        assert same.all() or not same.any()


def test_bandwidth_is_the_mean_distance_to_the_sth_anchor(digits):
    X = digits[0]
    encoder = AGH(n_bits=8, n_anchors=30, n_nearest=3, random_state=0).fit(X)
    distances = np.linalg.norm(X[:, None] - (encoder.anchors_ + encoder.center_), axis=2)
    assert encoder.bandwidth_ == pytest.approx(np.sort(distances, axis=1)[:, 2].mean())


def test_second_cuts_minimise_the_smoothness(digits):
    X = digits[0]
    encoder = AGH(n_bits=8, n_anchors=30, random_state=0).fit(X)
    Z = dense_graph(X, encoder)
    A = Z / Z.sum(axis=0) @ Z.T
    Y, n = Z @ encoder.projection_, len(X)
    assert encoder.cuts_.shape == (2, 4)
    for y, (upper, lower) in zip(Y.T, encoder.cuts_.T, strict=True):
        up = y > 0

        def second(b, y=y, up=up):
            """z of b+ and of the b- that 1'z = 0 leaves."""
            other = (up.sum() * b - y[up].sum() + y[~up].sum()) / (~up).sum()
            return np.where(up, y - b, other - y)

        z = np.where(up, y - upper, lower - y)
        assert z.sum() == pytest.approx(0, abs=1e-6 * n)
        found = minimize_scalar(lambda b: second(b) @ second(b) - second(b) @ A @ second(b))
        assert upper == pytest.approx(found.x, abs=1e-5)
        np.testing.assert_allclose(second(found.x), z, atol=1e-4)


def test_layers(digits):
    X = digits[0]
    two = AGH(n_bits=12, n_anchors=40, random_state=0).fit(X)
    one = AGH(n_bits=6, layers=1, n_anchors=40, random_state=0).fit(X)
    bits = two.transform(X).astype(bool)
    np.testing.assert_array_equal(bits[:, :6], one.transform(X))
    Y = dense_graph(X, two) @ two.projection_
    z = np.where(Y > 0, Y - two.cuts_[0], two.cuts_[1] - Y)
    sure = np.abs(z) > 1e-6
    np.testing.assert_array_equal(bits[:, 6:][sure], (z > 0)[sure])
    assert AGH(n_bits=5, n_anchors=40, random_state=0).fit(X).cuts_.shape == (2, 2)


def test_graph_in_two_pieces():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3)) + np.where(np.arange(80) < 40, 0, 1e3)[:, None]
    encoder = AGH(n_bits=40, layers=1, n_anchors=8, random_state=0).fit(X)
    assert (encoder.eigenvalues_[:6] < 1 - 1e-3).all()  # 3 inner vectors a piece,
    assert encoder.eigenvalues_[6] == pytest.approx(1)  # the vector that tells the pieces apart,
    assert not encoder.eigenvalues_[7:].any()  # and no others
    bits = encoder.transform(X)
    assert (bits[:40, 6] == bits[0, 6]).all()
    assert (bits[40:, 6] != bits[0, 6]).all()
    assert not bits[:, 7:].any()


@pytest.mark.filterwarnings("ignore:most rows of X")
def test_far_rows_and_ties(digits):
    X = digits[0]
    encoder = AGH(n_bits=16, n_anchors=30, random_state=0).fit(X)
    far = encoder.transform(X[:20] * 1e5)
    assert set(np.unique(far)) <= {0, 1}
    codes = encoder.encode(X)
    np.testing.assert_array_equal(np.concatenate([encoder.encode(X[i : i + 1]) for i in range(30)]), codes[:30])
    anchors = np.array([[-1.0, 0], [1, 0], [0, 1]])
    near, apart = nearest(np.zeros((1, 2)), np.zeros(2), anchors, 2)
    assert (near.tolist(), apart.round(6).tolist()) == ([[0, 1]], [[1.0, 1.0]])


def test_parts_on_a_tiny_graph():
    apart = np.array([[0.0, 2.0], [1.0, 1.0], [0.5, 3.0]])
    near = np.array([[0, 1], [1, 0], [1, 0]])
    weights = similar(apart, 1.5)
    np.testing.assert_allclose(weights[0], np.exp([0, -2 / 2.25]) / np.exp([0, -2 / 2.25]).sum())
    Z = graph(near, weights, 2)
    w, values = spectrum(Z, 3)
    A = Z.toarray() / Z.toarray().sum(axis=0) @ Z.toarray().T
    y = Z @ w[:, 0]
    np.testing.assert_allclose(A @ y, values[0] * y, atol=1e-12)
    assert (y @ y, y.sum()) == (pytest.approx(3), pytest.approx(0, abs=1e-12))
    assert not w[:, 1:].any()
    assert np.isfinite(second_cuts(Z, Z @ w)).all()


def test_same_on_any_number_of_threads(digits):
    X = digits[0]
    encoder = AGH(n_bits=16, n_anchors=50, random_state=1).fit(X)
    with threadpool_limits(2):
        again = AGH(n_bits=16, n_anchors=50, random_state=1).fit(X)
    np.testing.assert_array_equal(again.anchors_, encoder.anchors_)
    np.testing.assert_array_equal(again.encode(X), encoder.encode(X))


def test_retrieval(digits):
    X, y = digits
    ours = AGH(n_bits=16, n_anchors=100, random_state=0).fit(X).score(X, y)
    assert ours > LSH(n_bits=16, random_state=0).fit(X).score(X, y) + 0.1
    assert ours > ITQ(n_bits=16, random_state=0).fit(X).score(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layers": 3}, "layers=3: give 1 or 2"),
        ({"layers": 0}, "layers=0: give an integer of at least 1"),
        ({"n_anchors": 1}, "n_anchors=1: give an integer of at least 2"),
        ({"n_nearest": 0}, "n_nearest=0: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        AGH(**settings).fit(digits[0])
