"""benchmarks/exactness.py finds no difference, and would."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import structhash.search._scan as scan

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "exactness.py"))


@pytest.mark.parametrize("form", SCRIPT["FORMS"])
@pytest.mark.parametrize("n_bits", [1, 20, 65])
def test_no_answer_differs(form, n_bits, monkeypatch):
    monkeypatch.setattr(scan, "_MOST_SUMMED", 0)
    learned = np.random.default_rng(0).integers(0, 2, (1600, 65), dtype=np.uint8)
    for kind in SCRIPT["KINDS"]:
        found = SCRIPT["case"](form, kind, n_bits, 30, 1500, (1, 5), learned)
        assert (found["queries"], found["answers"], found["different"]) == (30, 360, 0)


@pytest.mark.parametrize("form", ["weights", "real", "tables"])
def test_a_wrong_bound_is_seen(form, monkeypatch):
    monkeypatch.setattr(scan, "_MOST_SUMMED", 0)
    inner = scan.byte_bounds

    def too_high(*words):
        *judges, found = inner(*words)
        return *judges, found._replace(lowest=found.lowest + 300 * found.unit)

    monkeypatch.setattr(scan, "byte_bounds", too_high)
    assert SCRIPT["case"](form, "random", 64, 60, 1500, (1, 5), None)["different"] > 0
