"""Files that cannot be written are refused before the work."""

import os
import subprocess
import sys
import tempfile

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
        (
            "index m.npy -o m",
            "it is a structhash file of kind 'model', not index; give another name, or --force",
        ),
        ("fit train.npz -o m.index", "it is a structhash file of kind 'index.exact', not model"),
        ("fit train.npz -o data.txt", "it is text, not model"),
        ("encode m train.npz -o x.npy", "it is a .npy file, not codes"),
        ("search m.index m.npy -o train.npz", "it is a .npz or other zip file, not neighbours"),
        ("evaluate m test.npz -o w", "it is a structhash file of kind 'model', not evaluation"),
        ("compare test.npz -o m.index", "it is a structhash file of kind 'index.exact', not comparison"),
        ("evaluate m test.npz -o other.json", "it is text, not evaluation; give another name, or --force"),
        ("compare test.npz -o other.json", "it is text, not comparison"),
        ("demo -o x.npy", "it is not a folder; give another name"),
        ("encode m x.npy -o x.npy/", "cannot write into x.npy: it is not a folder; give another name"),
        ("fit train.npz -o new/", "new/ names a folder; give the name of a file"),
        ("search m.index m.npy -o new.npz/", "new.npz/ names a folder; give the name of a file"),
        ("demo -o nowhere/new", "the folder nowhere does not exist; create it first"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(assert_refused, words, part):
    assert_refused(words, part)


def test_an_archive_that_is_named_like_codes_is_no_codes(assert_refused, here):
    with open("archive.npy", "wb") as file:
        np.savez(file, a=np.zeros((2, 1), np.uint8))
    assert_refused("encode m x.npy -o archive.npy", "it is a .npz or other zip file, not codes; give another")


def test_a_folder_that_this_user_may_not_write_is_refused():
    """In a process without the rights of root, which may write everywhere."""
    if os.getuid():
        pytest.skip("only root can become another user")
    code = """
import os, sys
from structhash.cli.outputs import Path, check_folder, check_output
os.setgroups([]), os.setgid(65534), os.setuid(65534)
folder = Path(sys.argv[1])
for check, path in ((lambda path: check_output(path, makes="model"), folder / "m"), (check_folder, folder),
                    (check_folder, folder / "new")):
    try:
        check(path)
    except PermissionError as error:
        print(error.strerror)
"""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        done = subprocess.run([sys.executable, "-c", code, folder], stdout=-1, stderr=-1, text=True)
    said = [f"cannot write {folder}/m", f"cannot write into {folder}", f"cannot write into {folder}/new"]
    assert done.stdout == "".join(f"{each}: Permission denied\n" for each in said), done.stderr


def test_what_can_be_written_passes(tmp_path):
    np.save(tmp_path / "old.npy", np.zeros((2, 1), np.uint8))
    check_output(None, makes="codes", suffix=".npy")
    check_output(tmp_path / "old.npy", tmp_path / "other.npy", None, makes="codes", suffix=".npy")
    (tmp_path / "empty").touch()
    check_output(tmp_path / "empty", makes="model")
    (tmp_path / "text").write_text("mine")
    check_output(tmp_path / "text", makes="model", force=True)
    check_folder(tmp_path / "new")
    check_folder(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["empty", "old.npy", "text"]


def test_an_old_file_is_replaced_whole(done, here, tmp_path):
    np.save(tmp_path / "c.npy", np.zeros((2, 1), np.uint8))
    done("encode", "m", "x.npy", "-o", tmp_path / "c.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.load("m.npy"))
    done("index", tmp_path / "c.npy", "-o", tmp_path / "c.npy.index")
    done("fit", "train.npz", "-o", tmp_path / "c.npy.index", "--bits", 2, "--method", "lsh", "--force")
    assert sorted(os.listdir(tmp_path)) == ["c.npy", "c.npy.index"]


def test_force_replaces_a_file_of_another_program(run, here, tmp_path):
    out = tmp_path / "text"
    for words in ("fit train.npz --bits 2 --method lsh", "index m.codes", "encode m x.npy"):
        out.write_text("mine")
        assert run(*words.split(), "-o", out).exit_code == 2
        assert out.read_text() == "mine"
        found = run(*words.split(), "-o", out, "--force")
        assert (found.exit_code, found.stderr) == (0, "")
        assert out.read_bytes() != b"mine"


@pytest.mark.slow
def test_the_file_that_output_is_printed_into_is_refused(in_a_process, here, tmp_path):
    words = ["fit", "train.npz", "-o", "/dev/stdout", "--method", "lsh"]
    code = "from structhash.cli.commands import app; app()"
    assert in_a_process(code, *words, out=tmp_path / "facts", err=tmp_path / "err") == 2
    said = "error: cannot write /dev/stdout: this command prints into it; give another name\n"
    assert (tmp_path / "err").read_text() == said
