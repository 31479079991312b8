"""FastHash: graph cuts against enumeration, trees against a plain search, boosting against its formulas."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import ITQ, LSH, FastHash
from structhash.baselines._boosted_trees import boost, level_edges, quantise, votes
from structhash.baselines._label_pairs import draw_pairs
from structhash.baselines._two_step import (
    best_block,
    class_blocks,
    energy,
    graph_cut,
    pair_loss,
    pair_weights,
)
from structhash.baselines.fast_hash import _row_weights


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("loss", ["ksh", "hinge", "bre"])
def test_losses(loss):
    D = np.arange(8)
    for similar in (True, False):
        s = 1 if similar else -1
        expected = {
            "ksh": (s - (8 - 2 * D) / 8) ** 2,
            "bre": (D / 8 if similar else 1 - D / 8) ** 2,
            "hinge": (D / 8) ** 2 if similar else np.maximum(0, 0.5 - D / 8) ** 2,
        }[loss]
        found = pair_loss(loss, D, np.full(8, similar), 8)
        np.testing.assert_allclose(found / (4 * 64), expected)
        assert found.dtype.kind == "i"


@pytest.mark.parametrize("loss", ["ksh", "hinge", "bre"])
def test_weights_give_the_loss_of_the_next_bit(loss):
    rng = np.random.default_rng(0)
    pairs = draw_pairs(rng.integers(0, 3, 12), 20, 20, rng)
    D = rng.integers(0, 6, len(pairs.first))
    a = pair_weights(loss, D, pairs.similar, 6)
    rest = []
    for _ in range(10):
        z = rng.choice([-1, 1], 12)
        after = D + (z[pairs.first] != z[pairs.second])
        rest.append(pair_loss(loss, after, pairs.similar, 6).sum() - energy(pairs, a, z) / 2)
    np.testing.assert_allclose(rest, rest[0])


@pytest.mark.parametrize("seed", range(20))
def test_block_against_enumeration(seed):
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(7, 1)
    keep = rng.random(len(first)) < 0.7
    first, second = first[keep], second[keep]
    ties, pull = rng.integers(0, 6, len(first)), rng.integers(-12, 13, 7)

    def value(z):
        return pull @ z - np.sum(ties * z[first] * z[second])

    least = min(value(np.array(z)) for z in itertools.product([-1, 1], repeat=7))
    assert value(best_block(first, second, ties, pull)) == least


@pytest.mark.parametrize("seed", range(5))
def test_sweeps_never_raise_the_energy(seed):
    rng = np.random.default_rng(seed)
    index = rng.integers(0, 3, 40)
    pairs = draw_pairs(index, 5, 5, rng)
    blocks = class_blocks(pairs, index)
    a = pair_weights("ksh", rng.integers(0, 8, len(pairs.first)), pairs.similar, 8)
    energies = [energy(pairs, a, np.ones(40))]
    for n_sweeps in (1, 2, 3, 6):
        z = graph_cut(blocks, a, n_sweeps, np.random.default_rng(9))
        energies.append(energy(pairs, a, z))
    assert (np.diff(energies) <= 0).all()
    for block in blocks:  # at the end no change of a single row should gain
        for i in block.rows:
            turned = z.copy()
            turned[i] *= -1
            assert energy(pairs, a, turned) >= energies[-1]


def test_levels():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.standard_normal(500), np.full(500, 3.0), rng.integers(0, 4, 500), 1e9 + rng.random(500)]
    )
    edges = level_edges(X)
    assert np.isfinite(edges).sum(axis=1)[1:3].tolist() == [0, 3]
    low, high = X.min(axis=0), X.max(axis=0)
    extra = (high - low) / 1000
    full = np.floor((X - low + extra) / (high - low + 2 * extra + (high == low)) * 255 + 0.5)
    levels = quantise(X, edges).T
    for f in range(4):  # the same partition of the rows into levels
        assert len(set(zip(levels[:, f], full[:, f]))) == len(np.unique(levels[:, f])) == levels[:, f].max() + 1


def naive_tree(X, side, weights, depth):
    """Answers of the rows in the greedy tree of least weighted error, cuts between all values."""
    w_plus, w_minus = weights[side > 0].sum(), weights[side < 0].sum()
    answer = np.full(len(X), 1.0 if w_plus >= w_minus else -1.0)
    if depth == 0 or min((side > 0).sum(), (side < 0).sum()) <= 5:
        return answer
    best = (np.inf,)
    for f in range(X.shape[1]):
        for v in np.unique(X[:, f])[:-1]:
            above = X[:, f] > v
            wrong = weights[above & (side > 0)].sum() + weights[~above & (side < 0)].sum()
            error = min(wrong, weights.sum() - wrong)
            if error < best[0] - 1e-12:
                best = (error, above)
    if len(best) == 1:
        return answer
    for part in (best[1], ~best[1]):
        answer[part] = naive_tree(X[part], side[part], weights[part], depth - 1)
    return answer


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_boosting_against_naive(depth):
    rng = np.random.default_rng(depth)
    X = rng.integers(0, 20, (150, 4)).astype(float)
    bits = (X[:, 0] - 10) * (X[:, 1] - 9) + 20 * rng.standard_normal(150) > 0
    side, weights = np.where(bits, 1.0, -1.0), rng.random(150) + 0.5
    edges = level_edges(X)
    trees = boost(quantise(X, edges), edges, bits, weights, 6, depth, 99, rng)
    assert trees["leaf"].shape == (6, 2**depth)
    weights *= 150 / weights.sum()
    total = np.zeros(150)
    for t in range(6):
        order = np.argsort(-weights, kind="stable")
        mass = np.cumsum(weights[order])
        heavy = order[: 1 + np.argmax(mass > 0.99 * mass[-1])] if (mass > 0.99 * mass[-1]).any() else order
        one = {name: array[None, t : t + 1] for name, array in trees.items()}
        answer = votes(X, **one)[:, 0]
        expected = naive_tree(X[heavy], side[heavy], weights[heavy], depth)
        np.testing.assert_array_equal(np.sign(answer[heavy]), expected)
        good = weights[np.sign(answer) == side].sum()
        step = np.log(good / (weights.sum() - good)) / 2
        np.testing.assert_allclose(np.abs(answer), step)
        weights *= np.exp(-step * side * np.sign(answer))
        total += answer
    np.testing.assert_allclose(votes(X, **{name: array[None] for name, array in trees.items()})[:, 0], total)


def test_boosting_reaches_all_rows(digits):
    X, y = digits[0][:400], digits[1][:400]
    bits = np.isin(y, [1, 4, 7, 8])
    edges = level_edges(X)
    levels = quantise(X, edges)
    right = []
    for n_features in (64, 10):
        trees = boost(levels, edges, bits, np.ones(400), 200, 4, n_features, np.random.default_rng(0))
        one = {name: array[None] for name, array in trees.items()}
        right.append(np.mean((votes(X, **one)[:, 0] >= 0) == bits))
        held = np.mean((votes(digits[0][400:], **one)[:, 0] >= 0) == np.isin(digits[1][400:], [1, 4, 7, 8]))
        assert held > 0.88
    assert min(right) == 1


def test_row_weights():
    rng = np.random.default_rng(0)
    pairs = draw_pairs(np.arange(9) % 3, 4, 4, rng)
    a = rng.integers(-3, 4, len(pairs.first))
    expected = np.zeros(9)
    for i, j, size in zip(pairs.first, pairs.second, np.abs(a)):
        expected[i] += size
        expected[j] += size
    np.testing.assert_array_equal(_row_weights(pairs, a, 9), expected)
    np.testing.assert_array_equal(_row_weights(pairs, 0 * a, 9), 1)


def test_retrieval_and_prefix(digits):
    X, y = digits
    long, short = (FastHash(m, n_trees=60, random_state=0).fit(X[:400], y[:400]) for m in (12, 6))
    np.testing.assert_array_equal(long.encode(X, n_bits=6), short.encode(X))
    score = long.score(X[400:], y[400:])
    assert score > 0.15 + ITQ(12, random_state=0).fit(X[:400]).score(X[400:], y[400:])
    assert score > 0.25 + LSH(12, random_state=0).fit(X[:400]).score(X[400:], y[400:])


def test_the_batch_does_not_matter(digits):
    X, y = digits[0][:200], digits[1][:200]
    encoder = FastHash(6, n_trees=20, random_state=0).fit(X, y)
    one_by_one = np.concatenate([encoder.encode(X[i : i + 1]) for i in range(200)])
    np.testing.assert_array_equal(one_by_one, encoder.encode(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "other"}, "loss='other': give one of ksh, hinge, bre"),
        ({"depth": 11}, "depth=11: give an integer from 1 to 10"),
        ({"depth": 0}, "depth=0: give an integer of at least 1"),
        ({"n_trees": 0}, "n_trees=0: give an integer of at least 1"),
        ({"n_features": 0}, "n_features=0: give an integer of at least 1"),
        ({"n_sweeps": 0}, "n_sweeps=0: give an integer of at least 1"),
        ({"n_similar": 0}, "n_similar=0: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        FastHash(**settings).fit(*digits)
