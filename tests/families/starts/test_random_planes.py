"""Random planes lie among the points."""

import numpy as np
import pytest

from structhash.families.starts.random_planes import RandomPlanes


def test_random_planes_cut_the_points_in_two(problem):
    Z, pairs = problem(6)
    planes = RandomPlanes(count=40)(Z, pairs, np.random.default_rng(0))
    share = (Z @ planes["normal"] + planes["offset"] > 0).mean(axis=0)
    assert planes["normal"].shape == (6, 40)
    assert (share > 0).all()
    assert (share < 1).all()


def test_bad_settings():
    with pytest.raises(ValueError, match="count=0: give an integer of at least 1"):
        RandomPlanes(count=0)
