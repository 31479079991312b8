"""The contract of every regulariser; a new file is found, trains, and its costs are charged."""

import numpy as np
import pytest

from structhash import CGHash, StructHash, load_model
from structhash.objectives.regularizers.base import Regularizer
from structhash.objectives.regularizers.linf import LInf
from structhash.objectives.regularizers.similar import Similar
from structhash.pair_weights import PairWeights
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


@pytest.mark.parametrize("piece", [Similar([[0, 1]]), Similar([[0, 1], [4, 7]], weight=2.5), LInf(0.25)])
def test_its_words_bring_it_back(piece):
    assert load("regularizers", spell(piece)) == piece
    assert hash(load("regularizers", spell(piece))) == hash(piece)


@pytest.mark.slow
@pytest.mark.parametrize("cls", [CGHash, StructHash])
@pytest.mark.parametrize("regularizer", ["linf:bound=0.25", LInf(0.25), Similar([[0, 1], [2, 3]], weight=0.5)])
def test_estimators_take_it_and_save_it(cls, regularizer, digits, tmp_path):
    X, y = digits[0][:60], digits[1][:60]
    for schedule in names("schedules"):
        settings = {"schedule": schedule, "n_near": 5, "n_far": 5, "random_state": 0}
        model = cls(n_bits=4, regularizer=regularizer, **settings).fit(X, y)
        piece = load("regularizers", regularizer)
        assert 0 < model.weights_.max() <= piece.upper
        model.save(tmp_path / "model")
        again = load_model(tmp_path / "model")
        assert load("regularizers", again.regularizer) == piece
        np.testing.assert_array_equal(again.fit(X, y).weights_, model.weights_)


def test_a_regularizer_gives_its_cost_alone():
    with pytest.raises(NotImplementedError):
        Regularizer().cost(np.zeros(3))
    pairs = PairWeights(*np.zeros((5, 0)))
    assert Regularizer().charge_costs(pairs) is pairs
    assert Regularizer().upper == np.inf


@pytest.mark.parametrize("piece", [load("regularizers", name) for name in names("regularizers")], ids=repr)
def test_every_regularizer_is_one(piece):
    assert isinstance(piece, Regularizer)


TOY = '''
"""A regulariser that is only in a test."""

from dataclasses import dataclass

from structhash.objectives.regularizers.base import Regularizer


@dataclass(frozen=True)
class ToyRegularizer(Regularizer):
    """l1 with a price."""

    price: float = 1.0

    def cost(self, bit):
        return self.price
'''


@pytest.mark.parametrize("cls", [CGHash, StructHash])
def test_a_new_file_is_a_new_regularizer_that_trains(cls, drop_piece, digits):
    """At twice the price and twice C, the weights are the same."""
    drop_piece("regularizers", TOY)
    assert "toy_regularizer" in names("regularizers")
    X, y = digits[0][:60], digits[1][:60]
    settings = {"n_bits": 3, "n_near": 5, "n_far": 10, "random_state": 0}
    one, two = (
        cls(regularizer=name, C=C, **settings).fit(X, y)
        for name, C in (("toy_regularizer:price=2", 60), ("l1", 30))
    )
    assert two.weights_.any()
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_allclose(one.weights_, two.weights_, rtol=1e-2)
