"""Judgements: the checked reader, the split by query, the steps of the gain."""

import numpy as np
import pytest

from structhash.supervision.judgements import by_query, check_judgements, gain_steps

TABLE = np.array([[2, 9, 3], [0, 5, 2], [0, 1, 0], [2, 2, 0], [0, 5, 2]])
SORTED = [[0, 1, 0], [0, 5, 2], [2, 2, 0], [2, 9, 3]]


@pytest.mark.parametrize("kind", [list, np.int64, np.int32, np.uint8])
def test_judgements_come_back_sorted_and_each_once(kind):
    given = TABLE.tolist() if kind is list else TABLE.astype(kind)
    found = check_judgements(given, 3, 10)
    assert found.tolist() == SORTED
    assert found.dtype == np.int64
    np.testing.assert_array_equal(check_judgements(found, 3, 10), found)


def test_the_given_array_stays_as_it_is():
    given = TABLE.copy()
    check_judgements(given, 3, 10)
    np.testing.assert_array_equal(given, TABLE)


@pytest.mark.parametrize(
    ("judgements", "message"),
    [
        (TABLE.astype(float), r"float64 of shape \(5, 3\); give integer rows .*, by astype\(int\) where"),
        (TABLE > 0, r"judgements are bool of shape \(5, 3\)"),
        (TABLE[:, :2], r"judgements are int64 of shape \(5, 2\)"),
        (TABLE[:0], r"judgements are int64 of shape \(0, 3\)"),
        (TABLE[0], r"judgements are int64 of shape \(3,\)"),
        (TABLE + np.array([1, 0, 0]), "judged queries run from 1 to 3; give 0 to 2"),
        (TABLE - [1, 0, 0], "judged queries run from -1 to 1; give 0 to 2"),
        (TABLE + np.array([0, 1, 0]), "judged documents run from 2 to 10; give 0 to 9"),
        (TABLE - [0, 2, 0], "judged documents run from -1 to 7; give 0 to 9"),
        (TABLE - [0, 0, 1], "judged grades run from -1 to 2; give 0 to 52"),
        ([[0, 1, 10**20]], "judged grades run from 1" + "0" * 20 + " to .*; give 0 to 52"),
        (TABLE + np.array([0, 0, 50]), "judged grades run from 50 to 53; give 0 to 52"),
        ([*SORTED, [2, 9, 1]], "document 9 has the grade 1 and another for query 2; give it one grade"),
    ],
)
def test_bad_judgements_are_refused(judgements, message):
    with pytest.raises(ValueError, match=message):
        check_judgements(judgements, 3, 10)
    with pytest.raises(ValueError, match=message):
        list(by_query(judgements, 3, 10, within=False))


@pytest.mark.parametrize("within", [False, True])
def test_judgements_are_split_by_query(within):
    found = [(q, rows.tolist(), grades.tolist()) for q, rows, grades in by_query(TABLE, 3, 10, within)]
    own = [] if within else [2]  # query 2 is document 2
    assert found == [(0, [1, 5], [0, 2]), (2, [*own, 9], [*([0] * len(own)), 3])]


def test_steps_of_the_gain_add_up_to_differences_of_gains(rng):
    for _ in range(50):
        grades = rng.integers(0, 6, 8)
        steps = gain_steps(grades)
        for high in grades:
            for low in grades[grades < high]:
                assert sum(step for t, step in steps if low < t <= high) == 2**high - 2**low
    assert gain_steps(np.array([52])) == [(52, 2.0**52 - 1)]
    assert gain_steps(np.array([0, 0])) == []


def test_masked_judgements_are_refused():
    with pytest.raises(TypeError, match="judgements is a masked array"):
        check_judgements(np.ma.masked_equal([[0, 1, 0], [0, 2, 1]], 0), 1, 3)
