"""Data sets in .npy files."""

import os
import pickle

import numpy as np
import pytest

from structhash.io import Dataset, facts, read, write_npy
from structhash.io import container as files
from structhash.io.formats.npy import Npy

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_a_matrix_is_read_as_X(tmp_path):
    write_npy(tmp_path / "data.npy", X)
    data = read(str(tmp_path / "data.npy"))
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.X, X)
    assert data[1:] == (None, None, None, None)
    assert os.listdir(tmp_path) == ["data.npy"]


def test_the_format_itself_does_not_check_the_matrix(tmp_path):
    np.save(tmp_path / "data.npy", np.arange(3))
    assert Npy().read(tmp_path / "data.npy").X.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"X of .*data\.npy must have shape"):
        read(tmp_path / "data.npy")


def test_pickles_are_refused(tmp_path):
    (tmp_path / "data.npy").write_bytes(pickle.dumps(X))
    with pytest.raises(ValueError, match="damaged or holds Python objects"):
        read(tmp_path / "data.npy")


def test_object_arrays_are_refused(tmp_path):
    np.save(tmp_path / "data.npy", np.array([[None]]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"holds Python objects .*save arrays of numbers"):
        read(tmp_path / "data.npy")


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
