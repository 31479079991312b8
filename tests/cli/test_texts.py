"""Texts of rows."""

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from structhash.cli.texts import read_texts

TEXTS = ["one, two", "007", "drei é"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Data files with a column or an array of texts."""
    monkeypatch.chdir(tmp_path)
    np.savez("d.npz", X=np.zeros((3, 2)), note=np.array(TEXTS))
    (tmp_path / "d.csv").write_text('a,note\n1,"one, two"\n2,007\n3,drei é\n')
    table = pa.table({"a": [1.0, 2.0, 3.0], "note": TEXTS})
    pa.parquet.write_table(table, "d.parquet")
    pa.feather.write_feather(table, "d.feather")
    np.save("t.npy", np.array(TEXTS))
    (tmp_path / "t.txt").write_text("\n".join(TEXTS) + "\n")
    return tmp_path


@pytest.mark.parametrize("suffix", ["npz", "csv", "parquet", "feather"])
def test_a_column_of_the_data(data, suffix):
    assert read_texts("note", data / f"d.{suffix}") == TEXTS


@pytest.mark.parametrize("file", ["t.npy", "t.txt"])
def test_a_file(data, file):
    assert read_texts(file, data / "d.npz") == TEXTS


@pytest.mark.parametrize(("suffix", "holds"), [("npz", "X, note"), ("csv", "a, note"), ("parquet", "a, note")])
def test_no_such_column_or_file(data, suffix, holds):
    message = rf"--texts 'nothing': no such file, and .*d\.{suffix} has {holds}; give a file"
    with pytest.raises(ValueError, match=message):
        read_texts("nothing", data / f"d.{suffix}")


def test_a_table_is_not_a_list_of_texts(data):
    with pytest.raises(
        ValueError, match=r"--texts d\.csv has the columns a, note; give a file with one column"
    ):
        read_texts("d.csv", data / "d.npz")


def test_a_folder_has_no_columns(data):
    with pytest.raises(ValueError, match=r"has no columns of text; give a file, one text a line"):
        read_texts("note", data / "*.npz")


def test_a_format_without_columns(data):
    with pytest.raises(ValueError, match=r"t\.npy has no columns of text; give a file, one text a line"):
        read_texts("note", data / "t.npy")
