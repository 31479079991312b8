"""structhash reproduce."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.cli import reproduce as command
from structhash.reproduce.plan import Plan, Run

RUNS = [Run("usps", method, 64, (64,), 0, 80) for method in ("LSH", "StructH-SN-Stage")]


@pytest.fixture
def data(tmp_path):
    """A folder with digits that pass for usps: 16 by 16 pixels."""
    X, y = load_digits(return_X_y=True)
    X = np.kron(X[:140].reshape(-1, 8, 8), np.ones((1, 2, 2))).reshape(140, 256)
    folder = tmp_path / "data"
    folder.mkdir()
    np.savez(folder / "usps.npz", X=X.astype(np.float32), y=y[:140])
    return folder


@pytest.fixture
def small(monkeypatch):
    """A plan of two runs in place of both plans."""
    monkeypatch.setattr(command, "make_plan", lambda quick: Plan(quick, RUNS, []))


@pytest.mark.slow
def test_it_writes_a_page_a_text_and_numbers_and_does_nothing_twice(done, small, data, tmp_path):
    out = tmp_path / "out"
    text = done("reproduce", "--data", data, "-o", out, "--quick")
    assert "not measured    StructHash is ahead of the methods of others" in text
    assert "0 hold in these runs, 0 do not hold, 21 not measured." in text
    assert sorted(path.name for path in out.iterdir()) == [
        "reproduced.html",
        "reproduced.json",
        "reproduced.md",
        "runs",
    ]
    document = json.loads((out / "reproduced.json").read_text())
    assert document["quick"] is True
    stamps = [path.stat().st_mtime_ns for path in sorted((out / "runs").iterdir())]
    again = json.loads(done("reproduce", "--data", data, "-o", out, "--quick", "--json"))
    assert [path.stat().st_mtime_ns for path in sorted((out / "runs").iterdir())] == stamps
    assert {**again, "date": ""} == {**document, "date": ""}


@pytest.mark.slow
@pytest.mark.parametrize("step", ["make_page", "finish_runs"])
def test_an_interrupt_says_where_finished_runs_are(run, small, data, tmp_path, monkeypatch, step):
    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, step, stop)
    result = run("reproduce", "--data", data, "-o", tmp_path / "out", "--quick")
    runs = tmp_path / "out" / "runs"
    said = f"note: finished runs are in {runs}; the same command goes on from there\ninterrupted\n"
    assert (result.exit_code, result.stderr) == (130, said)


def test_the_folder_of_the_data_must_be_given_and_hold_them(run, data, tmp_path, monkeypatch):
    monkeypatch.delenv("STRUCTHASH_DATA", raising=False)
    result = run("reproduce", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "give --data FOLDER, or set STRUCTHASH_DATA" in result.stderr
    result = run("reproduce", "--data", data, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "has no isolet.npz, mnist.npz" in result.stderr
    monkeypatch.setenv("STRUCTHASH_DATA", str(tmp_path))
    result = run("reproduce", "-o", tmp_path / "out")
    assert f"{tmp_path} has no usps.npz" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_folder_for_the_output(run, small, data, tmp_path):
    (tmp_path / "out").write_text("mine")
    result = run("reproduce", "--data", data, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "it is not a folder" in result.stderr
    assert (tmp_path / "out").read_text() == "mine"
