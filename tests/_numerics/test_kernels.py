"""Kernels run wherever the package is installed, and whatever happens to their cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import structhash

CODE = """
import logging
logging.basicConfig(level=logging.INFO, format="%(message)s")
import numpy as np
from structhash.codes import hamming
print(int(hamming(np.array([[7]], np.uint8), np.array([[0]], np.uint8))[0, 0]))
"""
ONCE = "compiling numerical code, once; this can take half a minute"


@pytest.fixture
def run(tmp_path):
    """Compute one distance with a copy of the package whose folder, like the home, holds no cache."""
    package = tmp_path / "lib" / "structhash"
    shutil.copytree(Path(structhash.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [*package.rglob("*/"), package]:
        (folder / "__pycache__").write_text("a file, so that numba can write nothing beside the source")

    def check(**variables):
        known = {key: value for key, value in os.environ.items() if key not in ("HOME", "NUMBA_CACHE_DIR")}
        known |= {
            "PYTHONPATH": str(package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(tmp_path / "tmp"),
        }
        known |= {"HOME": "/dev/null", **variables}
        (tmp_path / "tmp").mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", CODE], env=known, cwd=tmp_path, capture_output=True, text=True
        )
        assert (done.stdout, done.returncode) == ("3\n", 0), done.stderr
        return done.stderr

    return check


def cache(tmp_path):
    return tmp_path / "tmp" / f"structhash-kernels-{os.getuid()}"


@pytest.mark.slow
def test_the_temporary_folder_keeps_compiled_code_where_nothing_else_can(run, tmp_path):
    assert run() == f"{ONCE}\n"
    assert cache(tmp_path).stat().st_mode & 0o777 == 0o700
    assert run() == ""  # nothing is compiled again


@pytest.mark.slow
def test_a_damaged_cache_is_written_again(run, tmp_path):
    run()
    for pattern in ("*.nbi", "*.nbc"):
        for path in cache(tmp_path).rglob(pattern):
            path.write_bytes(path.read_bytes()[:20])
        assert "is damaged; it is compiled again" in run()
        assert run() == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["open to others", "a link", "of another user"])
def test_code_is_not_loaded_from_a_folder_that_others_can_write(run, tmp_path, kind):
    folder = cache(tmp_path)
    folder.parent.mkdir()
    if kind == "a link":
        (tmp_path / "other").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "other")
    else:
        folder.mkdir(mode=0o700)
    if kind == "open to others":
        folder.chmod(0o777)
    if kind == "of another user":
        if os.getuid():
            pytest.skip("only root can give a folder away")
        os.chown(folder, 65534, 65534)
    assert "in every run: no folder to keep it in; set NUMBA_CACHE_DIR" in run()
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_named_folder_comes_first(run, tmp_path):
    run(NUMBA_CACHE_DIR=str(tmp_path / "named"))
    assert list((tmp_path / "named").rglob("*.nbi"))
    assert not cache(tmp_path).exists()
