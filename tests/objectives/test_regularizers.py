import numpy as np
import pytest

from structhash.objectives.regularizers import L1
from structhash.pieces import load, names


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
