"""Exit statuses, errors and warnings, whatever the command."""

import json
import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.cli.console import say

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
CLI = [sys.executable, "-m", "structhash"]


def test_a_line_is_one_line_whatever_it_says(capsys):
    say("warning", "two\n  lines")
    assert capsys.readouterr() == ("", "warning: two lines\n")


def test_warnings_of_the_library_are_lines(run, tmp_path):
    y = Y[:200].copy()
    y[7] = 77
    np.savez(tmp_path / "d.npz", X=X[:200], y=y)
    result = run("fit", tmp_path / "d.npz", "-o", tmp_path / "m", "--bits", 2, "--json", "--method", "cghash")
    assert json.loads(result.stdout)["bits"] == 2
    assert result.stderr.startswith("warning: 1 of 200 points ")
    assert result.stderr.count("\n") == 1


def test_the_log_is_as_before_after_a_command(done):
    before = list(logging.getLogger("structhash").handlers)
    done("pieces", "starts")
    assert logging.getLogger("structhash").handlers == before


def interrupt_in_compiled_code():
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error


def defect():
    raise ZeroDivisionError


def interrupt():
    raise KeyboardInterrupt


def exhaust():
    raise MemoryError("1 TiB")


@pytest.mark.parametrize(
    ("act", "status", "said"),
    [
        (interrupt, 130, ""),
        (interrupt_in_compiled_code, 130, ""),
        (defect, 1, ""),
        (exhaust, 2, "error: not enough memory for what was asked (1 TiB); ask for less, or give fewer rows\n"),
    ],
)
def test_interrupts_and_defects(run, here, tmp_path, monkeypatch, act, status, said):
    def steps(self, X, y=None, **more):
        yield
        act()

    monkeypatch.setattr(DistilHash, "steps", steps)
    result = run("fit", "train.npz", "-o", tmp_path / "m")
    assert result.exit_code == status
    assert (result.stdout, result.stderr) == ("", said)
    assert isinstance(result.exception, ZeroDivisionError if act is defect else SystemExit)
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_a_pipe_sees_results_only(here, tmp_path):
    words = ["fit", "train.npz", "-o", str(tmp_path / "m"), "--bits", "2", "--json"]
    ended = subprocess.run([*CLI, *words], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert json.loads(ended.stdout)["file"] == str(tmp_path / "m")
    ended = subprocess.run([*CLI, "info", "nowhere"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "error: no such file: nowhere\n"


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(here):
    with subprocess.Popen([*CLI, "search", "m.index", "m.codes"], stdout=-1, stderr=-1) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
