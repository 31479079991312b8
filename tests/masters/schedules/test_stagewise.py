"""One shared weight for the old bits."""

import numpy as np

from structhash.masters.schedules.stagewise import Stagewise


def test_stagewise_shares_one_weight_among_the_old_bits(rng):
    bits = rng.integers(0, 2, (9, 30), dtype=np.uint8)
    columns, costs = Stagewise().reduce(bits, np.ones(9))
    np.testing.assert_array_equal(columns, [bits[:8].sum(axis=0), bits[8]])
    np.testing.assert_array_equal(costs, [8, 1])
    np.testing.assert_array_equal(Stagewise().expand(np.array([0.5, 2.0]), 4), [0.5, 0.5, 0.5, 2.0])


def test_a_sum_of_more_than_255_bits_does_not_overflow():
    columns = np.ones((1, 3), np.uint8)
    for _ in range(300):
        columns, _ = Stagewise().reduce(
            np.vstack([columns, np.ones((1, 3), np.uint8)]), np.ones(len(columns) + 1)
        )
    np.testing.assert_array_equal(columns, [[300] * 3, [1] * 3])
