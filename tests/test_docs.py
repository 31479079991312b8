"""The tables in docs are those of the committed result files, which have the present names."""

import json
import runpy
import zlib
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


def test_names_of_results_change_once():
    script = runpy.run_path(str(BENCHMARKS / "rename_results.py"))
    old = script["CHECKSUMS"].split()
    assert len(old) == 45
    assert not {f"{zlib.crc32(path.read_bytes()):08x}" for path in RESULTS} & set(old)
    text = '{"structhash": "0.1.0", "method": "structhash", "mean": 0.50, "surer": 1}'
    new = '{"structhash": "0.1.0", "method": "distilhash", "mean": 0.50, "new_class_evidence": 1}'
    assert script["renamed"](text) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("structhash@database:embedding=metric", "distilhash@database:embedding=metric"),
        ("structhash:ranking=sndcg", "structhash"),
        ("structhash:ranking=sndcg,family=rbf", "structhash:family=rbf"),
        ("structhash:ranking=ndcg", "structhash:ranking=ndcg"),
        ("ksh:anchors=1000", "ksh:n_anchors=1000"),
        ("sdh:n_anchors=2000", "sdh:n_anchors=2000"),
        ("50 anchors a bit", "50 anchors a bit"),
        ("structhash QUERIES=0.25", "distilhash:embedding=posterior:query_candidates=4"),
    ],
)
def test_names_of_methods(old, new):
    assert runpy.run_path(str(BENCHMARKS / "rename_results.py"))["rename"](old) == new


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
