"""Generators from every kind of random state."""

import numpy as np
import pytest

from structhash._numerics.randomness import generator


@pytest.mark.parametrize(
    "make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)]
)
def test_equal_states_draw_equal_numbers(make):
    np.testing.assert_array_equal(generator(make()).random(5), generator(make()).random(5))


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(0)
    assert generator(rng) is rng


def test_none_draws_other_numbers_each_time():
    assert generator(None).random() != generator(None).random()


@pytest.mark.parametrize("state", [-1, "x", 1.5, {"a": 1}])
def test_other_values_are_refused(state):
    with pytest.raises(
        ValueError, match=r"^random_state=.*: give None, an integer >= 0, a RandomState or a Gen"
    ):
        generator(state)
