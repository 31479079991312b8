"""Spherical hashing against a literal loop, its balance, its own distance."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from structhash.baselines import LSH, SPHER
from structhash.codes import hamming
from structhash.estimators.loading import load_model
from structhash.metrics import average_precision, tie_blocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def naive(X, n_bits, seed):
    """The published loop, one pair of spheres at a time."""
    rng, n = np.random.default_rng(seed), len(X)
    centers = np.array([X[rng.permutation(n)[:5]].mean(axis=0) for _ in range(n_bits)])
    for rounds in range(100):
        distances = np.array([np.linalg.norm(X - center, axis=1) for center in centers])
        radii = np.sort(distances, axis=1)[:, n // 2 - 1]
        inside = distances <= radii[:, None]
        pairs = [(i, j) for i in range(n_bits) for j in range(i)]
        overlaps = np.array([(inside[i] & inside[j]).sum() for i, j in pairs])
        if rounds and abs(overlaps - n / 4).mean() <= 0.1 * n / 4 and overlaps.std() <= 0.15 * n / 4:
            break
        forces = np.zeros_like(centers)
        for (i, j), overlap in zip(pairs, overlaps, strict=True):
            force = 0.5 * (overlap - n / 4) / (n / 4) * (centers[i] - centers[j])
            forces[i] += force / n_bits
            forces[j] -= force / n_bits
        centers = centers + forces
    return centers, radii, rounds


@pytest.mark.parametrize(("n_bits", "seed"), [(8, 0), (24, 1)])
def test_published_loop(digits, n_bits, seed):
    X = digits[0] + 0.01 * np.random.default_rng(9).standard_normal(digits[0].shape)  # no ties
    centers, radii, rounds = naive(X[:401], n_bits, seed)
    encoder = SPHER(n_bits=n_bits, random_state=seed).fit(X[:401])
    assert encoder.n_iter_ == rounds
    np.testing.assert_allclose(encoder.centers_ + encoder.center_, centers, atol=1e-6)
    distances = np.linalg.norm(X[:, None] - centers, axis=2)
    bits = encoder.transform(X)
    np.testing.assert_array_equal(bits[:401], distances[:401] <= radii + 1e-9)
    assert np.mean(bits[401:] == (distances[401:] <= radii)) > 0.995  # the radius lies in the gap above


def test_balance_and_overlaps(digits):
    X = digits[0]
    encoder = SPHER(n_bits=32, random_state=0).fit(X)
    inside = encoder.transform(X).astype(int)
    assert np.abs(inside.mean(axis=0) - 0.5).max() < 0.01
    overlaps = (inside.T @ inside)[np.triu_indices(32, 1)] / (len(X) / 4)
    assert (np.abs(overlaps - 1).mean(), overlaps.std()) == pytest.approx(tuple(encoder.errors_[-1]), abs=1e-9)
    assert encoder.errors_[-1][0] <= 0.1
    assert encoder.errors_[-1][1] <= 0.15
    assert (encoder.errors_[:-1] > [0.1, 0.15]).any(axis=1).all()


def test_best_round_is_kept():
    X = np.random.default_rng(0).standard_normal((60, 1))  # on a line overlaps of a quarter are impossible
    encoder = SPHER(n_bits=8, random_state=0).fit(X)
    inside = encoder.transform(X).astype(int)
    overlaps = (inside.T @ inside)[np.triu_indices(8, 1)] / 15
    errors = encoder.errors_ / [0.1, 0.15]
    assert np.abs(overlaps - 1).mean() == pytest.approx(encoder.errors_[errors.max(axis=1).argmin(), 0])


def test_own_distance(digits):
    X = digits[0]
    encoder = SPHER(n_bits=16, random_state=0).fit(X)
    bits = encoder.transform(X)
    found = encoder.own_distances(X)(X[:5])
    assert (found.shape, found.dtype) == ((5, 600), np.float64)
    for i in range(5):
        for j in range(0, 600, 7):
            both = sum(a and b for a, b in zip(bits[i], bits[j], strict=True))
            differ = sum(a != b for a, b in zip(bits[i], bits[j], strict=True))
            assert found[i, j] == pytest.approx(differ / (both + 0.1))


def test_retrieval_of_neighbours(digits):
    X = digits[0]
    apart = ((X[:100, None] - X[100:]) ** 2).sum(axis=2)
    near = apart <= np.sort(apart, axis=1)[:, 19:20]
    found = {}
    for encoder in (SPHER(n_bits=16, random_state=0), LSH(n_bits=16, random_state=0)):
        distances = hamming(encoder.fit(X[100:]).encode(X[:100]), encoder.encode(X[100:]))
        found[type(encoder)] = average_precision(tie_blocks(distances, near)).mean()
    assert found[SPHER] > found[LSH] + 0.02
    own = SPHER(n_bits=16, random_state=0).fit(X[100:]).own_distances(X[100:])(X[:100])
    assert average_precision(tie_blocks(own, near)).mean() > found[LSH] + 0.02


def test_same_on_any_number_of_threads_and_after_saving(digits, tmp_path):
    X = digits[0]
    encoder = SPHER(n_bits=16, random_state=3).fit(X)
    encoder.save(tmp_path / "model")
    with threadpool_limits(2):
        again = SPHER(n_bits=16, random_state=3).fit(X)
    np.testing.assert_array_equal(again.centers_, encoder.centers_)
    opened = load_model(tmp_path / "model")
    np.testing.assert_array_equal(opened.own_distances(X)(X[:3]), encoder.own_distances(X)(X[:3]))


@pytest.mark.parametrize("rows", [2, 3, 9])
def test_few_rows(digits, rows):
    X = digits[0][:rows]
    bits = SPHER(n_bits=8, random_state=0).fit(X).transform(X)
    np.testing.assert_array_equal(bits.sum(axis=0), rows // 2)


def test_settings(digits):
    with pytest.raises(ValueError, match="max_iter=0: give an integer of at least 1"):
        SPHER(max_iter=0).fit(digits[0])
    assert SPHER(n_bits=1, random_state=0).fit(digits[0]).n_iter_ == 1
