"""Tables for sums of vectors: what they leave over, by brute force, and data that have an exact answer."""

import numpy as np
import pytest
from scipy.linalg import lstsq
from sklearn.datasets import load_digits

from structhash.codes.sums import SumCoder, sums_of
from structhash.training import additive
from structhash.training.additive import fit_sums, learn_tables

DIGITS = load_digits().data.astype(np.float32)
DIGITS = (DIGITS - DIGITS.mean(axis=0)) / 16
FULL = np.array([256, 256, 256])


def left_over(Y, tables, sizes, beam=8):
    """Share of the squared length of rows that their codes leave over."""
    codes = SumCoder(tables, sizes, beam).code(Y)
    return ((Y - sums_of(codes, tables)) ** 2).sum() / (Y**2).sum()


def learn(sizes=FULL, seed=0, Y=DIGITS):
    return learn_tables(Y, sizes, 8, np.random.default_rng(seed))


def test_errors_are_what_the_codes_leave_over():
    tables, errors = learn()
    assert errors[-1] == pytest.approx(left_over(DIGITS, tables, FULL), rel=0.02)
    assert (np.diff(errors) < 0).all()


def test_more_bytes_and_more_values_leave_less_over():
    found = [learn(np.array(sizes)).errors[-1] for sizes in ([256], [256, 16], [256, 256], [256] * 4)]
    assert found == sorted(found, reverse=True)


def test_sums_of_few_vectors_are_found():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(4, 8)), 0.1 * rng.normal(size=(4, 8))
    Y = (first[rng.integers(4, size=400)] + second[rng.integers(4, size=400)]).astype(np.float32)
    Y -= Y.mean(axis=0)
    assert learn(np.array([8, 8]), Y=Y).errors[-1] < 3e-3


def test_few_rows_are_not_learned_by_heart():
    rng = np.random.default_rng(0)
    order = rng.permutation(len(DIGITS))
    few, others = DIGITS[order[:300]], DIGITS[order[300:]]
    tables, errors = learn(np.full(8, 256), Y=few - few.mean(axis=0))
    left = left_over(others - few.mean(axis=0), tables, np.full(8, 256))
    assert errors[-1] < 0.05
    assert left < 0.2  # 0.28 without the ridge


def test_a_fit_ends_near_the_least_squares_of_all_tables():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, size=(300, 3), dtype=np.uint8)
    Y = rng.normal(size=(300, 5)).astype(np.float32)
    found = sums_of(codes, fit_sums(np.zeros((3, 256, 5), np.float32), codes, Y, 1e-3, 200))
    indicators = np.hstack([np.eye(6)[codes[:, m]] for m in range(3)])
    best = indicators @ lstsq(indicators, Y)[0]
    assert ((Y - found) ** 2).sum() == pytest.approx(((Y - best) ** 2).sum(), rel=1e-3)


def test_a_coding_never_leaves_more_over():
    rng = np.random.default_rng(0)
    tables = learn().tables
    codes = rng.integers(0, 256, size=(len(DIGITS), 3), dtype=np.uint8)
    codes[::2] = SumCoder(tables, FULL, 32).code(DIGITS[::2])  # better than what a beam of 1 finds
    found = additive._nearer(DIGITS, codes, tables, FULL, 1, 1)
    before, after = (((DIGITS - sums_of(each, tables)) ** 2).sum(axis=1) for each in (codes, found))
    assert (after <= before * (1 + 1e-5)).all()
    assert after[1::2].mean() < before[1::2].mean() / 2


def test_clusters_are_about_as_good_as_those_of_another_library():
    from sklearn.cluster import KMeans

    numbers = additive.cluster(DIGITS, 64, np.random.default_rng(0))
    ours = ((DIGITS - additive.means_of(DIGITS, numbers)[numbers]) ** 2).sum()
    assert ours < 1.1 * KMeans(64, n_init=1, random_state=0).fit(DIGITS).inertia_


def test_centroids_without_rows_split_the_largest_clusters():
    numbers = np.array([0, 0, 0, 0, 2, 2, 2, 3])
    centroids = np.array([[1.0, 2.0], [0.0, 0.0], [4.0, 4.0], [8.0, 8.0]], np.float32)
    additive._split_largest(centroids, numbers)
    np.testing.assert_allclose(centroids[1], [1.001, 2.002], rtol=1e-6)
    np.testing.assert_allclose(centroids[0], [0.999, 1.998], rtol=1e-6)
    np.testing.assert_array_equal(centroids[2:], [[4, 4], [8, 8]])
