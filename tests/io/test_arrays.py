"""Single arrays in .npy files."""

import os

import numpy as np
import pytest

from structhash.io import container as files
from structhash.io import map_array, read_codes, write_npy

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_codes_come_back(tmp_path):
    codes = np.array([[1, 2], [3, 4]], dtype=np.uint8)
    write_npy(tmp_path / "codes.npy", codes)
    np.testing.assert_array_equal(read_codes(tmp_path / "codes.npy"), codes)


@pytest.mark.parametrize("array", [X, np.zeros(3, dtype=np.uint8)])
def test_codes_refused(tmp_path, array):
    write_npy(tmp_path / "codes.npy", array)
    with pytest.raises(
        ValueError, match=r"must be uint8 of shape .*, got (float32|uint8) of shape .*; structhash encode makes"
    ):
        read_codes(tmp_path / "codes.npy")


def test_read_codes_refuses_other_files(tmp_path):
    with pytest.raises(ValueError, match=r"unknown extension '\.npz', known are \.npy"):
        read_codes(tmp_path / "data.npz")
    files.save(tmp_path / "index", {}, {}, kind="index.exact")
    with pytest.raises(
        ValueError, match=r"known are \.npy; it is a .*'index\.exact'; structhash encode makes codes"
    ):
        read_codes(tmp_path / "index")


def test_write_npy_refuses(tmp_path):
    with pytest.raises(ValueError, match=r"the name must end in \.npy"):
        write_npy(tmp_path / "a", X)
    with pytest.raises(ValueError, match="the array holds Python objects"):
        write_npy(tmp_path / "a.npy", np.array([None]))
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        write_npy(tmp_path / "nowhere" / "a.npy", X)
    assert os.listdir(tmp_path) == []


def test_map_array_maps_any_array_and_refuses_other_files(tmp_path):
    write_npy(tmp_path / "ids.npy", np.arange(3))
    found = map_array(str(tmp_path / "ids.npy"))
    assert isinstance(found, np.memmap)
    assert found.tolist() == [0, 1, 2]
    with pytest.raises(FileNotFoundError, match="no such file"):
        map_array(tmp_path / "nothing.npy")
    with pytest.raises(ValueError, match="it is not a file but a folder"):
        map_array(tmp_path)
    (tmp_path / "text").write_text("1 2")
    with pytest.raises(ValueError, match=r"it is text, not a \.npy file"):
        map_array(tmp_path / "text")
    np.save(tmp_path / "objects.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(
        ValueError, match=r"objects\.npy: its array holds Python objects; save arrays of numbers"
    ):
        map_array(tmp_path / "objects.npy")


def test_write_npy_replaces_what_numpy_does_but_no_file_of_ours(tmp_path):
    path = tmp_path / "a.npy"
    path.write_text("of another program")
    write_npy(path, X)
    write_npy(path, X[:1])
    np.testing.assert_array_equal(np.load(path), X[:1])
    files.save(path, {}, {}, kind="model", force=True)
    content = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"a\.npy: .* of kind 'model'; give another name, or delete it$"):
        write_npy(path, X)
    assert path.read_bytes() == content
