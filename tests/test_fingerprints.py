"""What fixed seeds learn on digits matches the committed table of checksums, bit by bit."""

import json
import os
import runpy
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
DOCUMENT = json.loads((BENCHMARKS / "results" / "fingerprints.json").read_text())
LINES = DOCUMENT["lines"]["digits"]


@pytest.fixture(scope="module")
def script():
    """Names of the script that makes the table."""
    before = dict(os.environ)
    found = runpy.run_path(str(BENCHMARKS / "fingerprints.py"))  # sets numbers of threads
    os.environ.clear()
    os.environ.update(before)
    return found


@pytest.fixture(scope="module")
def data(script):
    """Rows and labels to learn from, then others; skipped on a machine on which codes may differ."""
    here, there = script["machine"](), DOCUMENT["machine"]
    differ = [name for name in there if here.get(name) != there[name]]
    if differ:
        pytest.skip(
            "; ".join(f"{name} is {here.get(name)}, that of the table {there[name]}" for name in differ)
        )
    return script["rows"]("digits")


def test_the_table_has_a_line_for_each_method_of_the_script(script):
    assert list(LINES) == list(script["METHODS"])
    assert (DOCUMENT["bits"], DOCUMENT["seed"]) == (script["N_BITS"], script["SEED"])


@pytest.mark.slow
@pytest.mark.parametrize("method", LINES)
def test_a_fixed_seed_learns_the_bits_of_the_table(method, script, data):
    assert script["line"](method, *data) == LINES[method]
