"""Finished runs are kept: a second command runs nothing, and an interrupted one goes on."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.reproduce import cache
from structhash.reproduce.cache import finish_runs, run_path
from structhash.reproduce.plan import Run

RUNS = [Run("usps", method, 8, (8,), seed, 60) for seed in (0, 1) for method in ("LSH", "ITQ")]


@pytest.fixture
def folders(tmp_path):
    X, y = load_digits(return_X_y=True)
    data, runs = tmp_path / "data", tmp_path / "runs"
    data.mkdir()
    runs.mkdir()
    np.savez(data / "usps.npz", X=X[:120], y=y[:120])
    return data, runs


def test_a_second_time_nothing_is_run(folders):
    known = []
    first = list(finish_runs(RUNS, *folders, known.append))
    assert known == [False] * 4
    stamps = {path: path.stat().st_mtime_ns for path in folders[1].iterdir()}
    assert len(stamps) == 4
    assert list(finish_runs(RUNS, *folders, known.append)) == first
    assert known == [False] * 4 + [True] * 4
    assert {path: path.stat().st_mtime_ns for path in folders[1].iterdir()} == stamps


def test_a_run_that_was_stopped_goes_on(folders):
    def stop(known, done=[]):  # noqa: B006 - it counts
        done.append(known)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(finish_runs(RUNS, *folders, stop))
    assert len(list(folders[1].iterdir())) == 2
    known = []
    found = list(finish_runs(RUNS, *folders, known.append))
    assert known == [True, True, False, False]
    assert [each.run for each in found] == RUNS


@pytest.mark.slow
def test_a_process_that_was_killed_goes_on(folders):
    code = """
import sys
from pathlib import Path
from structhash.reproduce.cache import finish_runs
from structhash.reproduce.plan import Run
runs = [Run("usps", method, 8, (8,), 0, 60) for method in ("LSH", "ITQ")]
def wait(known):
    print("finished one", flush=True)
    sys.stdin.read()
list(finish_runs(runs, *map(Path, sys.argv[1:]), wait))
"""
    words = [sys.executable, "-c", code, *map(str, folders)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "finished one\n"
        process.kill()
    known = []
    list(finish_runs(RUNS[:2], *folders, known.append))
    assert known == [True, False]


def test_a_kept_run_equals_a_new_one(folders):
    first = next(finish_runs(RUNS[:1], *folders))
    next(folders[1].iterdir()).unlink()
    again = next(finish_runs(RUNS[:1], *folders))
    for each in (first, again):
        del each.record["fit_seconds"], each.record["load"]
    assert first == again


def test_everything_that_changes_a_result_changes_the_file(tmp_path, monkeypatch):
    run = RUNS[0]
    paths = {run_path(tmp_path, run, "a"), run_path(tmp_path, run, "b")}
    for name, value in {"method": "ITQ", "n_bits": 4, "lengths": (4, 8), "seed": 1, "n_train": 61}.items():
        paths.add(run_path(tmp_path, run._replace(**{name: value}), "a"))
    monkeypatch.setattr(cache, "__version__", "another")
    paths.add(run_path(tmp_path, run, "a"))
    assert len(paths) == 8
    monkeypatch.setitem(cache.METHODS, "LSH", cache.METHODS["LSH"]._replace(spec="lsh:random_state=3"))
    paths.add(run_path(tmp_path, run, "a"))
    assert len(paths) == 9


def test_a_damaged_file_is_named(folders):
    list(finish_runs(RUNS[:1], *folders))
    path = next(folders[1].iterdir())
    path.write_text(path.read_text()[:100])
    with pytest.raises(ValueError, match=rf"{path.name} is damaged; delete it"):
        list(finish_runs(RUNS[:1], *folders))


def test_a_failure_names_its_run(folders):
    bad = [Run("usps", "KSH", 8, (8,), 0, 1)]  # two rows are the least
    with pytest.raises(ValueError, match="minimum of 2") as error:
        list(finish_runs(RUNS[:1] + bad, *folders))
    assert error.value.__notes__ == ["in the reproduction: usps, KSH, 8 bits, seed 0"]
    assert len(list(folders[1].iterdir())) == 1
