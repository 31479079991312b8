"""The squared hinge: its values, its dual."""

import numpy as np

from structhash.objectives.losses.squared_hinge import SquaredHinge


def test_strong_duality(check_dual):
    check_dual(SquaredHinge(), lambda mu, c: (mu - mu**2 / (4 * c)).sum(), capped=False)


def test_values_by_hand():
    loss = SquaredHinge()
    np.testing.assert_array_equal(loss.value(np.array([-1.0, 0.0, 1.0, 2.0])), [4, 1, 0, 0])
    np.testing.assert_array_equal(loss.slope(np.array([-1.0, 0.0, 1.0, 2.0])), [-4, -2, 0, 0])
    np.testing.assert_array_equal(loss.conjugate(np.array([-2.0, 0.0, 1.0])), [-1, 0, np.inf])


def test_the_loss_of_separated_points_is_nothing(rng):
    near, far = rng.random(5), 2 + rng.random(7)
    value, pull, push = SquaredHinge().sums(near, far, np.array([0, 5]), np.array([0, 7]))
    assert value == 0
    assert not pull.any()
    assert not push.any()
