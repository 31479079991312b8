"""The tables in docs are those of the committed result files, which have the present names."""

import json
import re
import runpy
from pathlib import Path

import pytest

from structhash.evaluation import parse_method
from structhash.pieces import classes, names

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = sorted((BENCHMARKS / "results").rglob("*.json"))


@pytest.mark.slow
@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_methods_of_result_files_are_method_specs(path):
    document = json.loads(path.read_text())
    lines = document.get("lines", [])
    if path.stem in ("speed", "fingerprints", "encode"):  # which name their lines themselves
        return
    for line in lines:
        name = line.get("method", line.get("choice", "float"))
        if name != "distilhash with hard targets":
            parse_method(name.removesuffix(" of K"))
    for name in document.get("options", {}).get("methods", []):
        parse_method(name.removesuffix(" of K"))


@pytest.mark.parametrize("name", ["baselines.md", "method.md", "results.md", "search-numbers.md", "speed.md"])
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


def test_the_example_of_each_kind_of_piece_is_there():
    lines = (ROOT / "CONTRIBUTING.md").read_text().splitlines()
    named = [re.fullmatch(r"\| [a-z ]+ \| `([a-z_/]+)` \| .* \| `([a-z0-9_]+\.py)` \|", line) for line in lines]
    found = [match.groups() for match in named if match]
    assert len(found) == 13
    for folder, name in found:
        assert list((ROOT / "src" / "structhash" / folder).glob(name)), f"{folder}/{name}"
