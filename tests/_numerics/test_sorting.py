"""Stable sorts of lists against numpy."""

import numpy as np
import pytest

from structhash._numerics.sorting import lists_ascend, sort_lists, stable_sort, unsort_lists


@pytest.mark.parametrize("n", [0, 1, 7, 256, 257, 1000])
def test_stable_sort(n):
    drawn = np.random.default_rng(3).integers(0, 9, n).astype(float)
    for values in (drawn, np.sort(drawn)):
        order, ranked = stable_sort(values)
        np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
        np.testing.assert_array_equal(ranked, np.sort(values))


def test_sort_lists():
    """The third list starts below the end of the second; only the last one is out of order."""
    ptr = np.array([0, 0, 3, 5, 9])
    values = np.array([1.0, 2, 2, 0, 4, 3, 1, 3, 0])
    assert lists_ascend(values[:5], ptr[:-1])
    assert lists_ascend(values[:0], ptr[:1])
    assert not lists_ascend(values, ptr)
    order, ranked = sort_lists(values, ptr)
    np.testing.assert_array_equal(order, [0, 1, 2, 0, 1, 3, 1, 0, 2])
    np.testing.assert_array_equal(ranked, [1, 2, 2, 0, 4, 0, 1, 3, 3])
    np.testing.assert_array_equal(unsort_lists(ranked, order, ptr), values)
