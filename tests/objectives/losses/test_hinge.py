"""The hinge: its values, its dual, its cutting planes."""

import numpy as np
import pytest

from structhash.objectives.losses.hinge import Hinge


def test_strong_duality(check_dual):
    check_dual(Hinge(), lambda mu, c: mu.sum(), capped=True)


def test_values_by_hand():
    np.testing.assert_array_equal(Hinge().value(np.array([-1.0, 1.0, 2.0])), [2, 0, 0])
    np.testing.assert_array_equal(Hinge().slope(np.array([-1.0, 1.0, 2.0])), [-1, 0, 0])
    np.testing.assert_array_equal(Hinge().conjugate(np.array([-2.0, -1.0, 0.0, 1.0])), [np.inf, -1, 0, np.inf])


def test_the_plane_of_the_hinge_is_its_subgradient(rng):
    loss, ptr = Hinge(), (np.array([0, 3, 5]), np.array([0, 4, 9]))
    near, far = rng.integers(0, 6, 5) / 2, rng.integers(0, 6, 9) / 2  # with margins on the kink
    value, pull, push = loss.sums(near, far, *ptr)
    twice, above, below = loss.most_violated(near, far, *ptr)
    np.testing.assert_array_equal(above, pull)
    np.testing.assert_array_equal(below, push)
    for q, (P, N) in enumerate([(3, 4), (2, 5)]):
        ours, theirs = slice(*ptr[0][q : q + 2]), slice(*ptr[1][q : q + 2])
        moved = 2 / (P * N) * (below[theirs] @ far[theirs] - above[ours] @ near[ours])
        assert twice[q] - moved == pytest.approx(2 * value[q] / (P * N))
