"""What errors say of what was given."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from structhash._numerics.validation import check_count, check_positive, describe, join_names

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
def test_brief(value, text):
    assert describe(value) == text


def test_listed():
    assert join_names([]) == ""
    assert join_names(list("abcdefgh")) == "a, b, c, d, e, f, g, h"
    assert join_names(list("abcdefghi")) == "a, b, c, d, e, f, g, h, ... (9 in all)"


@pytest.mark.parametrize("check", [check_count, check_positive])
@pytest.mark.parametrize("value", [LONG, LONG.tolist(), csr_array(LONG)])
def test_arrays_are_named_in_short(check, value):
    with pytest.raises(ValueError, match=r"^size=\w+ of (shape \(300, 40\)|length 300): give an?") as caught:
        check("size", value)
    assert len(str(caught.value)) < 100
