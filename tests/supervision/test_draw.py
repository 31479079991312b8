"""Draws without replacement, and the shape of comparisons."""

import numpy as np
import pytest

from structhash.supervision._draw import draw_others, draw_some, make_comparisons, pointers


@pytest.mark.parametrize("count", [0, 1, 4, 6, 9])
def test_members_of_a_pool_are_drawn_once_each(count, rng):
    pool = np.array([3, 8, 9, 20, 21, 40])
    drawn = draw_some(rng, pool, count).tolist()
    assert len(drawn) == len(set(drawn)) == min(count, 6)
    assert set(drawn) <= set(pool.tolist())


@pytest.mark.parametrize("taken", [[], [0], [9], [0, 1, 2], [2, 5, 9], list(range(10))])
def test_numbers_that_are_not_taken_are_drawn_once_each(taken, rng):
    for count in (1, 4, 12):
        drawn = draw_others(rng, 10, np.array(taken, np.int64), count).tolist()
        assert len(drawn) == len(set(drawn)) == min(count, 10 - len(taken))
        assert set(drawn) <= set(range(10)) - set(taken)


def test_pointers_cut_a_list_of_arrays():
    np.testing.assert_array_equal(pointers([np.zeros(2), np.zeros(0), np.zeros(3)]), [0, 2, 2, 5])


def test_comparisons_are_made_from_lists(partners):
    near, far = [np.array([1, 2]), np.array([3])], [np.array([4]), np.array([0, 5])]
    made = make_comparisons([7, 6], near, far, np.array([1.0, 2.0]))
    assert [(i, a.tolist(), b.tolist()) for i, a, b in partners(made)] == [(7, [1, 2], [4]), (6, [3], [0, 5])]
    assert [part.dtype for part in made] == ["i8", "i4", "i8", "i4", "i8", "f8"]
