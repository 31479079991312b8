"""Checks of settings, and descriptions of values in errors."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from structhash._numerics.validation import (
    MAX_BITS,
    check_choice,
    check_count,
    check_flag,
    check_list,
    check_nonnegative,
    check_positive,
    describe,
    join_names,
    refuse_masked,
)

LONG = np.ones((300, 40))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (None, "None"),
        ("ndcg", "'ndcg'"),
        ([1, 2], "[1, 2]"),
        (np.float64(2), "np.float64(2.0)"),
        (np.array(2), "array(2)"),
        (LONG, "ndarray of shape (300, 40)"),
        (np.arange(3), "ndarray of shape (3,)"),
        (csr_array(LONG), "csr_array of shape (300, 40)"),
        (LONG.tolist(), "list of length 300"),
        ((LONG, LONG), "tuple of length 2"),
        ({"a": LONG}, "dict of length 1"),
        (range(10**9), "range(0, 1000000000)"),
        ("x" * 1000, "'" + "x" * 79 + "..."),
        (list, "<class 'list'>"),
    ],
)
def test_descriptions(value, text):
    assert describe(value) == text


def test_joined_names():
    assert join_names([]) == ""
    assert join_names(list("abcdefgh")) == "a, b, c, d, e, f, g, h"
    assert join_names(list("abcdefghi")) == "a, b, c, d, e, f, g, h, ... (9 in all)"


@pytest.mark.parametrize("check", [check_count, check_positive, check_nonnegative])
@pytest.mark.parametrize("value", [LONG, LONG.tolist(), csr_array(LONG)])
def test_arrays_are_described_briefly(check, value):
    with pytest.raises(ValueError, match=r"^size=\w+ of (shape \(300, 40\)|length 300): give an?") as caught:
        check("size", value)
    assert len(str(caught.value)) < 100


def test_counts():
    check_count("size", np.int8(3))
    check_count("size", 0, least=0)
    for value in (0, -1, 1.0, True, "1", None):
        with pytest.raises(ValueError, match=r"^size=.*: give an integer of at least 1$"):
            check_count("size", value)


def test_positive_numbers():
    check_positive("rate", np.float32(0.5))
    check_positive("rate", 1, most=1)
    for value in (0, -0.1, np.nan, np.inf, True, "1", None):
        with pytest.raises(ValueError, match=r"^rate=.*: give a finite number above 0$"):
            check_positive("rate", value)
    with pytest.raises(ValueError, match=r"^rate=1\.5: give a number above 0 and at most 1$"):
        check_positive("rate", 1.5, most=1)


def test_nonnegative_numbers():
    check_nonnegative("rate", np.float32(0.5))
    check_nonnegative("rate", 0)
    for value in (-0.1, np.nan, np.inf, True, "1", None):
        with pytest.raises(ValueError, match=r"^rate=.*: give a finite number of at least 0$"):
            check_nonnegative("rate", value)


def test_choices():
    check_choice("word", "a", ("a", "b"))
    for value in ("c", "", None, 1, ["a"], LONG):
        with pytest.raises(ValueError, match=r"^word=.*: give one of a, b$"):
            check_choice("word", value, ("a", "b"))


@pytest.mark.parametrize("value", [2**40, 10**30])
def test_counts_that_compiled_code_cannot_hold_are_refused(value):
    check_count("n_bits", 2**31 - 1)
    check_count("k", value, most=None)
    with pytest.raises(
        ValueError, match=f"n_bits={value}: give an integer of at least 1 and at most 2147483647"
    ):
        check_count("n_bits", value)
    with pytest.raises(ValueError, match=f"n_bits={value}: give an integer of at least 1 and at most 65536"):
        check_count("n_bits", value, most=MAX_BITS)


def test_an_integer_that_python_does_not_write_is_described_by_its_length():
    assert describe(10**5000) == "an integer of 16610 bits"


def test_a_number_may_have_to_exceed_another():
    check_positive("bandwidth", 1.0, most=10.0, above=0.5)
    with pytest.raises(ValueError, match=r"bandwidth=0.5: give a number above 0.5 and at most 10"):
        check_positive("bandwidth", 0.5, most=10.0, above=0.5)


@pytest.mark.parametrize("value", ["False", "yes", 1, 0, None, np.array([True])])
def test_a_flag_is_true_or_false(value):
    for flag in (True, False, np.True_):
        check_flag("warm_start", flag)
    with pytest.raises(ValueError, match=r"warm_start=.*: give True or False"):
        check_flag("warm_start", value)


@pytest.mark.parametrize("value", ["map", 64, None])
def test_text_and_one_value_are_no_list(value):
    assert check_list("bits", iter([8, 16])) == [8, 16]
    with pytest.raises(TypeError, match=r"bits=.*: give a list, such as"):
        check_list("bits", value)


def test_a_masked_array_is_refused_even_where_nothing_is_masked():
    refuse_masked("codes", np.zeros(3))
    with pytest.raises(TypeError, match="codes is a masked array"):
        refuse_masked("codes", np.ma.array([1, 2]))
