"""Data files are read by the format that their extension names; a new format is one new file."""

import bz2
import importlib
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import structhash.io.formats
from structhash.cli.commands import app
from structhash.io import Dataset, facts, number_note, read, read_rows, suffixes
from structhash.io import container as files
from structhash.io.formats.base import Format
from structhash.pieces import classes

TOY = """
from dataclasses import dataclass

import numpy as np

from structhash.io.dataset import Dataset
from structhash.io.formats.base import Format


@dataclass(frozen=True)
class ToyFormat(Format):
    "Numbers apart by blanks."

    suffixes = (".toy", ".blanks")

    def read(self, path):
        return Dataset(np.loadtxt(path, dtype=np.int8, ndmin=2))
"""


@pytest.fixture
def toy(tmp_path):
    """A new file, seen as if it lay in the folder of formats; returns a data file in its format."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "toy.py").write_text(TOY)
    structhash.io.formats.__path__.append(str(folder))
    importlib.invalidate_caches()
    data = tmp_path / "data.toy"
    data.write_text("1 2\n3 4\n5 6\n")
    yield data
    structhash.io.formats.__path__.remove(str(folder))
    sys.modules.pop("structhash.io.formats.toy", None)
    vars(structhash.io.formats).pop("toy", None)
    importlib.invalidate_caches()


@pytest.mark.parametrize("piece", classes("formats").values())
def test_every_format_keeps_the_contract(piece):
    assert issubclass(piece, Format)
    assert piece.suffixes
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in piece.suffixes)
    assert piece() == piece()


def test_no_two_formats_share_an_extension():
    every = [suffix for piece in classes("formats").values() for suffix in piece.suffixes]
    assert sorted(every) == sorted(set(every)) == sorted(suffixes())
    assert {".csv", ".npy", ".npz"} <= set(every)


def test_a_format_must_implement_read(tmp_path):
    with pytest.raises(NotImplementedError):
        Format().read(tmp_path)
    with pytest.raises(NotImplementedError):
        Format().facts(tmp_path)


def test_a_new_file_in_the_folder_is_a_new_format(toy, tmp_path):
    data = read(toy)
    assert isinstance(data, Dataset)
    assert data.X.dtype == np.float32
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    toy.rename(tmp_path / "data.BLANKS")
    assert facts(tmp_path / "data.BLANKS") == {"kind": "data", "rows": 3, "features": 2, "dtype": "int8"}
    assert np.concatenate(list(read_rows(tmp_path / "data.BLANKS").blocks)).tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ValueError, match=r"known are \.csv, .*, \.toy, \.blanks"):
        read(tmp_path / "data.txt")


def test_the_command_line_takes_a_new_format_without_another_edit(toy, tmp_path):
    run = CliRunner().invoke
    found = run(app, ["info", str(toy)])
    assert found.exit_code == 0
    assert "features  2" in found.stdout
    found = run(app, ["fit", str(toy), "-o", str(tmp_path / "new.toy")])
    assert "cannot write" in found.stderr
    assert ".toy files hold data" in found.stderr
    (tmp_path / "text").write_text("1 2")
    assert f"data files end in {', '.join(suffixes())}" in run(app, ["info", str(tmp_path / "text")]).stderr


def test_a_choice_that_a_format_lacks_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    for function in (read, read_rows, facts):
        with pytest.raises(
            ValueError, match=r"header=True and label='y': \.npy files have no such choice; leave"
        ):
            function(tmp_path / "x.npy", header=True, label="y")
    assert read(tmp_path / "x.npy", features=["a", "b", "c"], ignore=()).X.shape == (3, 3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.npy.gz", b"\x1f\x8b\x08", "it is gzip-compressed; unpack it first"),
        ("x.tsv", b"1\t2\n", "it is text; a .csv file holds numbers separated by commas"),
        ("x.dat", b"PAR1\x15\x04", r"it is a Parquet \(\.parquet\) file"),
        ("x.npy", b"ARROW1\0\0", r"it is an Arrow \(\.arrow or \.feather\) file, not a \.npy file"),
        (
            "x.npz",
            b"MATLAB 5.0 MAT-file\0",
            r"it is a MATLAB file, not a \.npz file; write its arrays to a \.npz",
        ),
        ("y.npz", b"\x89HDF\r\n\x1a\n", r"it is an HDF5 \(\.hdf5 or \.h5\) file, not a \.npz file"),
        ("x.npy", b"\x1f\x8b\x08", r"it is gzip-compressed, not a \.npy file; unpack it first"),
        ("x.csv", b"\xd0\xcf\x11\xe0\0\0", "it is a file of an office program; save its table"),
        ("x.csv.bz2", bz2.compress(b"1,2\n"), "it is bzip2-compressed; unpack"),
        ("x.csv.xz", b"\xfd7zXZ\0", "it is xz-compressed; unpack"),
        ("x.csv.zst", b"\x28\xb5\x2f\xfd\0", "it is zstd-compressed; unpack"),
    ],
)
def test_the_remedy_for_other_files_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / name)


def test_the_toy_is_gone_again():
    assert ".toy" not in suffixes()


@pytest.mark.parametrize("function", [read, facts])
def test_files_refused(tmp_path, function):
    with pytest.raises(ValueError, match=r"unknown extension '\.txt', known are \.csv, .*\.npy, \.npz"):
        function(tmp_path / "data.txt")
    for suffix in suffixes():
        path = tmp_path / f"data{suffix}"
        with pytest.raises(FileNotFoundError, match="no such file"):
            function(path)
        path.mkdir()
        with pytest.raises(ValueError, match="it is not one file but holds no file of data; give a folder"):
            function(path)
        path.rmdir()
        path.touch()
        with pytest.raises(ValueError, match="it is empty"):
            function(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
@pytest.mark.parametrize("name", ["63", "x.csv"])
def test_pipes_are_refused(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(
        ValueError, match="it is not a file but a pipe or a device; write what it gives to a file"
    ):
        read(tmp_path / name)


def test_a_file_of_another_kind_is_named(tmp_path):
    files.save(tmp_path / "index", {}, {}, kind="index.exact")
    with pytest.raises(ValueError, match=r"known are \.csv, .*; it is a .* of kind 'index\.exact'$"):
        read(tmp_path / "index")


@pytest.fixture
def judged(tmp_path):
    """Documents and queries with ids, judgements by these, and all of it in one .npz file."""
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(9, 4)).astype(np.float32), rng.normal(size=(3, 4)).astype(np.float32)
    for name, rows, prefix in (("x", X, "d"), ("q", Q, "q")):
        vectors = pa.array(rows.tolist(), pa.list_(pa.float32()))
        ids = [f"{prefix}-{i}" for i in range(len(rows))]
        pq.write_table(pa.table({"name": ids, "v": vectors}), tmp_path / f"{name}.parquet")
        np.save(tmp_path / f"{name}.npy", rows)
    (tmp_path / "qrels.txt").write_text("q-2 0 d-8 3\nq-0 0 d-1 1\n")
    (tmp_path / "numbers.txt").write_text("2 0 8 3\n0 0 1 1\n")
    qrels = np.array([[2, 8, 3], [0, 1, 1]])
    np.savez(tmp_path / "all.npz", X=X, Q=Q, qrels=qrels)
    return tmp_path


def test_documents_queries_and_judgements_come_from_files_of_their_own(judged):
    expected = read(judged / "all.npz")
    ids = {"query_file": judged / "q.parquet", "qrels": judged / "qrels.txt", "id": "name"}
    numbers = {"query_file": judged / "q.npy", "qrels": judged / "numbers.txt"}
    for found in (read(judged / "x.parquet", **ids), read(judged / "x.npy", **numbers)):
        for array, other in zip(found[:4], expected[:4]):
            np.testing.assert_array_equal(array, other)
    np.savez(judged / "own.npz", X=expected.X, Q=expected.Q)
    np.testing.assert_array_equal(read(judged / "own.npz", qrels=judged / "numbers.txt").qrels, expected.qrels)
    (judged / "rows.txt").write_text("d-0 0 d-1 1\n")  # without queries, rows are queries
    assert read(judged / "x.parquet", id="name", qrels=judged / "rows.txt").qrels.tolist() == [[0, 1, 1]]


def test_judgements_by_row_numbers_warn_where_a_column_may_hold_the_ids(judged, caplog):
    files = {"query_file": judged / "q.parquet", "qrels": judged / "numbers.txt"}
    assert read(judged / "x.parquet", **files).qrels.tolist() == [[2, 8, 3], [0, 1, 1]]
    said = "(columns left out: name): rows are numbered; --id NAME (id='NAME') takes one"
    names = (judged / "q.parquet", judged / "x.parquet")
    assert [each.getMessage() for each in caplog.records] == [
        f"no column of ids in {name} {said}" for name in names
    ]
    caplog.clear()
    read(judged / "x.parquet", **files, id="none")
    read(judged / "x.parquet")  # without judgements, `Dataset.id_candidates` says it
    assert not caplog.records


def test_judgements_and_queries_that_do_not_fit_are_refused(judged):
    np.save(judged / "narrow.npy", np.ones((3, 2)))
    for words, message in (
        ({"query_file": judged / "q.npy"}, "all.npz holds queries Q of its own; leave query_file="),
        ({"qrels": judged / "numbers.txt"}, "all.npz holds judgements of its own; leave qrels="),
    ):
        with pytest.raises(ValueError, match=message):
            read(judged / "all.npz", **words)
    with pytest.raises(ValueError, match="has 2 columns, but X has 4"):
        read(judged / "x.npy", query_file=judged / "narrow.npy")
    with pytest.raises(ValueError, match="line 1 has the unknown query id 'q-2'"):
        read(judged / "x.npy", query_file=judged / "q.npy", qrels=judged / "qrels.txt")


def test_several_files_are_one_data_set_and_one_in_a_list_is_the_file(tmp_path):
    X = np.arange(24, dtype=np.float32).reshape(6, 4)
    parts = [tmp_path / f"{name}.npy" for name in "abc"]
    for part, rows in zip(parts, np.split(X, 3)):
        np.save(part, rows)
    for n in (1, 2, 3):
        np.testing.assert_array_equal(np.concatenate(list(read_rows(parts[:n]).blocks)), X[: 2 * n])
        np.testing.assert_array_equal(np.concatenate(list(read_rows(tuple(parts[:n])).blocks)), X[: 2 * n])
    with pytest.raises(ValueError, match=r"^path=\[\]: give a file, or a sequence of one or more files"):
        read_rows([])
    np.save(parts[2], X[:, :3])
    for given, words in (([parts[0], parts[2]], "1 other file"), (parts, "2 other files")):
        with pytest.raises(ValueError, match=f"cannot read {parts[0]} and {words} as one data set: {parts[2]}"):
            read_rows(given)


def test_the_note_of_row_numbers_names_all_files(tmp_path):
    parts = [tmp_path / f"{name}.npz" for name in "abc"]
    how = "(columns left out: doc_ids): rows are numbered; structhash index --ids FILE takes ids"
    for given, words in (
        (parts[0], ""),
        (parts[:1], ""),
        (parts[:2], " and 1 other file"),
        (parts, " and 2 other files"),
    ):
        assert number_note(given, ["doc_ids"]) == f"no column of ids in {parts[0]}{words} {how}"
    assert number_note(parts, []) is None
