"""Sums of one code for many queries at once."""

import numpy as np
import pytest
from numba import njit

from structhash.search._lanes import FEW_LANES, MANY_LANES, _interpreted, near_in_few_lanes, near_in_many_lanes


@njit
def near_in_few(tables, codes, row, start, limits):
    return near_in_few_lanes(tables, codes, row, start, limits)


@njit
def near_in_many(tables, codes, row, start, limits):
    return near_in_many_lanes(tables, codes, row, start, limits)


EVERY = pytest.mark.parametrize(("near", "lanes"), [(near_in_few, FEW_LANES), (near_in_many, MANY_LANES)])


@EVERY
@pytest.mark.parametrize("n_bytes", [1, 2, 7, 8, 9, 16, 33])
@pytest.mark.parametrize("start", [0, 700, 65_000])
def test_lanes_whose_sum_is_at_most_the_limit(near, lanes, n_bytes, start, rng):
    tables = rng.integers(0, 256, (n_bytes, 256, lanes), dtype=np.uint8)
    codes = rng.integers(0, 256, (40, n_bytes), dtype=np.uint8)
    for row in range(40):
        sums = np.minimum(start + sum(tables[b, codes[row, b]].astype(int) for b in range(n_bytes)), 65_535)
        limits = np.clip(sums + rng.integers(-1, 2, lanes), 0, 65_535).astype(np.uint16)
        expected = sum(1 << lane for lane in range(lanes) if sums[lane] <= limits[lane])
        assert near(tables, codes, row, np.uint16(start), limits) == expected
        assert _interpreted(tables, codes, row, np.uint16(start), limits) == expected


@EVERY
def test_sums_stop_at_the_largest_number(near, lanes):
    """A sum that began again at 0 would let a far code pass for a near one."""
    tables, codes = np.full((300, 256, lanes), 255, np.uint8), np.zeros((1, 300), np.uint8)
    for limit, expected in ((65_534, 0), (65_535, 2**lanes - 1)):
        limits = np.full(lanes, limit, np.uint16)
        assert near(tables, codes, 0, np.uint16(0), limits) == expected
        assert _interpreted(tables, codes, 0, np.uint16(0), limits) == expected


INTERPRETED = """
import numpy as np
import structhash.search._scan as scan
from structhash.codes import prepare_values, prepared_distances
from structhash.search import Exact
scan._MOST_SUMMED = 0
rng = np.random.default_rng(0)
codes, queries = rng.integers(0, 256, (60, 2), dtype=np.uint8), prepare_values(rng.normal(size=(3, 16)))
index = Exact(16)
index.add(codes)
order = np.argsort(prepared_distances(queries, codes), axis=1, kind="stable")
for most_by_planes in (0, 10):
    scan._MOST_BY_PLANES = most_by_planes
    print((index.search(queries, 60)[1] == order).all())
"""


def test_search_where_numba_compiles_nothing(interpreted):
    assert interpreted(INTERPRETED) == "True\nTrue\n"
