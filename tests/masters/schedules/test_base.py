"""The contract of every schedule."""

import numpy as np
import pytest

from structhash.masters.schedules.base import Schedule
from structhash.pieces import load, names


@pytest.fixture
def bits(rng):
    return rng.integers(0, 2, (9, 30), dtype=np.uint8)


@pytest.mark.parametrize("name", names("schedules"))
@pytest.mark.parametrize("n_bits", range(1, 10))
def test_expanded_weights_give_the_distances_of_the_reduced_columns(name, n_bits, bits, rng):
    schedule = load("schedules", name)
    costs = rng.random(n_bits)
    columns, reduced = schedule.reduce(bits[:n_bits], costs)
    u = rng.random(len(columns))
    weights = schedule.expand(u, n_bits)
    assert weights.shape == (n_bits,)
    np.testing.assert_allclose(weights @ bits[:n_bits], u @ columns, rtol=1e-13)
    assert weights @ costs == pytest.approx(u @ reduced)


@pytest.mark.parametrize("name", names("schedules"))
def test_reducing_bit_by_bit_equals_reducing_all_at_once(name, bits, rng):
    schedule = load("schedules", name)
    costs = rng.random(len(bits))
    columns, reduced = np.zeros((0, 30), np.uint8), np.zeros(0)
    for t in range(len(bits)):
        columns, reduced = schedule.reduce(np.vstack([columns, bits[t : t + 1]]), np.append(reduced, costs[t]))
        at_once = schedule.reduce(bits[: t + 1], costs[: t + 1])
        np.testing.assert_array_equal(columns, at_once[0])
        np.testing.assert_allclose(reduced, at_once[1], rtol=1e-14)


@pytest.mark.parametrize("name", names("schedules"))
def test_real_coefficients_are_reduced_as_they_are(name, bits, rng):
    schedule = load("schedules", name)
    slopes = rng.standard_normal((9, 4))
    reduced, _ = schedule.reduce(slopes, np.ones(9))
    u = rng.random(len(reduced))
    np.testing.assert_allclose(u @ reduced, schedule.expand(u, 9) @ slopes, atol=1e-13)
    assert schedule.reduce(np.zeros((9, 0)), np.ones(9))[0].shape == (len(reduced), 0)


@pytest.mark.parametrize("name", names("schedules"))
def test_every_schedule_keeps_the_protocol(name):
    assert isinstance(load("schedules", name), Schedule)
