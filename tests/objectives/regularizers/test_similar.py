import numpy as np
import pytest

from structhash import CGHash, StructHash
from structhash.objectives.regularizers.similar import Similar
from structhash.pair_weights import PairWeights, score
from structhash.pieces import load


def test_similar_costs_one_and_the_mean_over_its_pairs():
    pairs = np.array([[0, 1], [1, 2], [0, 3], [0, 3]])
    assert Similar(pairs).cost(np.array([0, 1, 0, 1], np.uint8)) == 2.0
    assert Similar(pairs, weight=3.0).cost(np.array([1, 1, 0, 1], np.uint8)) == 1.75
    assert Similar(pairs, weight=0.0).cost(np.array([0, 1, 0, 1], np.uint8)) == 1.0
    assert Similar().cost(np.array([0, 1, 0, 1], np.uint8)) == 1.0
    assert Similar(pairs).upper == np.inf


@pytest.mark.parametrize(
    "pairs", [[0, 1], [[0, 1, 2]], [[0.0, 1.0]], [[-1, 2]], "pairs.npy", 3, [["a", "b"]], [[True, False]]]
)
def test_bad_pairs_are_refused(pairs):
    with pytest.raises(ValueError, match=r"give row numbers >= 0, integers of shape \(m, 2\)"):
        Similar(pairs)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan, True, "much"])
def test_a_bad_weight_is_refused(weight):
    with pytest.raises(ValueError, match=r"weight=.*: give a finite number of at least 0"):
        Similar(weight=weight)


def test_charged_costs_lower_the_score_of_a_bit_that_tells_a_pair_apart():
    pairs = PairWeights(
        np.array([0]), np.array([0, 1]), np.array([1]), np.array([2.0]), np.array([2.0, 2.0, 0.0])
    )
    charged = Similar([[0, 1], [1, 2]], weight=3.0).charge_costs(pairs)
    assert score(charged, np.array([0, 1, 1])) == 2.0 - 3.0 / 2
    assert score(charged, np.array([0, 1, 0])) == 2.0 - 3.0
    np.testing.assert_allclose(charged.degree, charged.weights.sum(axis=1))


@pytest.mark.parametrize("cls", [CGHash, StructHash])
def test_pairs_of_rows_that_are_not_there_are_refused_at_fit(cls, digits):
    with pytest.raises(ValueError, match="pairs name row 30; the training matrix has rows 0 to 29"):
        cls(n_bits=2, regularizer=Similar([[0, 30]])).fit(digits[0][:30], digits[1][:30])


def test_words_may_hold_pairs_next_to_other_settings():
    assert load("regularizers", "similar:pairs=((0,1),(4,7)),weight=2") == Similar([[0, 1], [4, 7]], weight=2)
    assert load("regularizers", "similar:weight=2,pairs=((0,1),(4,7))") == Similar([[0, 1], [4, 7]], weight=2)
    with pytest.raises(ValueError, match="is not one of its settings"):
        load("regularizers", "similar:pairs=((0,1)),5")


def test_charging_for_similar_rows_keeps_them_together(digits):
    """Pairs of different classes that the triplets would part."""
    X, y = digits[0][:80], digits[1][:80]
    pairs = np.column_stack([np.flatnonzero(y == 3)[:6], np.flatnonzero(y == 5)[:6]])
    settings = {"n_bits": 6, "n_near": 5, "n_far": 10, "C": 100.0, "random_state": 0}
    apart = []
    for weight in (0.0, 20.0):
        model = CGHash(regularizer=Similar(pairs, weight), **settings).fit(X, y)
        bits = model.transform(X)
        apart.append(float((bits[pairs[:, 0]] != bits[pairs[:, 1]]).mean(axis=0) @ model.weights_))
    assert apart[0] > 2 * apart[1]
