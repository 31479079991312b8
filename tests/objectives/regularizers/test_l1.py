import numpy as np

from structhash.objectives.regularizers.l1 import L1


def test_l1_costs_one_a_bit_without_an_upper_bound():
    assert L1().cost(np.zeros(3)) == L1().cost(np.array([0, 1])) == 1
    assert L1().upper == np.inf
