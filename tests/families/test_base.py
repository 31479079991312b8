"""The contract of every family of bits; a new one is found and must keep it."""

import dataclasses

import numpy as np
import pytest

from structhash.families.base import Family
from structhash.families.starts.spectral import Spectral
from structhash.pair_weights import Comparisons, pair_graph, score
from structhash.pieces import load, names
from structhash.supervision import Labels


@pytest.fixture(params=names("families"))
def family(request):
    return load("families", request.param)


@pytest.fixture(params=[np.float64, np.float32])
def learned(request, family, digits):
    """Family, rows, their features, the state, pair weights and three bits learned one after another."""
    X, y = digits[0][:120].astype(request.param), digits[1][:120]
    rng = np.random.default_rng(0)
    state = family.prepare(X, rng)
    Z = family.features(X, state)
    graph = pair_graph(Labels(y, 5, 10).comparisons(X, rng), len(X))
    pairs = [graph.pair_weights(graph_signs(graph) * rng.random(len(graph.indices)), Z.dtype) for _ in range(3)]
    return family, X, Z, state, pairs, [family.learn(Z, each, rng, Spectral()) for each in pairs]


def graph_signs(graph):
    """Near entries pull, far ones push: there are 5 near ones to 10 far ones."""
    n = len(graph.indices) // 3
    return np.repeat([-1.0, 1.0], [n, 2 * n])


def test_family_is_a_frozen_dataclass_of_settings(family):
    assert isinstance(family, Family)
    with pytest.raises(dataclasses.FrozenInstanceError):
        family.anything = 1


def test_state_and_parameters_are_plain_arrays_in_the_dtype_of_the_rows(learned):
    _, X, Z, state, _, params = learned
    assert Z.shape[0] == len(X)
    for part in (*state.values(), *(value for each in params for value in each.values()), Z):
        assert isinstance(part, np.ndarray)
        assert part.dtype == X.dtype or not np.issubdtype(part.dtype, np.floating)
    for each in params:
        assert all(len(value) == 1 for value in each.values())


def test_bits_decided_together_equal_those_decided_one_by_one(learned):
    family, _, Z, _, _, params = learned
    together = {key: np.concatenate([each[key] for each in params]) for key in params[0]}
    decided = family.decide(Z, together)
    assert decided.shape == (len(Z), 3)
    for column, each in zip(decided.T, params):
        alone = family.decide(Z, each)
        assert alone.shape == (len(Z), 1)
        np.testing.assert_allclose(column, alone[:, 0], atol=1e-4)


def test_a_row_gets_the_same_bit_alone_and_in_a_batch(learned):
    family, X, Z, state, _, params = learned
    for i in range(0, 120, 17):
        one = family.decide(family.features(X[i : i + 1], state), params[0])
        np.testing.assert_allclose(one, family.decide(Z, params[0])[i : i + 1], atol=1e-4)


def test_a_learned_bit_scores_above_any_shuffling_of_it(learned, rng):
    family, _, Z, _, pairs, params = learned
    for each, weights in zip(params, pairs):
        bit = family.decide(Z, each)[:, 0] > 0
        assert score(weights, bit) > max(score(weights, rng.permutation(bit)) for _ in range(50))


def test_learning_is_the_same_for_the_same_generator(learned):
    family, X, Z, state, pairs, _ = learned
    again = family.prepare(X, np.random.default_rng(0))
    assert all(np.array_equal(again[key], state[key]) for key in state)
    one, two = (family.learn(Z, pairs[0], np.random.default_rng(5), Spectral()) for _ in range(2))
    assert all(np.array_equal(one[key], two[key]) for key in one)


def test_two_points_to_be_parted_are_parted(family):
    one = np.array([0, 1])
    comparisons = Comparisons(np.array([0]), np.array([1]), one, np.array([2]), one)
    X = np.array([[0.0, 1.0], [0.1, 0.0], [5.0, 0.5]])
    rng = np.random.default_rng(0)
    Z = family.features(X, family.prepare(X, rng))
    params = family.learn(Z, pair_graph(comparisons, 3).pair_weights(np.array([-1.0, 1.0])), rng, Spectral())
    bit = family.decide(Z, params)[:, 0] > 0
    assert bit[0] == bit[1] != bit[2]


def test_pair_weights_that_cancel_are_harmless(family, digits):
    X = digits[0][:20]
    rng = np.random.default_rng(0)
    Z = family.features(X, family.prepare(X, rng))
    one = np.array([0, 1])
    graph = pair_graph(Comparisons(np.array([0]), np.array([1]), one, np.array([1]), one), 20)
    params = family.learn(Z, graph.pair_weights(np.array([-1.0, 1.0])), rng, Spectral())
    assert np.isfinite(family.decide(Z, params)).all()
