"""Labels of every type: read as classes, read as indicators, or refused with one message."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from structhash._numerics.labels import (
    first_without_one,
    labels_in_use,
    read_classes,
    read_labels,
    share_a_label,
)

AS_TEXT = ["b", "a", "b"]
AS_NUMBERS = [7, -1, 7]
DATES = [datetime.date(2020, 1, 2), datetime.date(2019, 1, 1), datetime.date(2020, 1, 2)]


@pytest.mark.parametrize(
    "y",
    [
        AS_TEXT,
        tuple(AS_TEXT),
        np.array(AS_TEXT),
        np.array(AS_TEXT, object),
        np.array(AS_TEXT, np.dtypes.StringDType()),
        [b"b", b"a", b"b"],
        np.array([b"b", b"a", b"b"]),
        pd.Series(AS_TEXT),
        pd.Series(AS_TEXT, index=[5, 5, 2]),
        pd.Series(AS_TEXT, dtype="string"),
        pd.Categorical(AS_TEXT, categories=["b", "c", "a"]),
        pd.DataFrame({"y": AS_TEXT}),
        AS_NUMBERS,
        [7.0, -1, np.int8(7)],
        [10**40, 3, 10**40],
        np.array(AS_NUMBERS, np.int8),
        np.array(AS_NUMBERS, float),
        np.array(AS_NUMBERS)[:, None],
        pd.Series(AS_NUMBERS, dtype="Int64"),
        pd.DataFrame({"y": AS_NUMBERS}),
        DATES,
        np.array(DATES, "M8[D]"),
        pd.Series(pd.to_datetime(DATES)),
        np.array([2, -1, 2], "m8[s]"),
        [True, False, True],
        np.array([True, False, True]),
        pd.Series([True, False, True], dtype="boolean"),
        [[0, 1], [1, 0], [0, 1]],
        np.array([[0, 0, 1], [1, 0, 0], [0, 0, 1.0]]),
        pd.DataFrame({"x": [False, True, False], "y": [True, False, True]}),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', y if isinstance(y, list) else '')}",
)
def test_labels_of_every_type_are_classes_in_the_order_of_their_labels(y):
    values, class_index, indicators = read_labels(y, 3)
    assert class_index.tolist() == [1, 0, 1]
    assert len(values) == 2
    assert indicators is None
    np.testing.assert_array_equal(read_classes(y, 3)[1], class_index)


def test_bytes_are_named_by_text():
    assert read_classes([b"b", b"a", b"\xe9"], 3)[0].tolist() == ["a", "b", "é"]


def test_text_and_numbers_that_numpy_would_make_equal_are_not():
    for mixed in ([1, "1", 1], [1, True, 1], ["a", b"a", "a"]):
        with pytest.raises(
            ValueError, match=r"no common order \(y holds \w+ and \w+\); give numbers only or text"
        ):
            read_labels(mixed, 3)


MISSING = "give each row a label, or leave such rows out"
KINDS = "labels are text, bytes, booleans, whole numbers or dates, all of one kind"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, None, 1], f"y holds None in row 1; {MISSING}"),
        (["a", None, "a"], f"y holds None in row 1; {MISSING}"),
        (["a", np.nan, "a"], f"y holds NaN in row 1; {MISSING}"),
        ([1, 2, np.nan], f"y holds NaN in row 2; {MISSING}"),
        (np.array([1, np.inf, 1]), f"y holds inf in row 1; {MISSING}"),
        (pd.Series([1, None, 1], dtype="Int64"), f"y holds (NaN|<NA>) in row 1; {MISSING}"),
        (pd.Series(["a", None, "a"], dtype="string"), f"y holds <NA> in row 1; {MISSING}"),
        (pd.Categorical(["a", None, "a"]), f"y holds NaN in row 1; {MISSING}"),
        (
            np.array(["a", None, "b"], np.dtypes.StringDType(na_object=None)),
            f"y holds None in row 1; {MISSING}",
        ),
        ([{1, 2}, {1}, {2}], r"y holds a set in row 0: .* give an indicator matrix \(n, L\) of 0/1"),
        ([frozenset("a")] * 3, r"y holds a frozenset in row 0: .* give an indicator matrix \(n, L\) of 0/1"),
        ([(1, 2), (3,), (1, 2)], r"y holds a tuple in row 0: .* give an indicator matrix \(n, L\) of 0/1"),
        (
            [(1, 0), (0, 4), (1, 2)],
            r"labels of shape \(3, 2\) must be 0 or 1, which of 2 a row has, and row 1 holds 4 in column 1; or",
        ),
        (
            np.array([(0.0, 1.0), (1.0, 1.0), (np.nan, 0.5)]),
            "and row 2 holds nan in column 0; or give one label",
        ),
        (np.array([("1", "0")] * 3), "and row 0 holds .*'1'.* in column 0; or give one label a row"),
        (np.array([0.5, 1, 1]), "Unknown label type: continuous; y holds fractions"),
        ([0.5, 1, 1], "Unknown label type: continuous; y holds fractions"),
        ([Decimal(1)] * 3, f"y holds a Decimal in row 0: {KINDS}"),
        (np.array(["2020-01-01", "NaT", "2020-01-01"], "M8[D]"), f"y holds NaT in row 1; {MISSING}"),
        (pd.Series(pd.to_datetime(["2020-01-01", None, None])), f"y holds NaT in row 1; {MISSING}"),
        ([*DATES[:2], datetime.datetime(2020, 1, 1)], r"no common order .*; give dates of one kind"),
        (np.array([1j, 1, 1]), f"y holds complex128: {KINDS}"),
        ((c for c in "aba"), "y is of type generator; .* give a list or an array with one label a row"),
        ({"a", "b", "c"}, "y is of type set; "),
        ("aba", "y is of type str; "),
        (None, "requires y to be passed, but the target y is None"),
        (AS_TEXT[:2], r"labels have shape \(2,\); give one label for each of the 3 rows"),
        (np.zeros((3, 0)), r"labels have shape \(3, 0\); give one label for each of the 3 rows"),
    ],
)
def test_what_is_no_label_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        read_labels(y, 3)


def test_containers_that_would_be_misread_are_refused():
    with pytest.raises(TypeError, match="y is a masked array"):
        read_labels(np.ma.masked_equal([1, 2, 1], 2), 3)
    with pytest.raises(TypeError, match="y is the class int; give an instance of it"):
        read_labels(int, 3)


def test_several_labels_a_row_are_indicators_and_no_classes():
    y = [[1, 1], [0, 1], [0, 0]]
    values, class_index, indicators = read_labels(y, 3)
    assert (values.tolist(), class_index.size, indicators.tolist()) == ([0, 1], 0, np.array(y, bool).tolist())
    assert read_labels(y, 3).of_rows.tolist() == indicators.tolist()
    assert read_labels(["b", "a", "b"], 3).of_rows.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="row 0 has 2 of the labels; give one label for each of the 3 rows"):
        read_classes(y, 3)


def test_indicators_against_sets():
    Y = np.random.default_rng(0).random((30, 7)) < 0.25
    Y[:, 4] = False
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    expected = [[bool(one & other) for other in sets] for one in sets[:9]]
    np.testing.assert_array_equal(share_a_label(Y[:9], Y), expected)
    assert labels_in_use(Y).tolist() == sorted(set.union(*sets))
    odd = next(row for row, each in enumerate(sets) if len(each) != 1)
    assert first_without_one(Y) == (odd, len(sets[odd]))


def test_labels_in_use_tell_rows_apart():
    assert labels_in_use(np.array([[False, True], [False, False]])).tolist() == [1]
    with pytest.raises(ValueError, match="none of the 3 rows of y has a label; give rows that have labels"):
        labels_in_use(np.zeros((3, 2), bool))
    with pytest.raises(ValueError, match="all 3 rows have the same 2 labels; give rows whose labels differ"):
        labels_in_use(np.ones((3, 2), bool))


@pytest.mark.parametrize(
    "y",
    [
        ["cat", "dog", "cat "],
        np.array(["cat", "dog", "cat\u00a0"]),
        np.array([b"cat", b"dog", b" cat"]),
        pd.Series(["caf\u00e9", "dog", "cafe\u0301"], dtype="string"),
        pd.Categorical(["a b", "dog", "a  b"]),
    ],
)
def test_labels_that_look_the_same_are_refused(y):
    for read in (read_labels, read_classes):
        with pytest.raises(
            ValueError, match=r"y holds .* and .*, which look the same; write equal labels equally"
        ):
            read(y, 3)
    assert len(read_classes(["Cat", "cat", "cats"], 3)[0]) == 3
