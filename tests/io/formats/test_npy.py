"""Data sets in .npy files."""

import os
import pickle

import numpy as np
import pytest

from structhash.io import Dataset, facts, read, read_rows, write_npy
from structhash.io import container as files
from structhash.io.formats.npy import Npy

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_a_matrix_is_read_as_X(tmp_path):
    write_npy(tmp_path / "data.npy", X)
    data = read(str(tmp_path / "data.npy"))
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.X, X)
    assert data[1:] == (None,) * 6 + ((), ())
    assert os.listdir(tmp_path) == ["data.npy"]


def test_the_format_itself_does_not_check_the_matrix(tmp_path):
    np.save(tmp_path / "data.npy", np.arange(3))
    assert Npy().read(tmp_path / "data.npy").X.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"X of .*data\.npy must have shape"):
        read(tmp_path / "data.npy")


def test_a_second_array_is_refused(tmp_path):
    path = tmp_path / "x.npy"
    with open(path, "wb") as file:
        np.save(file, np.eye(3))
        np.save(file, np.ones((2, 3)))
    for function in (read, read_rows, facts):
        with pytest.raises(ValueError, match=r"x\.npy: .*176 bytes follow its array; save one array a file"):
            function(path)


def test_an_array_larger_than_the_memory_says_so(tmp_path):
    with open(tmp_path / "x.npy", "wb") as file:
        shape = (2**50, 100)
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with pytest.raises(ValueError, match=r"x\.npy: not enough memory for its array \(.*; give fewer rows$"):
        read(tmp_path / "x.npy")


def test_pickles_are_refused(tmp_path):
    (tmp_path / "data.npy").write_bytes(pickle.dumps(X))
    with pytest.raises(ValueError, match="damaged or holds Python objects"):
        read(tmp_path / "data.npy")


def test_object_arrays_are_refused(tmp_path):
    np.save(tmp_path / "data.npy", np.array([[None]]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"its array holds Python objects; save arrays of numbers"):
        read(tmp_path / "data.npy")


@pytest.mark.parametrize("order", "CF")
def test_rows_come_in_blocks_that_are_checked(tmp_path, order):
    many = np.asarray(np.random.default_rng(0).standard_normal((9000, 600)), np.float16, order=order)
    np.save(tmp_path / "many.npy", many)
    rows = read_rows(tmp_path / "many.npy")
    blocks = list(rows.blocks)
    assert (rows.shape, rows.names) == ((9000, 600), None)
    assert [len(block) for block in blocks] == [6144, 2856]
    assert {block.dtype for block in blocks} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(np.concatenate(blocks), many)
    many[8000, 3] = np.nan
    np.save(tmp_path / "many.npy", many)
    message = (
        r"many\.npy \(rows 6144 to 8999\) holds 1 NaN and 0 infinite values, the first at row 8000, column 3"
    )
    with pytest.raises(ValueError, match=message):
        list(read_rows(tmp_path / "many.npy").blocks)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(4), r"must have shape \(n, n_features\), got \(4,\)"),
        (np.zeros((0, 0)), "at least one row and one column"),
        (np.array([["a"]]), "must be bool, integer, float16"),
    ],
)
def test_rows_are_refused_before_they_are_read(tmp_path, array, message):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ValueError, match=message):
        read_rows(tmp_path / "x.npy")


def test_there_may_be_no_row(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((0, 3)))
    rows = read_rows(tmp_path / "x.npy")
    assert (rows.shape, list(rows.blocks)) == ((0, 3), [])


def test_other_files_are_named(tmp_path):
    np.savez(tmp_path / "x.npz", X=X)
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    with pytest.raises(ValueError, match=r"it is a \.npz or other zip file, not a \.npy file"):
        read(tmp_path / "x.npy")
    files.save(tmp_path / "y.npy", {}, {}, kind="model")
    for function in (read, facts):
        with pytest.raises(ValueError, match=r"it is a structhash file of kind 'model', not a \.npy file"):
            function(tmp_path / "y.npy")


def test_damaged_files_open_or_say_why(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, X)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"cannot read .*data\.np"):
            read(path)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        try:
            read(path)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (X, {"kind": "data", "dtype": "float32", "shape": [3, 2], "rows": 3, "features": 2}),
        (X.astype(np.uint8), {"kind": "codes", "dtype": "uint8", "shape": [3, 2], "rows": 3, "bits": 16}),
        (np.arange(4), {"kind": "array", "dtype": "int64", "shape": [4]}),
    ],
)
def test_facts(tmp_path, array, expected):
    np.save(tmp_path / "data.npy", array)
    assert facts(tmp_path / "data.npy") == expected
