"""The tables in README and docs are those of the committed result files."""

import json
import runpy
from pathlib import Path

import pytest

from structhash.evaluation import as_table, from_json, parse_method
from structhash.pieces import classes, names

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = sorted((BENCHMARKS / "results").glob("*.json"))


@pytest.mark.parametrize("name", ["usps_seen", "isolet_unseen", "banking77_minilm_unseen"])
def test_readme_shows_the_result_file(name):
    document = json.loads((BENCHMARKS / "results" / "best" / f"{name}.json").read_text())
    readme = (ROOT / "README.md").read_text()
    for line in as_table(from_json(document)).splitlines():
        assert line.strip() in readme


@pytest.mark.parametrize("name", ["baselines.md", "method.md", "results.md", "speed.md"])
def test_pages_are_what_their_script_makes(name):
    pages, page = runpy.run_path(str(BENCHMARKS / "pages.py")), (ROOT / "docs" / name).read_text()
    assert page == pages["filled"](page, pages["PAGES"][name]), "run benchmarks/pages.py"


@pytest.mark.parametrize("name", names("baselines"))
def test_every_baseline_is_in_the_benchmark_and_on_the_page(name):
    baseline = classes("baselines")[name]
    assert baseline.source
    assert baseline.settings_from
    for spec in baseline.specs():
        assert {type(encoder) for encoder in parse_method(spec).encoders} == {baseline}
    originals = BENCHMARKS / "results" / "originals" / f"{name}.json"
    lines = json.loads(originals.read_text()).values() if originals.exists() else ()
    assert {line["repository"] for line in lines} == {baseline.original} - {None}
    assert f"\n| `{name}` | " in (ROOT / "docs" / "baselines.md").read_text()
