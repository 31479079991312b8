"""The tables in README and docs are those of the committed result files."""

import json
import runpy
from pathlib import Path

import pytest

from structhash.evaluation.methods import parse_method
from structhash.evaluation.report import from_json, table
from structhash.pieces import names

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = sorted((BENCHMARKS / "results").glob("*.json"))


@pytest.mark.parametrize("name", ["usps_seen", "isolet_unseen", "banking77_minilm_unseen"])
def test_readme_shows_the_result_file(name):
    document = json.loads((BENCHMARKS / "results" / "best" / f"{name}.json").read_text())
    readme = (ROOT / "README.md").read_text()
    for line in table(from_json(document)).splitlines():
        assert line.strip() in readme


@pytest.mark.parametrize("name", ["baselines.md", "method.md", "results.md", "speed.md"])
def test_pages_are_what_their_script_makes(name):
    pages, page = runpy.run_path(str(BENCHMARKS / "pages.py")), (ROOT / "docs" / name).read_text()
    assert page == pages["filled"](page, pages["PAGES"][name]), "run benchmarks/pages.py"


@pytest.mark.parametrize("name", names("baselines"))
def test_every_peer_is_in_the_benchmark_and_on_the_page(name):
    module = runpy.run_path(str(BENCHMARKS / "methods" / f"{name}.py"))
    assert module["SOURCE"]
    assert module["SETTINGS"]
    for spec in module["SPECS"]:
        (encoder, *_) = parse_method(spec).encoders
        assert encoder.__class__ is parse_method(name).encoders[0].__class__
    originals = BENCHMARKS / "results" / "originals" / f"{name}.json"
    lines = json.loads(originals.read_text()).values() if originals.exists() else ()
    assert {line["repository"] for line in lines} == {module["ORIGINAL"]} - {None}
    assert f"\n| `{name}` | " in (ROOT / "docs" / "baselines.md").read_text()
