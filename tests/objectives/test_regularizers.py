import numpy as np
import pytest

from structhash import CGHash, StructHash, load_model
from structhash.objectives.regularizers.l1 import L1
from structhash.objectives.regularizers.linf import LInf
from structhash.objectives.regularizers.similar import Similar
from structhash.pieces import load, names, spell


@pytest.mark.parametrize("name", names("regularizers"))
def test_every_regularizer_bounds_the_weights(name):
    regularizer = load("regularizers", name)
    cost = regularizer.cost(np.array([0, 1, 1], np.uint8))
    assert 0 <= cost < np.inf
    assert regularizer.upper > 0
    assert cost > 0 or regularizer.upper < np.inf  # else the master has no optimum


@pytest.mark.parametrize("name", names("regularizers"))
def test_a_bit_and_its_complement_cost_the_same(name):
    bit = np.array([0, 1, 1, 0, 1], np.uint8)
    regularizer = load("regularizers", name)
    assert regularizer.cost(bit) == regularizer.cost(1 - bit)


def test_l1_costs_one_a_bit_without_an_upper_bound():
    assert L1().cost(np.zeros(3)) == L1().cost(np.array([0, 1])) == 1
    assert L1().upper == np.inf


def test_linf_costs_nothing_up_to_its_bound():
    assert LInf(0.5).cost(np.array([0, 1])) == 0
    assert LInf(0.5).upper == 0.5
    assert load("regularizers", "linf:bound=0.5") == LInf(0.5)


@pytest.mark.parametrize("bound", [0, -1.0, np.inf, np.nan, True, "wide", None])
def test_a_bad_bound_is_refused(bound):
    with pytest.raises(ValueError, match=r"bound=.*: give a finite number above 0"):
        LInf(bound)


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


RANKED = {CGHash: {}, StructHash: {"ranking": "sndcg"}}  # distilling has no regulariser


@pytest.mark.parametrize("cls", [CGHash, StructHash])
def test_pairs_of_rows_that_are_not_there_are_refused_at_fit(cls, digits):
    with pytest.raises(ValueError, match="pairs name row 30; the training matrix has rows 0 to 29"):
        cls(n_bits=2, regularizer=Similar([[0, 30]]), **RANKED[cls]).fit(digits[0][:30], digits[1][:30])


@pytest.mark.parametrize("piece", [Similar([[0, 1]]), Similar([[0, 1], [4, 7]], weight=2.5), LInf(0.25)])
def test_its_words_bring_it_back(piece):
    assert load("regularizers", spell(piece)) == piece
    assert hash(load("regularizers", spell(piece))) == hash(piece)


def test_words_may_hold_pairs_next_to_other_settings():
    assert load("regularizers", "similar:pairs=((0,1),(4,7)),weight=2") == Similar([[0, 1], [4, 7]], weight=2)
    assert load("regularizers", "similar:weight=2,pairs=((0,1),(4,7))") == Similar([[0, 1], [4, 7]], weight=2)
    with pytest.raises(ValueError, match="is not one of its settings"):
        load("regularizers", "similar:pairs=((0,1)),5")


@pytest.mark.parametrize("cls", [CGHash, StructHash])
@pytest.mark.parametrize("regularizer", ["linf:bound=0.25", LInf(0.25), Similar([[0, 1], [2, 3]], weight=0.5)])
def test_estimators_take_it_and_save_it(cls, regularizer, digits, tmp_path):
    X, y = digits[0][:60], digits[1][:60]
    for schedule in names("schedules"):
        settings = {"schedule": schedule, "n_near": 5, "n_far": 5, "random_state": 0}
        model = cls(n_bits=4, regularizer=regularizer, **settings, **RANKED[cls]).fit(X, y)
        piece = load("regularizers", regularizer)
        assert 0 < model.weights_.max() <= piece.upper
        model.save(tmp_path / "model")
        again = load_model(tmp_path / "model")
        assert load("regularizers", again.regularizer) == piece
        np.testing.assert_array_equal(again.fit(X, y).weights_, model.weights_)


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
