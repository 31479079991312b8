"""Declarations of what files hold: a value as declared passes and sets sizes, any other is refused."""

import numpy as np
import pytest

from structhash.io.fields import Field, check_fields, split_parts

SIZES = {"n_bits": 2, "n_features": 3}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Field("a", ("n_bits", "n_features")), np.zeros((2, 3), np.float32)),
        (Field("a", ("n_bits", "n_features+1")), np.zeros((2, 4))),
        (Field("a", ("n_others",)), np.zeros(0)),
        (Field("a", infinite=True), np.array(-np.inf)),
        (Field("a", positive=True), 1e-300),
        (Field("a"), 3),
        (Field("a", kind="bool"), True),
        (Field("a", kind="int", least=3, most=3), 3),
        (Field("a", ("n_bits",), "int", below="n_features"), np.array([0, 2], np.int32)),
        (Field("a", kind="text"), ""),
        (Field("a", ("n_features",), "names"), ["x", "y", "z"]),
        (Field("a", ("n_classes",), "labels"), [1, "two", 3.0, True]),
        (Field("a", ("n_bits",), "records"), [{}, {"bit": 1}]),
    ],
)
def test_what_is_declared_passes(field, value):
    assert check_fields((field,), {"a": value}, SIZES).items() >= SIZES.items()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (Field("a", ("n_bits",)), np.zeros(3), r"'a' has shape \(3,\); \(n_bits\) with n_bits=2 is allowed"),
        (Field("a", ("n_bits+1",)), np.zeros(2), r"\(n_bits\+1\) with n_bits\+1=3 is allowed"),
        (Field("a", ("n_bits",)), np.zeros((2, 1)), r"'a' has shape \(2, 1\); \(n_bits\) is allowed"),
        (Field("a", ("n_bits",)), 2.0, "'a' is 2.0; float32 or float64 is allowed"),
        (Field("a", ("n_bits",)), [1.0, 2.0], "'a' is .*; float32 or float64 is allowed"),
        (Field("a", ("n_bits",)), np.zeros(2, np.float16), "'a' is float16 .*; float32 or float64 is allowed"),
        (Field("a", ("n_bits",), "int"), np.zeros(2), "'a' is float64 .*; int8 or int32 or int64 is allowed"),
        (Field("a", ("n_bits",), "int"), np.zeros(2, np.uint64), "int8 or int32 or int64 is allowed"),
        (Field("a", ("n_bits",), "bool"), np.zeros(2, np.int8), "bool is allowed"),
        (Field("a", kind="int"), True, "'a' is True; int8"),
        (Field("a", kind="int"), 10**30, "'a' is 10+; int8"),
        (Field("a"), "1", "'a' is '1'; float32"),
        (Field("a"), None, "'a' is None; float32"),
        (Field("a", ("n_bits",)), np.array([1, np.nan]), "from nan to nan; finite numbers are allowed"),
        (Field("a", ("n_bits",)), np.array([1, -np.inf]), "from -inf to 1; finite numbers are allowed"),
        (Field("a", ("n_bits",), infinite=True), np.array([1, np.nan]), "nan; numbers are allowed"),
        (Field("a", ("n_bits",), least=0), np.array([-1.0, 1]), "-1 to 1; finite numbers of at least 0 are"),
        (Field("a", positive=True), 0.0, "from 0 to 0; finite numbers above 0 are allowed"),
        (
            Field("a", ("n_bits",), "int", least=-1, most=1),
            np.array([2, 0]),
            "from 0 to 2; -1 to 1 are allowed",
        ),
        (
            Field("a", ("n_bits",), "int", below="n_features"),
            np.array([0, 3]),
            "from 0 to 3; 0 to 2 are allowed",
        ),
        (Field("a", ("n_bits",), "int", below="n_features"), np.array([-1, 0]), "0 to 2 are allowed"),
        (Field("a", kind="text"), 3, "'a' is 3; only text is allowed"),
        (Field("a", ("n_features",), "names"), ["x", "y", 3], "'a' is .*; only names is allowed"),
        (Field("a", ("n_features",), "names"), ["x"], r"'a' has shape \(1,\)"),
        (Field("a", ("n_classes",), "labels"), [[1]], "only labels is allowed"),
        (Field("a", ("n_bits",), "records"), [1, 2], "only records is allowed"),
    ],
)
def test_any_other_value_is_refused(field, value, message):
    with pytest.raises(ValueError, match=message):
        check_fields((field,), {"a": value}, SIZES)


def test_the_first_array_sets_a_size_and_the_others_keep_it():
    fields = (Field("a", ("n_nodes",)), Field("b", ("n_nodes+1",)))
    assert check_fields(fields, {"a": np.zeros(3), "b": np.zeros(4)}, {}) == {"n_nodes": 3}
    with pytest.raises(ValueError, match=r"'b' has shape \(3,\); \(n_nodes\+1\) with n_nodes\+1=4 is allowed"):
        check_fields(fields, {"a": np.zeros(3), "b": np.zeros(3)}, {})


def test_names_are_those_declared():
    fields = (Field("a"), Field("b", optional=True))
    check_fields(fields, {"a": 1.0}, {})
    with pytest.raises(ValueError, match="it holds more than its class stores: c, d"):
        check_fields(fields, {"a": 1.0, "d": 1.0, "c": 1.0}, {})
    with pytest.raises(ValueError, match="it holds less than its class stores: a"):
        check_fields(fields, {"b": 1.0}, {})


def test_without_a_declaration_all_but_nan_passes():
    check_fields(None, {"a": np.array([np.inf]), "b": np.arange(3), "c": "text"}, {})
    with pytest.raises(ValueError, match="'a' holds NaN"):
        check_fields(None, {"a": np.array([np.nan])}, {})


def test_an_array_of_no_part_is_refused_by_name():
    for name in ("c/x", "x", "ab/x"):
        with pytest.raises(ValueError, match=f"'{name}' is neither a nor b"):
            split_parts({"a/x": np.zeros(1), name: np.zeros(1)}, ("a", "b"), "neither a nor b")
