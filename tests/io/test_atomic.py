"""Atomic writes: whole or not at all, whatever happens to the disk or the process."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from structhash.io import container as files


def test_atomic_writes_whole_files(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with files.atomic(str(path)) as temporary:
        temporary.write_text("new")
        assert temporary.parent.parent == tmp_path
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_atomic_leaves_nothing_after_an_error(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")

    def write():
        with files.atomic(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_atomic_follows_a_link_and_the_umask(tmp_path):
    good, link = tmp_path / "good", tmp_path / "link"
    files.save(good, {}, {}, kind="toy")
    link.symlink_to(good)
    files.save(link, {}, {"n": 1}, kind="toy")
    assert link.is_symlink()
    assert files.header(good)["n"] == 1
    plain = tmp_path / "plain"
    plain.write_text("")
    assert good.stat().st_mode == plain.stat().st_mode


def test_atomic_refuses_folders(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist; create it"),
        files.atomic(tmp_path / "nowhere" / "file"),
    ):
        pass
    with pytest.raises(ValueError, match="it is a folder; give the name of a file"), files.atomic(tmp_path):
        pass


def test_atomic_says_where_a_link_leads(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "astray").symlink_to(tmp_path / "nowhere" / "file")
    with (
        pytest.raises(ValueError, match="it is a link that leads to itself; give"),
        files.atomic(tmp_path / "loop"),
    ):
        pass
    message = r"astray: the folder .*nowhere does not exist; create it first"
    with pytest.raises(FileNotFoundError, match=message), files.atomic(tmp_path / "astray"):
        pass


@pytest.mark.parametrize("name", [b"n" * 255, "漢".encode() * 85, b"\xff\xfe", b"[*].(x"])
def test_every_name_that_the_system_takes_is_written(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    files.save(path, {"a": np.arange(3)}, {}, kind="toy")
    assert files.header(path)["kind"] == "toy"
    assert os.listdir(os.fsencode(tmp_path)) == [name]


def test_names_outside_the_encoding_of_the_system_are_written(tmp_path):
    code = "import os, structhash.io.container as c; c.save(os.fsdecode(b'caf\\xc3\\xa9'), {}, {}, kind='toy')"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, **plain}, check=True)
    assert os.listdir(os.fsencode(tmp_path)) == [b"caf\xc3\xa9"]


WRITERS = {
    "safetensors": "files.save({path!r}, {{'a': np.zeros(1 << 20)}}, {{}}, kind='toy', force=True)",
    "npy": "write_npy({path!r}, np.zeros(1 << 20))",
    "faiss": "i = Flat(64); i.add(np.zeros((1 << 20, 8), np.uint8)); i.write_faiss({path!r})",
    "trial": "files.try_writing({path!r})",
}


LIMITED = """
import resource
import numpy as np
from structhash.io import container as files, write_npy
from structhash.search import Flat
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))  # as on a full disk
try:
    {code}
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_named_with_the_file(in_a_process, tmp_path, writer):
    path, out = tmp_path / "new" / "file.npy", tmp_path / "out"
    path.parent.mkdir()
    path.write_text("old")
    code = LIMITED.format(code=WRITERS[writer].format(path=str(path)))
    assert in_a_process(code, out=out) == 0
    assert out.read_text() == f"cannot write {path}: File too large\n"
    assert os.listdir(path.parent) == ["file.npy"]
    assert path.read_text() == "old"


def test_a_trial_leaves_no_file(tmp_path):
    files.try_writing(tmp_path / "file")
    assert os.listdir(tmp_path) == []


def test_errors_of_other_files_are_not_blamed_on_the_target(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), files.atomic(tmp_path / "file"):
        (tmp_path / "elsewhere").read_text()


def start_writing(path):
    """A process that is in the middle of an atomic write."""
    code = f"import time\nfrom structhash.io._atomic import atomic\nwith atomic({str(path)!r}) as temporary:"
    code += "\n    temporary.write_text('half')\n    print('begun', flush=True)\n    time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=-1, text=True)
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.slow
def test_what_a_killed_process_left_is_deleted_and_what_a_live_one_writes_is_not(tmp_path):
    path = tmp_path / "file"
    with start_writing(path) as alive:
        with start_writing(path) as killed:
            killed.send_signal(signal.SIGKILL)
        assert len(os.listdir(tmp_path)) == 2
        with files.atomic(path) as temporary:
            temporary.write_text("new")
        left = sorted(os.listdir(tmp_path))
        assert [name[:6] for name in left] == [".file.", "file"]
        alive.kill()
    files.try_writing(tmp_path / "other")  # another target: nothing of it is touched
    assert len(os.listdir(tmp_path)) == 2
    files.try_writing(path)
    assert os.listdir(tmp_path) == ["file"]
