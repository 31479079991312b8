"""The README is short, its quick start runs, and its figures are those of the result files."""

import doctest
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results" / "best"


def test_the_readme_is_read_in_two_minutes():
    assert len(README.read_text().splitlines()) <= 60


@pytest.mark.slow
def test_the_quick_start_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert tried > 8
    assert failed == 0


def test_the_figures_are_those_of_the_result_files():
    files = {"known": "{}_seen.json", "new": "{}_unseen.json"}
    row = r"^\| (\w+), (\w+) classes \| \*\*(\.\d+)\*\* \| (\.\d+) \([\w-]+\) \| (\.\d+) \|"
    rows = re.findall(row, README.read_text(), re.M)
    assert len(rows) == 4
    for name, world, ours, peer, vectors in rows:
        stem = {"banking77": "banking77_minilm"}.get(name, name)
        lines = json.loads((RESULTS / files[world].format(stem)).read_text())["lines"]
        found = {line["method"]: line["mean"]["map"] for line in lines if line["n_bits"] in (0, 64)}
        ours_too = ("float", "distilhash", "structhash", "cghash")
        best = max(v for k, v in found.items() if not k.startswith(ours_too))
        own = max(v for k, v in found.items() if k.startswith("distilhash"))
        assert [f"{v:.3f}"[1:] for v in (own, best, found["float"])] == [ours, peer, vectors]
