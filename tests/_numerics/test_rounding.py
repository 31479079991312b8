"""Sums that differ by rounding errors only are tied."""

import numpy as np

from structhash._numerics.rounding import merge_ties


def test_sums_in_another_order_tie(rng):
    weights = rng.random(20)
    sums = np.array([weights[rng.permutation(20)].sum() for _ in range(50)])
    assert len(np.unique(sums)) > 1
    assert len(np.unique(merge_ties(sums, weights.sum()))) == 1


def test_distances_stay_in_order_and_differ_beyond_the_digits():
    distances = np.array([0.0, 0.001, 0.0011, 0.5, 1.0])
    np.testing.assert_array_equal(merge_ties(distances, 1.0, digits=3), [0, 1, 1, 500, 1000])
    np.testing.assert_array_equal(merge_ties(distances, 1.0, digits=4), [0, 10, 11, 5000, 10000])


def test_a_largest_distance_of_zero_divides_nothing_by_zero():
    np.testing.assert_array_equal(merge_ties(np.zeros(3), 0.0), [0, 0, 0])
