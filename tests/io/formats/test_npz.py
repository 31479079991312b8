"""Data sets in .npz files."""

import os
import pickle

import numpy as np
import pytest

from structhash.io import container as files
from structhash.io import facts, read

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_the_arrays_of_a_dataset_are_read(tmp_path):
    arrays = {
        "X": X.astype(np.float16),
        "y": np.array(["a", "b", "b"]),
        "Q": X[:1],
        "qrels": np.array([[0, 1, 2]]),
    }
    np.savez_compressed(tmp_path / "data.NPZ", **arrays, other=np.arange(3))
    os.rename(tmp_path / "data.NPZ.npz", tmp_path / "data.NPZ")
    data = read(tmp_path / "data.NPZ")
    assert data.X.dtype == data.Q.dtype == np.float32
    for name, array in arrays.items():
        np.testing.assert_array_equal(getattr(data, name), array)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X, "y": X}, "needs an array X, but holds x, y"),
        ({}, "needs an array X, but holds nothing"),
        ({"X": np.array([[None]])}, "holds Python objects .*save arrays of numbers"),
        ({"X": X, "y": np.array([None] * 3)}, "damaged or holds Python objects"),
        ({"X": X, "y": np.arange(2)}, r"y of .* has shape \(2,\), but X has 3 rows"),
        ({"X": X, "y": np.array(1)}, r"y of .* has shape \(\), but X has 3 rows"),
        ({"X": X, "Q": X[:, :1]}, "Q of .* has 1 columns, but X has 2"),
        ({"X": X, "Q": X * np.nan}, "Q of .* holds 6 NaN"),
        ({"X": X[0]}, r"X of .*data\.npz must have shape"),
    ],
)
def test_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "data.npz")


def test_pickles_are_refused(tmp_path):
    (tmp_path / "data.npz").write_bytes(pickle.dumps(X))
    with pytest.raises(ValueError, match="damaged or holds Python objects"):
        read(tmp_path / "data.npz")


def test_other_files_are_named(tmp_path):
    files.save(tmp_path / "x.npz", {}, {}, kind="model")
    for function in (read, facts):
        with pytest.raises(ValueError, match=r"it is a structhash file of kind 'model', not a \.npz file"):
            function(tmp_path / "x.npz")


def test_a_long_list_of_names_is_cut(tmp_path):
    np.savez(tmp_path / "data.npz", **{f"a{j:03}": X for j in range(100)})
    with pytest.raises(ValueError, match=r"but holds a000, .*, a007, \.\.\. \(100 in all\)$"):
        read(tmp_path / "data.npz")


def test_damaged_files_open_or_say_why(tmp_path):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=X)
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


def test_facts_of_a_dataset_and_of_other_arrays(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, Q=X[:2], qrels=np.zeros((4, 3), dtype=np.int64))
    expected = {"kind": "data", "rows": 3, "features": 2, "dtype": "float32", "queries": 2, "judgements": 4}
    assert facts(tmp_path / "data.npz") == expected
    np.savez(tmp_path / "answers.npz", ids=np.arange(4), distances=X)
    expected = {"kind": "arrays", "ids": "int64 [4]", "distances": "float32 [3, 2]"}
    assert facts(tmp_path / "answers.npz") == expected


def test_facts_check_the_dataset(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, y=np.arange(2))
    with pytest.raises(ValueError, match=r"y of .* has shape \(2,\), but X has 3 rows; give one label"):
        facts(tmp_path / "data.npz")
