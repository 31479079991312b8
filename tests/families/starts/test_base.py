"""The contract of every start."""

import dataclasses

import numpy as np
import pytest

from structhash.families.starts.base import Start
from structhash.pieces import load, names


@pytest.mark.parametrize("name", names("starts"))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 7, 70])
def test_every_start_gives_planes_in_the_dtype_of_its_features(problem, name, dtype, d):
    Z, pairs = problem(d, dtype)
    start = load("starts", name)
    assert isinstance(start, Start)
    planes = start(Z, pairs, np.random.default_rng(0))
    m = planes["normal"].shape[1]
    assert (planes["normal"].shape, planes["offset"].shape) == ((d, m), (m,))
    assert planes["normal"].dtype == planes["offset"].dtype == dtype
    assert all(np.isfinite(part).all() for part in planes.values())
    again = start(Z, pairs, np.random.default_rng(0))
    assert all(np.array_equal(planes[key], again[key]) for key in planes)


@pytest.mark.parametrize("name", names("starts"))
def test_every_start_is_a_frozen_dataclass(name):
    start = load("starts", name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        start.anything = 1
