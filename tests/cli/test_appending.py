"""Processes that append to one file."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from structhash.cli import _appending as module
from structhash.cli._appending import appending


def test_what_each_adds_to_a_file_that_is_replaced_is_kept(tmp_path):
    path = tmp_path / "lines"
    path.write_text("")

    def add(line):  # each opens the file, so threads wait for each other as processes do
        with appending(path):
            (tmp_path / str(line)).write_text(f"{path.read_text()}{line}\n")
            os.replace(tmp_path / str(line), path)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(200)))
    assert sorted(map(int, path.read_text().split())) == list(range(200))


def test_a_file_on_a_system_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "fcntl", None)
    (tmp_path / "a").touch()
    with appending(tmp_path / "a"):
        (tmp_path / "a").write_text("b")
    assert (tmp_path / "a").read_text() == "b"


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="--append: no such file"), appending(tmp_path / "a"):
        pass
