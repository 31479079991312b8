"""Data sets in memory."""

from pathlib import Path

import numpy as np
import pytest

from structhash.io import Dataset, check_matrix
from structhash.io.dataset import check_dataset

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_facts_name_only_what_is_there():
    assert Dataset(X).facts() == {"kind": "data", "rows": 3, "features": 2, "dtype": "float32"}
    whole = Dataset(X, np.array(["a", "b", "b"]), X[:1], np.zeros((2, 3)), ["p", "q"]).facts()
    assert (whole["labels"], whole["classes"], whole["queries"], whole["judgements"]) == ("<U1", 2, 1, 2)


def test_the_columns_of_indicators_are_counted_as_classes():
    y = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0]])
    assert Dataset(X, y).facts()["classes"] == 3
    assert Dataset(X, np.array([[4], [7], [4]])).facts()["classes"] == 2


def test_check_dataset_converts_the_rows_and_the_queries_and_keeps_the_rest():
    y, qrels = np.array([1, 2, 3]), np.array([[0, 1, 2]])
    data = check_dataset(Dataset(X.astype(np.int8), y, X[:1].astype(np.int64), qrels, ["a", "b"]), Path("d"))
    assert (data.X.dtype, data.Q.dtype) == (np.float32, np.float64)
    assert data.y is y
    assert data.qrels is qrels
    assert data.names == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Dataset(X, y=np.arange(2)), r"y of d has shape \(2,\), but X has 3 rows; give one label for each row"),
        (Dataset(X, y=np.array(1)), r"y of d has shape \(\), but X has 3 rows"),
        (Dataset(X, Q=X[:, :1]), "Q of d has 1 columns, but X has 2; give both the same columns"),
        (Dataset(X, Q=X * np.nan), "Q of d holds 6 NaN"),
        (Dataset(X[0]), "X of d must have shape"),
        (
            Dataset(X, np.array(["a", "", "b"]), label="c"),
            "c of d lacks the label of row 1: it is ''; give it a",
        ),
    ],
)
def test_check_dataset_refuses(data, message):
    with pytest.raises(ValueError, match=message):
        check_dataset(data, Path("d"))


@pytest.mark.parametrize("code", "?bBhHe")
def test_check_matrix_to_float32(code):
    assert check_matrix(np.ones((2, 2), dtype=code)).dtype == np.float32


@pytest.mark.parametrize("code", "iIqQ")
def test_check_matrix_to_float64(code):
    assert check_matrix(np.ones((2, 2), dtype=code)).dtype == np.float64


@pytest.mark.parametrize("code", "fd")
def test_check_matrix_keeps_floats(code):
    kept = np.ones((2, 2), dtype=code)
    assert check_matrix(kept) is kept
    swapped = check_matrix(kept.astype(kept.dtype.newbyteorder(">")))
    assert swapped.dtype == kept.dtype
    np.testing.assert_array_equal(swapped, kept)


class Sparse:
    """numpy sees a sparse matrix as one Python object."""


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros(3), r"Z must have shape \(n, n_features\), got \(3,\)"),
        (Sparse(), r"got \(\); is it sparse\? use X\.toarray\(\)"),
        (np.zeros((0, 3)), r"at least one row and one column, got shape \(0, 3\)"),
        (np.zeros((3, 0)), r"at least one row and one column, got shape \(3, 0\)"),
        (np.zeros((2, 2), dtype=complex), "must be bool, integer, float16.*got complex128"),
        (np.array([["a"]]), "must be bool, integer, float16.*got <U1"),
        (np.array([[None]]), "must be bool, integer, float16.*got object"),
        ([[1, 2], [np.inf, np.nan]], "holds 1 NaN and 1 infinite values, the first at row 1, column 0"),
        (np.full((1, 1), np.inf, dtype=np.float16), "holds 0 NaN and 1 infinite"),
    ],
)
def test_check_matrix_refuses(matrix, message):
    with pytest.raises(ValueError, match=message):
        check_matrix(matrix, name="Z")


def test_rows_of_a_block_have_their_numbers_in_the_file():
    with pytest.raises(ValueError, match="the first at row 101, column 0"):
        check_matrix([[1, 2], [np.nan, 3]], first_row=100)
