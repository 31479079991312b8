"""Exit statuses, errors and warnings, whatever the command."""

import json
import logging
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash
from structhash.cli.console import Unfinished, say, say_if_interrupted

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
CLI = [sys.executable, "-m", "structhash"]


def test_a_line_is_one_line_whatever_it_says(capsys):
    say("warning", "two\n  lines")
    assert capsys.readouterr() == ("", "warning: two lines\n")


@pytest.mark.parametrize(
    ("error", "kept", "said"),
    [
        (KeyboardInterrupt, "two are in x", "note: two are in x; the same command goes on from there\n"),
        (KeyboardInterrupt, "", ""),
        (ValueError, "two are in x", ""),
    ],
)
def test_an_interrupt_says_what_is_finished(capsys, error, kept, said):
    with pytest.raises(error), say_if_interrupted(lambda: kept):
        raise error
    assert capsys.readouterr() == ("", said)


def test_warnings_of_the_library_are_lines(run, tmp_path):
    y = Y[:200].copy()
    y[7] = 77
    np.savez(tmp_path / "d.npz", X=X[:200], y=y)
    result = run("fit", tmp_path / "d.npz", "-o", tmp_path / "m", "--bits", 2, "--json", "--method", "cghash")
    assert json.loads(result.stdout)["bits"] == 2
    assert result.stderr.startswith("warning: 1 of 200 points ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", ["fit a.npy b.npy c.npy -o m", "evaluate m b.npy c.npy", "info a.npy b.npy c.npy"]
)
def test_several_files_where_one_is_taken_are_given_as_a_folder(run, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        np.save(f"{name}.npy", np.eye(3))
    result = run(*words.split())
    assert (result.exit_code, result.stdout) == (2, "")
    extra = result.stderr.partition("extra argument(s) (")[2]
    assert extra.startswith(
        ("b.npy c.npy); give several files as a folder or a quoted pattern (see ", "c.npy); give")
    )
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("words", ["fit a.npy b -o m", "evaluate m a.npy a.npy s.json", "info a.npy folder"])
def test_extra_words_that_are_no_files_bring_no_advice_about_files(run, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.eye(3))
    (tmp_path / "folder").mkdir()
    result = run(*words.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "extra argument(s) (" in result.stderr
    assert "several files" not in result.stderr


def test_extra_words_of_a_command_without_data_are_no_files(run):
    result = run("pieces", "starts", "starts")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "extra argument(s) (starts) (see " in result.stderr


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


class Interrupted:
    def __del__(self):
        raise KeyboardInterrupt


def interrupt_in_a_destructor():
    Interrupted()  # Python drops what a destructor raises
    for _ in range(1000):
        time.sleep(0.01)


def exhaust():
    raise MemoryError("1 TiB")


@pytest.mark.parametrize(
    ("act", "status", "said"),
    [
        (interrupt, 130, "interrupted\n"),
        (interrupt_in_compiled_code, 130, "interrupted\n"),
        (interrupt_in_a_destructor, 130, "interrupted\n"),
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


def shell(text, folder, **variables):
    """A shell line in which `structhash` is the command line: exit status, stdout and stderr."""
    line = f'structhash() {{ "{sys.executable}" -m structhash "$@"; }}; set -o pipefail; {text}'
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env={**os.environ, **variables}, capture_output=True
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("structhash info m >&-", 0, ""),
        ("structhash info m --json >&- 2>&-", 0, ""),
        ("structhash info nowhere 2>&-", 2, ""),
        ("structhash --help >&-", 0, ""),
        ("structhash search m.index m.codes --json | head -1", 1, ""),
        ("structhash info m | true", None, ""),
    ],
)
def test_streams_that_cannot_be_written(here, line, status, said):
    found = shell(line, here)
    assert found[2] == said
    assert found[0] == status or status is None


ENCODED = """
import sys
from structhash.cli.commands import app
encoding = sys.argv.pop(1)
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(encoding=encoding)
app()
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", ["info m", "search m.index m.codes"])
def test_a_full_device_is_named(in_a_process, here, tmp_path, words):
    status = in_a_process(ENCODED, "utf-8", *words.split(), out="/dev/full", err=tmp_path / "err")
    assert (tmp_path / "err").read_text() == "error: cannot write standard output: No space left on device\n"
    assert status == 1


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-16"])
def test_a_terminal_of_another_encoding_shows_names_escaped(in_a_process, here, tmp_path, encoding):
    name, out, err = f"{tmp_path}/漢ü", tmp_path / "out", tmp_path / "err"
    for words in (
        ["fit", "train.npz", "-o", name, "--method", "lsh"],
        ["info", name],
        ["info", name, "--json"],
    ):
        out.write_bytes(b"")
        assert in_a_process(ENCODED, encoding, *words, out=out, err=err) == 0
        assert out.read_bytes()
        assert err.read_bytes() == b""
    status, text, error = shell("structhash --help", here, PYTHONIOENCODING=encoding)
    assert (status, error) == (0, "")
    assert text


@pytest.mark.slow
def test_names_that_are_no_text_are_written_and_shown(in_a_process, here, tmp_path):
    folder, out, err = tmp_path / "new", tmp_path / "out", tmp_path / "err"
    folder.mkdir()
    path = os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")
    words = ["utf-8", "fit", "train.npz", "--method", "lsh", "-o", path]
    assert in_a_process(ENCODED, *words, out=out, err=err) == 0
    assert err.read_bytes() == b""
    assert os.listdir(os.fsencode(folder)) == [b"\xff\xfe"]
    assert b"\\udcff" in out.read_bytes()
    assert in_a_process(ENCODED, "utf-8", "info", path, "--json") == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_command_and_leaves_nothing(in_a_process, here, tmp_path, number):
    code = f"""
import os
from structhash.cli.commands import app
from structhash.io import container
whole = container.write_file
def slow(*words, **more):
    whole(*words, **more)
    os.kill(os.getpid(), {int(number)})
container.write_file = slow
app(["fit", "train.npz", "--method", "lsh", "-o", "{tmp_path}/new/m"])
"""
    (tmp_path / "new").mkdir()
    assert in_a_process(code, err=tmp_path / "err") == 128 + number
    said = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    assert (tmp_path / "err").read_text() == f"{said}\n"
    assert os.listdir(tmp_path / "new") == []


_EXECUTED = """
import os, signal
import typer
from structhash.cli.console import Commands

app = typer.Typer(cls=Commands)

@app.command()
def wait():
    exec("os.kill(os.getpid(), signal.SIGTERM)\\nwhile True: pass")

@app.command()
def other():
    pass

app()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a system without signals")
def test_a_signal_inside_of_executed_text_has_its_exit_status(tmp_path):
    """Numba and dataclasses execute text. Python would end by SIGINT then, whatever the status is."""
    (tmp_path / "late.py").write_text(_EXECUTED)
    ended = subprocess.run(
        [sys.executable, "-m", "late", "wait"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGTERM, "ended by SIGTERM\n")


def test_unfinished_work_is_a_line_and_status_1(run, here, monkeypatch, tmp_path):
    def stop(self, X, y=None, **more):
        raise Unfinished("half of it is done")

    monkeypatch.setattr(DistilHash, "steps", stop)
    result = run("fit", "train.npz", "-o", tmp_path / "m")
    assert (result.exit_code, result.stderr) == (1, "error: half of it is done\n")


@pytest.mark.slow
def test_a_deleted_current_folder_is_named(tmp_path):
    status, text, error = shell("mkdir gone; cd gone; rmdir ../gone; structhash info m", tmp_path)
    assert (status, text) == (2, "")
    assert error == "error: the current folder was deleted; change to another one\n"
