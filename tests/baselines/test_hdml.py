"""HDML against enumeration, the published dynamic programme, finite differences and naive loops."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import HDML, ITQ, _triplets
from structhash.baselines._triplets import WEIGHT_DECAYS, TripletSampler, accuracy, augment, step
from structhash.codes import hamming
from structhash.estimators.loading import load_model
from structhash.metrics import average_precision, tie_blocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:800], y[400:800]


@pytest.fixture(scope="module")
def fitted(digits):
    return HDML(n_bits=16, weight_decay=0.03, max_iter=300, random_state=0).fit(*digits[:2])


def distance(a, b):
    return int((np.asarray(a) != np.asarray(b)).sum())


@pytest.mark.parametrize("margin", [1.0, 2.0])
def test_inference_by_enumeration(margin):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 3, 3)) * np.exp(rng.normal(size=(60, 1, 1)))
    G = np.empty_like(scores)
    sums, bounds, losses = augment(scores, margin, G), [], []
    codes = list(product(product([-1, 1], repeat=3), repeat=3))
    for f, moved in zip(scores, G):
        signs = np.sign(f)

        def value(g, f=f):
            loss = max(distance(g[0], g[1]) - distance(g[0], g[2]) + margin, 0)
            return loss, loss + (np.asarray(g) * f).sum() - np.abs(f).sum()

        bounds.append(max(value(g)[1] for g in codes))
        losses.append(value(signs)[0])
        assert value(signs - moved)[1] == pytest.approx(bounds[-1])
    np.testing.assert_allclose(sums, [sum(bounds), sum(losses)])
    assert (np.array(bounds) >= np.array(losses) - 1e-12).all()
    assert 0 < np.mean(np.array(bounds) > 1e-12) < 1


def test_inference_by_dynamic_programme():
    """Best value for each d+ - d-, bit after bit; then the loss."""
    rng = np.random.default_rng(1)
    n_bits, margin = 20, 2.0
    scores = 0.6 * rng.normal(size=(20, 3, n_bits))
    best_values = []
    for f in scores:
        table = {0: 0.0}
        for q, p, n in f.T:
            grown = {}
            for k, so_far in table.items():
                for a, b, c in product([-1, 1], repeat=3):
                    key = k + (a != b) - (a != c)
                    grown[key] = max(grown.get(key, -np.inf), so_far + a * q + b * p + c * n)
            table = grown
        best_values.append(max(v + max(k + margin, 0) for k, v in table.items()) - np.abs(f).sum())
    for f, best in zip(scores, best_values):
        assert augment(f[None], margin, np.empty((1, 3, n_bits)))[0] == pytest.approx(best, abs=1e-10)


def test_step_by_finite_differences():
    rng = np.random.default_rng(2)
    index = np.arange(12) % 3
    Z = np.hstack([rng.normal(size=(12, 4)), np.ones((12, 1))])
    W = 0.7 * rng.normal(size=(3, 5))
    rows, near, far = TripletSampler(index).draw(rng)
    gradient, sums = step(Z, index, (rows, near, far), W, 2.0, 0.1)
    for j, k in product(range(3), range(5)):
        ends = []
        for e in (1e-6, -1e-6):
            moved = W.copy()
            moved[j, k] += e
            ends.append(step(Z, index, (rows, near, far), moved, 2.0, 0.1)[1][0] / len(rows))
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(-gradient[j, k], abs=1e-5)
    assert sums[0] >= sums[1]


def test_step_takes_the_nearest_of_other_classes():
    rng = np.random.default_rng(3)
    index = np.arange(20) % 4
    Z, W = rng.normal(size=(20, 6)), rng.normal(size=(5, 6))
    rows, near, far = TripletSampler(index).draw(rng)
    codes = Z @ W.T > 0
    total = 0
    for i, p in zip(rows, near):
        apart = min(distance(codes[i], codes[k]) for k in far if index[k] != index[i])
        total += max(distance(codes[i], codes[p]) - apart + 2, 0)
    expected = total + 20 * 0.05 * (W**2).sum()
    assert step(Z, index, (rows, near, far), W, 2.0, 0.1)[1][1] == pytest.approx(expected)


def test_triplets():
    rng = np.random.default_rng(4)
    index = rng.permutation(np.repeat(np.arange(4), [1, 2, 5, 9]))
    sampler, seen = TripletSampler(index), set()
    for _ in range(300):
        rows, near, far = sampler.draw(rng)
        assert sorted(rows) == np.flatnonzero(index != 0).tolist()
        assert (index[near] == index[rows]).all()
        assert (near != rows).all()
        assert (index[far] != index[rows]).all()
        seen |= {("near", *pair) for pair in zip(rows, near)} | {("far", *pair) for pair in zip(rows, far)}
    rows = np.flatnonzero(index != 0)
    assert len(seen) == len(rows) * 16  # every other row is near or far


def test_accuracy_by_loops():
    rng = np.random.default_rng(5)
    apart, given, index = rng.integers(0, 6, (40, 25)), rng.integers(0, 3, 40), rng.integers(0, 3, 25)
    right = 0
    for i in range(40):
        for radius in range(6):
            votes = np.bincount(index[apart[i] <= radius], minlength=3)
            if votes.sum() >= 3 and (votes == votes.max()).sum() == 1:
                right += votes.argmax() == given[i]
                break
    assert accuracy(apart, given, index, 5) == right / 40


def test_asymmetric_distance(fitted, digits, tmp_path):
    X, _, Q, _ = digits
    scores = (Q - fitted.mean_) @ fitted.planes_.T + fitted.intercept_
    train = (X - fitted.mean_) @ fitted.planes_.T + fitted.intercept_
    np.testing.assert_allclose(np.abs(train * fitted.slopes_).mean(axis=0), 0.25)
    soft = np.tanh(scores * fitted.slopes_)
    signs = 2.0 * fitted.transform(X) - 1
    expected = ((soft[:50, None] - signs[None]) ** 2).sum(axis=2) / 4
    fitted.save(tmp_path / "model")
    for encoder in (fitted, load_model(tmp_path / "model")):
        np.testing.assert_allclose(encoder.own_distances(X)(Q[:50]), expected)
    hard = load_model(tmp_path / "model")
    hard.slopes_ = hard.slopes_ * 1e12
    np.testing.assert_allclose(hard.own_distances(X)(Q), hamming(fitted.encode(Q), fitted.encode(X)))


def test_retrieval(fitted, digits):
    X, y, Q, y_query = digits
    same = y_query[:, None] == y

    def precision(distances):
        return average_precision(tie_blocks(distances, same)).mean()

    plain = ITQ(n_bits=16, random_state=0).fit(X)
    found = precision(hamming(fitted.encode(Q), fitted.encode(X)))
    assert found > precision(hamming(plain.encode(Q), plain.encode(X))) + 0.1
    assert precision(fitted.own_distances(X)(Q)) > found
    assert fitted.losses_[-1, 1] < fitted.losses_[0, 1]
    assert (fitted.losses_[:, 0] >= fitted.losses_[:, 1]).all()


def test_weight_decay_is_chosen(digits, monkeypatch):
    """The candidate whose codes classify best, as decided by a replacement of the classifier."""
    X, y = np.concatenate([digits[0], digits[2]]), np.concatenate([digits[1], digits[3]])
    for best in range(3):
        scores, sizes = iter(np.eye(3)[best]), []

        def stand_in(apart, given, index, n_bits, scores=scores, sizes=sizes):
            sizes.append((len(given), len(index), apart.shape))
            return next(scores)

        monkeypatch.setattr(_triplets, "accuracy", stand_in)
        encoder = HDML(n_bits=4, max_iter=1, validation_iter=1, random_state=1).fit(X, y)
        assert encoder.weight_decay_ == WEIGHT_DECAYS[best]
        assert sizes == [(160, 640, (160, 640))] * 3
    assert HDML(n_bits=4, max_iter=1, random_state=1).fit(X[:400], y[:400]).weight_decay_ == WEIGHT_DECAYS[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"margin": 0}, "margin=0: give a finite number above 0"),
        ({"weight_decay": -1}, "weight_decay=-1: give a finite number above 0"),
        ({"learning_rate": np.nan}, "learning_rate=nan: give a finite number above 0"),
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
        ({"validation_iter": 1.5}, "validation_iter=1.5: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        HDML(**settings).fit(*digits[:2])


def test_no_two_rows_alike(digits):
    with pytest.raises(ValueError, match="each of the 5 rows has a label of its own"):
        HDML().fit(digits[0][:5], np.arange(5))
