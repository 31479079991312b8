"""RPH against naive loops, finite differences and scikit-learn's NDCG."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import ndcg_score

from structhash.baselines import ITQ, RPH
from structhash.baselines.rph import _expected_ndcg, _rank_gradient
from structhash.codes import hamming
from structhash.metrics import average_precision, tie_blocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:800], y[400:800]


def naive(W, Z, index):
    C = np.tanh(Z @ W.T)
    total = 0.0
    for q in range(len(Z)):
        others = [i for i in range(len(Z)) if i != q]
        near = [i for i in others if index[i] == index[q]]
        if not near or len(near) == len(others):
            continue
        value = 0.0
        for i in near:
            place = 1 + sum(1 / (1 + np.exp(-C[q] @ (C[j] - C[i]))) for j in others if j != i)
            value += 1 / np.log2(1 + place)
        total += value / sum(1 / np.log2(2 + k) for k in range(len(near)))
    return total / len(Z)


@pytest.mark.parametrize("labels", ["mixed", "single", "alone"])
def test_by_loops_and_finite_differences(labels):
    rng = np.random.default_rng(0)
    Z, W = rng.normal(size=(9, 4)), rng.normal(size=(5, 4))
    index = {"mixed": np.arange(9) % 3, "single": np.zeros(9, int), "alone": np.arange(9) // 8}[labels]
    value, gradient = _expected_ndcg(W, Z, index)
    assert value == pytest.approx(naive(W, Z, index))
    assert (value == 0) == (labels == "single")
    for j, k in product(range(5), range(4)):
        ends = []
        for e in (1e-6, -1e-6):
            moved = W.copy()
            moved[j, k] += e
            ends.append(naive(moved, Z, index))
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradient[j, k], abs=1e-8)


def test_is_ndcg_where_scores_are_far_apart():
    rng = np.random.default_rng(1)
    index = rng.integers(0, 3, 30)
    scores = 1e3 * np.array([rng.permutation(30) for _ in range(30)])
    expected = 0.0
    for q in range(30):
        others = np.arange(30) != q
        expected += ndcg_score((index[others] == index[q])[None].astype(float), scores[q, others][None])
    slopes = np.zeros((30, 30))
    assert _rank_gradient(scores, index, slopes) == pytest.approx(expected)
    assert np.abs(slopes).max() < 1e-3


@pytest.mark.parametrize("n_bits", [8, 32])
def test_retrieval(digits, n_bits):
    X, y, Q, y_query = digits
    encoder = RPH(n_bits=n_bits, random_state=0).fit(X, y)
    found = []
    for each in (encoder, ITQ(n_bits=n_bits, random_state=0).fit(X)):
        apart = hamming(each.encode(Q), each.encode(X))
        found.append(average_precision(tie_blocks(apart, y_query[:, None] == y)).mean())
    assert found[0] > found[1] + 0.1
    assert encoder.values_.shape == (50,)
    assert encoder.values_[-1] > encoder.values_[0] + 0.1


def test_one_mini_batch_climbs_steadily(digits):
    X, y = digits[0][:60], digits[1][:60]
    encoder = RPH(n_bits=6, learning_rate=0.3, max_iter=60, random_state=0).fit(X, y)
    assert (np.diff(encoder.values_) > 0).mean() > 0.95


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight_decay": 0}, "weight_decay=0: give a finite number above 0"),
        ({"learning_rate": np.inf}, "learning_rate=inf: give a finite number above 0"),
        ({"batch_size": 0}, "batch_size=0: give an integer of at least 1"),
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        RPH(**settings).fit(*digits[:2])
