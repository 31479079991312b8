"""PCAH against an SVD, and on rows that are wide, few, huge or tiny."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from structhash.baselines import ITQ, PCAH


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@pytest.mark.parametrize(("rows", "n_bits"), [(600, 32), (30, 20)])
def test_signs_of_components(digits, rows, n_bits):
    X = digits[0][:rows]  # 30 rows of 64 features take the other way to the directions
    bits = PCAH(n_bits=n_bits).fit(X).transform(digits[0])
    scores = (digits[0] - X.mean(axis=0)) @ PCA(n_bits, svd_solver="full").fit(X).components_.T
    sure = np.abs(scores) > 1e-6
    for j in range(n_bits):
        same = (bits[:, j] == (scores[:, j] > 0))[sure[:, j]]
        assert same.all() or not same.any()


def test_directions_are_sorted_by_variance(digits):
    X = digits[0] + 0.1  # learned from in float64
    encoder = PCAH(n_bits=40).fit(X)
    np.testing.assert_allclose(encoder.planes_ @ encoder.planes_.T, np.eye(40), atol=1e-10)
    variance = ((X - encoder.mean_) @ encoder.planes_.T).var(axis=0)
    assert (np.diff(variance) <= 1e-9).all()


def test_prefix(digits):
    long, short = (PCAH(n_bits=m).fit(digits[0]) for m in (32, 8))
    np.testing.assert_array_equal(long.encode(digits[0], n_bits=8), short.encode(digits[0]))


def test_bits_without_variance(digits):
    X = digits[0][:, 20:24]
    bits = PCAH(n_bits=16).fit(X).transform(X)
    assert not bits[:, 4:].any()
    np.testing.assert_array_equal(bits[:, :4], PCAH(n_bits=4).fit(X).transform(X))


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**900])
def test_scale(digits, factor):
    X = digits[0]
    again = PCAH(n_bits=16).fit(X * factor).transform(X * factor)
    np.testing.assert_array_equal(again, PCAH(n_bits=16).fit(X).transform(X))


def test_itq_is_better(digits):
    X, y = digits
    assert ITQ(n_bits=32, random_state=0).fit(X).score(X, y) > PCAH(n_bits=32).fit(X).score(X, y) + 0.05
