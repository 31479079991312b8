"""Columns of vectors become matrices; the first number that is not finite is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from structhash._numerics.matrices import check_finite_rows, open_matrix, read_matrix

X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(list(X)),
        pd.Series(X.tolist()),
        pd.DataFrame({"vector": list(X)}),
        list(X),
        tuple(map(tuple, X)),
    ],
    ids=["arrays", "lists", "frame", "list", "tuples"],
)
def test_a_column_of_vectors_is_the_matrix_of_its_vectors(column):
    np.testing.assert_array_equal(open_matrix(column), X)


def test_other_matrices_stay_as_they_are():
    for each in (X, pd.DataFrame(X), csr_array(X)):
        assert open_matrix(each) is each
    assert open_matrix(pd.DataFrame({"a": [1, 2]})).shape == (2, 1)
    assert open_matrix(X.tolist()).dtype == float


@pytest.mark.parametrize("kind", [list, pd.Series])
def test_vectors_of_several_lengths_are_refused(kind):
    message = r"Q holds rows of several lengths: row 0 has shape \(2,\) and row 2 has shape \(1,\)"
    with pytest.raises(ValueError, match=message):
        open_matrix(kind([[1, 2], [3, 4], [5]]), "Q")


@pytest.mark.parametrize(("bad", "what"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_the_first_number_that_is_not_finite_is_named(bad, what):
    rows = X.copy()
    rows[1, 1] = rows[2, 0] = bad
    with pytest.raises(ValueError, match=f"Q holds {what} in row 11, column 1; remove or replace such numbers"):
        check_finite_rows(rows, "Q", 10)


def test_finite_numbers_whose_sum_is_not_are_finite():
    check_finite_rows(np.full((3, 3), 1e308))


@pytest.mark.parametrize("given", [None, "vectors.npy", {"a": [1.0]}, {1.0, 2.0}, (row for row in ([1.0],))])
def test_what_holds_no_rows_is_refused(given):
    with pytest.raises(TypeError, match=r"X is .*; give a matrix of numbers \(n, d\)"):
        open_matrix(given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (np.ones((2, 3)) * 1j, ValueError, "X is complex128"),
        (np.ones((2, 3), "datetime64[D]"), ValueError, "X is datetime64"),
        (np.ones(3), ValueError, r"X is float64 of shape \(3,\)"),
        ([["a", 1.0]], ValueError, "X holds what is no number"),
        ([[0.0], [np.nan]], ValueError, "X holds NaN in row 1, column 0"),
        (csr_array(np.eye(3)), TypeError, r"X is sparse; give X.toarray\(\)"),
        (np.ma.array([[1.0]]), TypeError, "X is a masked array"),
    ],
)
def test_what_is_no_matrix_of_finite_numbers_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        read_matrix(given)


def test_numbers_in_any_container_are_one_matrix():
    for given in ([[1, 2]], pd.DataFrame({"a": [1], "b": [2]}).convert_dtypes(), np.array([[1, 2]], object)):
        np.testing.assert_array_equal(read_matrix(given), [[1, 2]])


def test_a_frame_without_rows_yet_is_refused():
    lazy = pl.DataFrame({"a": [1.0], "b": [2.0]}).lazy()
    with pytest.raises(TypeError, match=r"X is .*, which has no rows yet; give X.collect\(\)"):
        open_matrix(lazy)
