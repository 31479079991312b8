import os
import pickle

import numpy as np
import pytest

from structhash.io import Dataset, check_matrix, read, read_codes, write_npy
from structhash.io import container as files

X = np.arange(6, dtype=np.float32).reshape(3, 2)


def csv(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding=encoding)
    return path


def test_npy(tmp_path):
    write_npy(tmp_path / "data.npy", X)
    data = read(str(tmp_path / "data.npy"))
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.X, X)
    assert data[1:] == (None, None, None, None)
    assert os.listdir(tmp_path) == ["data.npy"]


def test_npz(tmp_path):
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
def test_npz_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "data.npz")


@pytest.mark.parametrize(
    ("text", "X", "y", "names"),
    [
        ("1,2\n3,4.5\n", [[1, 2], [3, 4.5]], None, None),
        ("a, b\n1,2\n\n3,-4e1", [[1, 2], [3, -40]], None, ["a", "b"]),
        ("a,LABEL,b\r\n1,cat,2\r\n3,dog,4\r\n", [[1, 2], [3, 4]], ["cat", "dog"], ["a", "b"]),
        ('"y",x\n1,2\n7,"3"\n', [[2], [3]], [1, 7], ["x"]),
        ("y,x\n1,2\n1.5,3\n", [[2], [3]], [1, 1.5], ["x"]),
        ("y,x\n1,2\nnan,3\n", [[2], [3]], ["1", "nan"], ["x"]),
        ("y,x\n1_0,2\n10,3\n", [[2], [3]], ["1_0", "10"], ["x"]),
        (
            "y,x\n99999999999999999999,2\n99999999999999999998,3\n",
            [[2], [3]],
            ["9" * 20, "9" * 19 + "8"],
            ["x"],
        ),
    ],
)
def test_csv(tmp_path, text, X, y, names):
    data = read(csv(tmp_path, text))
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.X, X)
    assert data.names == names
    if y is None:
        assert data.y is None
    else:
        assert data.y.dtype == np.array(y).dtype
        assert data.y.tolist() == y


def test_csv_with_a_byte_order_mark(tmp_path):
    assert read(csv(tmp_path, "a,y\n1,2\n", "utf-8-sig")).names == ["a"]
    assert read(csv(tmp_path, "1,2\n", "utf-8-sig")).X.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,x\n", r"data\.csv: line 3, column b: 'x' is no number"),
        ("1,2\n\n3,\n", "line 3, column 2: '' is no number"),
        ("1,,3\n", "line 1, column 2: '' is no number"),
        ("1,2\n3,4_0\n", "line 2, column 2: '4_0' is no number"),
        ("a,y,b\n1,t,2\n3,u,z\n", "line 3, column b: 'z' is no number"),
        ("a,y\n1,2\n3, \n", "line 3, column y: the label is missing"),
        ("1,2\n3\n", "line 2 has 1 cells, the first line has 2"),
        (",x\n1,2\n", "column 1 has no name"),
        ("y,Label,a\n1,2,3\n", "2 columns named y or label; keep one"),
        ("\n\n", "it has no line"),
        ("a,b\n", "must have at least one row and one column"),
        ("y\n1\n", "must have at least one row and one column"),
        ("a,b\n1,nan\n", "holds 1 NaN and 0 infinite values, the first at row 0, column 1"),
        ('a,b\n"1,2\n', "unexpected end of data"),
    ],
)
def test_csv_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(csv(tmp_path, text))


def test_csv_refuses_other_encodings(tmp_path):
    with pytest.raises(ValueError, match="it is not UTF-8 text"):
        read(csv(tmp_path, "größe\n1\n", "latin-1"))


def test_files_refused(tmp_path):
    with pytest.raises(ValueError, match=r"unknown extension '\.txt', known are \.npy, \.npz, \.csv"):
        read(tmp_path / "data.txt")
    with pytest.raises(ValueError, match=r"unknown extension '\.npz', known are \.npy"):
        read_codes(tmp_path / "data.npz")
    for name in ("data.npy", "data.npz", "data.csv"):
        path = tmp_path / name
        with pytest.raises(FileNotFoundError, match="no such file"):
            read(path)
        path.mkdir()
        with pytest.raises(ValueError, match="it is not a file"):
            read(path)
        path.rmdir()
        path.touch()
        with pytest.raises(ValueError, match="it is empty"):
            read(path)


@pytest.mark.parametrize("name", ["data.npy", "data.npz"])
def test_pickles_refused(tmp_path, name):
    (tmp_path / name).write_bytes(pickle.dumps(X))
    with pytest.raises(ValueError, match="damaged or holds Python objects"):
        read(tmp_path / name)


def test_files_of_another_kind_are_named(tmp_path):
    np.savez(tmp_path / "x.npz", X=X)
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    with pytest.raises(ValueError, match=r"it is a \.npz or other zip file, not a \.npy file"):
        read(tmp_path / "x.npy")
    files.save(tmp_path / "x.npz", {}, {}, kind="model")
    with pytest.raises(ValueError, match=r"it is a structhash file of kind 'model', not a \.npz file"):
        read(tmp_path / "x.npz")
    files.save(tmp_path / "index", {}, {}, kind="index.exact")
    with pytest.raises(ValueError, match=r"known are \.npy, \.npz, \.csv; it is a .* of kind 'index\.exact'$"):
        read(tmp_path / "index")
    with pytest.raises(
        ValueError, match=r"known are \.npy; it is a .*'index\.exact'; structhash encode makes codes"
    ):
        read_codes(tmp_path / "index")


def test_long_messages_are_cut(tmp_path):
    np.savez(tmp_path / "data.npz", **{f"a{j:03}": X for j in range(100)})
    with pytest.raises(ValueError, match=r"but holds a000, .*, a007, \.\.\. \(100 in all\)$"):
        read(tmp_path / "data.npz")
    with pytest.raises(ValueError, match=r"line 2, column 1: '(no )+n?o?\.\.\. is no number"):
        read(csv(tmp_path, "1\n" + "no " * 1000))


def test_object_arrays_refused(tmp_path):
    np.save(tmp_path / "data.npy", np.array([[None]]), allow_pickle=True)
    with pytest.raises(ValueError, match="damaged or holds Python objects"):
        read(tmp_path / "data.npy")


@pytest.mark.parametrize("name", ["data.npy", "data.npz"])
def test_damaged_files_open_or_say_why(tmp_path, name):
    path = tmp_path / name
    if name.endswith("npy"):
        np.save(path, X)
    else:
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


def test_codes(tmp_path):
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


def test_write_npy_refuses(tmp_path):
    with pytest.raises(ValueError, match=r"the name must end in \.npy"):
        write_npy(tmp_path / "a", X)
    with pytest.raises(ValueError, match="the array holds Python objects"):
        write_npy(tmp_path / "a.npy", np.array([None]))
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        write_npy(tmp_path / "nowhere" / "a.npy", X)
    assert os.listdir(tmp_path) == []


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
