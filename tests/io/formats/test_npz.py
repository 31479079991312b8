"""Data sets in .npz files."""

import os
import pickle
import zipfile

import numpy as np
import pytest

from structhash.io import container as files
from structhash.io import facts, read, read_rows

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
        ({"x": X, "y": X}, r"needs an array X, but holds x, y; name the rows X .*numpy\.savez\(file, X="),
        ({"X": X, "Qrels": X}, "is 'Qrels' the judgements.* Name it qrels, or leave it out"),
        ({"X": X, "y": np.array(["a", "b", "b "])}, "holds 'b' and 'b ', which look the same"),
        ({}, "needs an array X, but holds nothing"),
        ({"X": np.array([[None]])}, "array X holds Python objects; save arrays of numbers"),
        ({"X": X, "y": np.array([None] * 3)}, r"array y holds Python objects; .*y\.astype\(str\)"),
        ({"X": X, "y": np.array(["a", "nan", "b"])}, "y of .* lacks the label of row 1: it is 'nan'"),
        (
            {"X": X, "target": np.arange(3)},
            r"does 'target' hold labels\? Give label='target' or .*--label none",
        ),
        ({"X": X, "Y": np.arange(3), "label": np.arange(3)}, "does 'Y' or 'label' hold labels"),
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


@pytest.mark.parametrize("name", ["q", "queries", "Query"])
def test_queries_of_another_name_are_a_question(tmp_path, name):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, **{name: X})
    for function in (read, read_rows):
        with pytest.raises(ValueError, match=rf"is '{name}' the queries\? Name it Q, or leave it out"):
            function(path)
    np.savez(path, X=X, Q=X[:1], **{name: X})
    assert len(read(path).Q) == 1


def test_the_array_of_labels_may_be_named(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, Y=np.arange(3), y=np.ones(3))
    data = read(tmp_path / "data.npz", label="Y")
    assert (data.y.tolist(), data.label) == ([0, 1, 2], "Y")
    assert read(tmp_path / "data.npz").label == "y"
    assert read(tmp_path / "data.npz", label="none").y is None
    with pytest.raises(ValueError, match="it has no array 'z'; its arrays are X, Y, y"):
        read(tmp_path / "data.npz", label="z")


@pytest.mark.parametrize("name", ["Y", "label"])
def test_labels_are_found_by_name(tmp_path, name):
    np.savez(tmp_path / "data.npz", X=X, **{name: np.arange(3)})
    data = read(tmp_path / "data.npz")
    assert (data.y.tolist(), data.label) == ([0, 1, 2], name)


def test_ignored_arrays_are_named(tmp_path, caplog):
    np.savez(tmp_path / "data.npz", X=X, Z=X, extra=np.arange(3))
    read(tmp_path / "data.npz")
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / 'data.npz'}: ignored the arrays Z, extra"
    ]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", "CF")
def test_rows_come_in_blocks(tmp_path, save, order):
    many = np.asarray(np.arange(9000 * 600).reshape(9000, 600) % 991, np.int16, order=order)
    save(tmp_path / "data.npz", X=many, Q=X, y=np.zeros(2))  # labels are not read
    rows = read_rows(tmp_path / "data.npz")
    blocks = list(rows.blocks)
    assert rows.shape == (9000, 600)
    assert [len(block) for block in blocks] == [6144, 2856]
    np.testing.assert_array_equal(np.concatenate(blocks), many)
    np.testing.assert_array_equal(
        np.concatenate(list(read_rows(tmp_path / "data.npz", queries=True).blocks)), X
    )


def test_rows_of_a_damaged_file_are_refused(tmp_path):
    np.savez(tmp_path / "data.npz", X=X)
    content = bytearray((tmp_path / "data.npz").read_bytes())
    content[content.index(X.tobytes()) + 2] ^= 1
    (tmp_path / "data.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot read .*data\.npz: .*CRC"):
        list(read_rows(tmp_path / "data.npz").blocks)
    np.savez(tmp_path / "data.npz", x=X)
    with pytest.raises(ValueError, match="it needs an array X, but holds x"):
        read_rows(tmp_path / "data.npz")
    np.savez(tmp_path / "data.npz", X=X.astype(object))
    with pytest.raises(ValueError, match="array X holds Python objects"):
        read_rows(tmp_path / "data.npz")


def test_facts_name_the_type_in_the_file(tmp_path):
    np.savez(tmp_path / "data.npz", X=X.astype(np.float16))
    assert facts(tmp_path / "data.npz")["dtype"] == "float16"


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
    with pytest.raises(ValueError, match=r"but holds a000, .*, a007, \.\.\. \(100 in all\); name"):
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


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused(tmp_path):
    path = tmp_path / "twice.npz"
    np.savez(path, X=np.zeros((2, 3)))
    np.save(tmp_path / "X.npy", np.ones((4, 3)))
    with zipfile.ZipFile(path, "a") as file:
        file.write(tmp_path / "X.npy", "X.npy")
    for reads in (read, read_rows):
        with pytest.raises(ValueError, match="it has two arrays 'X'; write the file again"):
            reads(path)


def test_an_array_that_may_hold_ids_is_named(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, Q=X, doc_ids=np.arange(3), other=np.arange(3))
    assert read(tmp_path / "x.npz").id_candidates == ("doc_ids",)
    assert read_rows(tmp_path / "x.npz").id_candidates == ("doc_ids",)
    assert read_rows(tmp_path / "x.npz", queries=True).id_candidates == ()


@pytest.mark.parametrize("function", [read, read_rows])
def test_labels_are_no_ids(function, tmp_path):
    more = {"user_id": [0, 1, 0], "doc_id": [7, 8, 9], "y": [1, 1, 0], "Q": np.eye(2), "qrels": [[0, 1, 1]]}
    np.savez(tmp_path / "x.npz", X=np.eye(3, 2), **more)
    assert function(tmp_path / "x.npz", label="user_id").id_candidates == ("doc_id",)
    for label in (None, "y", "none"):
        assert function(tmp_path / "x.npz", label=label).id_candidates == ("doc_id", "user_id")
