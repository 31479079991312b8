"""Files that cannot be written are refused before the work."""

import os

import numpy as np
import pytest

from structhash.cli.outputs import check_folder, check_output


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("fit train.npz -o nowhere/new", "the folder nowhere does not exist; create it first"),
        ("fit train.npz -o .", "it is a folder; give the name of a file"),
        ("fit train.npz --unlabeled m.npy -o m.npy", ".npy files hold data; give another ending"),
        ("fit train.npz -o /dev/null", "it is not an ordinary file; give another name"),
        ("encode m x.npy -o ./x.npy", "this command reads it; give another name"),
        ("encode m x.npy -o new.csv", ".csv files hold data; give another ending"),
        ("search m.index m.npy -o new", "give a name that ends in .npz"),
        ("demo -o x.npy", "it is not a folder; give another name"),
        ("demo -o nowhere/new", "the folder nowhere does not exist; create it first"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(assert_refused, words, part):
    assert_refused(words, part)


def test_a_folder_without_permission_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="its folder is read-only; give another folder"):
        check_output(tmp_path / "m")


def test_what_can_be_written_passes(tmp_path):
    (tmp_path / "old.npy").write_text("old")
    check_output(None, suffix=".npy")
    check_output(tmp_path / "old.npy", tmp_path / "other.npy", None, suffix=".npy")
    check_folder(tmp_path / "new")
    check_folder(tmp_path)


def test_an_old_file_is_replaced_whole(done, here, tmp_path):
    (tmp_path / "c.npy").write_text("old")
    done("encode", "m", "x.npy", "-o", tmp_path / "c.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.load("m.npy"))
    assert os.listdir(tmp_path) == ["c.npy"]
