"""The page about a comparison, in a real browser."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image

from structhash.cli.commands import app
from structhash.io import Dataset
from structhash.report.comparison import command_of, comparison_page
from structhash.report.rows import show_rows

RESULTS = sorted((Path(__file__).parents[2] / "benchmarks" / "results").rglob("*.json"))
COMPARISONS = [path for path in RESULTS if '"data_sha256"' in path.read_text()]
PARTS = ["results", "figures", "classes", "hardest", "examples", "made"]


@pytest.fixture(scope="module")
def written(digits_and_results, document, tmp_path_factory):
    """The page with pictures."""
    shown = show_rows(document["details"], Dataset(digits_and_results[0]), own_queries=False)
    path = tmp_path_factory.mktemp("comparison") / "page.html"
    path.write_text(comparison_page(document, shown), "utf-8")
    return path


@pytest.fixture(scope="module")
def photographed(document, tmp_path_factory):
    """The page with an image file for each row."""
    folder = tmp_path_factory.mktemp("photographs")
    files = [folder / f"{row}.png" for row in range(document["rows"])]
    for row, path in enumerate(files):
        Image.new("RGB", (90, 120), (row % 256, 100, 90)).save(path, compress_level=0)
    rows = Dataset(np.zeros((document["rows"], 3)))
    shown = show_rows(document["details"], rows, own_queries=False, files=files)
    (folder / "page.html").write_text(comparison_page(document, shown), "utf-8")
    return folder / "page.html"


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_it_is_sound_on_every_screen(browser, written, width, dark):
    browser.open(written, width=width, dark=dark)
    assert browser.errors == []
    assert [each for each in browser.requests if not each.startswith("data:")] == [written.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.clashes() == []
    assert browser.run("[...document.querySelectorAll('section')].map(s => s.id)") == PARTS


def test_all_pictures_show(browser, written):
    browser.open(written)
    sizes = browser.run("[...document.images].map(i => [i.complete, i.naturalWidth])")
    assert len(sizes) > 50
    assert all(each == [True, 8] for each in sizes)


def test_all_thumbnails_show(browser, photographed):
    browser.open(photographed, width=400)
    assert browser.errors == []
    assert browser.run("document.documentElement.scrollWidth") == 400
    sizes = browser.run("[...document.images].map(i => [i.complete, i.naturalHeight, i.width])")
    assert len(sizes) > 50
    assert all(each == [True, 80, 64] for each in sizes)


def test_the_table_of_results_sorts_by_a_measure(browser, written, document):
    browser.open(written)
    browser.run("document.querySelectorAll('#results th button')[2].click()")
    shown = browser.run(
        "[...document.querySelectorAll('#results tbody tr')]"
        ".map(r => [r.cells[0].textContent, r.cells[2].textContent.slice(0, 5)])"
    )
    shown = shown[: len(document["lines"])]
    expected = sorted(document["lines"], key=lambda line: -line["mean"]["map"])
    assert shown == [[line["method"], f"{line['mean']['map']:.3f}"] for line in expected]


def test_a_choice_of_measure_changes_the_figures(browser, written):
    browser.open(written)
    titles = (
        "[...document.querySelectorAll('#figures figcaption')].filter(f => f.checkVisibility())"
        ".map(f => f.firstChild.textContent.trim())"
    )
    assert browser.run(titles) == [f"map against {x}" for x in ("bits", "bytes", "encoding time", "query time")]
    browser.run(
        "const s = document.querySelector('#figures select'); s.selectedIndex = 1;"
        "s.dispatchEvent(new Event('change'))"
    )
    assert browser.run(titles)[0] == "precision@5 against bits"


def test_a_method_has_one_colour_and_one_mark_in_all_charts(written):
    """The float vectors are grey everywhere."""
    signs = r'<svg viewBox="0 0 24 14"[^>]*><g class="(\w+)">'
    signs += r'(?:<path d="M1,7h22"[^>]*>(?:</path>)?)?<path d="([^"]*)"'
    found = {}
    for colour, mark, name in re.findall(signs + r".*?</svg>([^<,]+)", written.read_text("utf-8")):
        found.setdefault(name, set()).add((colour, mark))
    assert {"itq", "lsh", "cca_itq", "float"} <= set(found)
    assert all(len(each) == 1 for each in found.values())
    assert {colour for colour, _ in found["float"]} == {"grey"}


def test_hostile_names_are_text(browser, document, tmp_path):
    odd = "</script><script>document.title = 'changed'</script><img src=x onerror=alert(1)>"
    lines = [{**line, "method": line["method"] + odd, "chosen": [odd]} for line in document["lines"]]
    details = {**document["details"], "labels": dict.fromkeys(document["details"]["labels"], odd)}
    options = {**document["options"], "measures": ["map", "precision@5"], "methods": [odd]}
    path = tmp_path / "odd.html"
    path.write_text(
        comparison_page({**document, "data": odd, "lines": lines, "details": details, "options": options}),
        "utf-8",
    )
    browser.open(path, width=400)
    assert browser.errors == []
    assert browser.run("document.querySelectorAll('script').length") == 1
    assert browser.run("document.images.length") == 0
    assert browser.run("document.querySelector('h1').textContent") == f"Comparison of codes: {odd}"
    assert browser.run("document.documentElement.scrollWidth") == 400


def test_the_summary_names_the_best_line_of_each_length(document):
    page = comparison_page(document)
    for n_bits in (8, 16):
        best = max((x for x in document["lines"] if x["n_bits"] == n_bits), key=lambda x: x["mean"]["map"])
        name, value = f"<b>{best['method']}</b> ({best['distance']})", f"map {best['mean']['map']:.3f}"
        said = f"At {n_bits} bits, {name} is best: {value}."
        assert said in page
        same = [x for x in document["lines"] if x["n_bits"] == n_bits]
        near = [x["method"] for x in same if x is not best and x["p_value"]["map"] >= 0.05]
        rest = page.partition(said)[2].partition("</li>")[0]
        assert all(f"{method} (" in rest for method in near)
        assert ("All others are significantly below." in rest) == (not near)


def test_an_earlier_document_says_what_it_lacks(document):
    earlier = {name: value for name, value in document.items() if name != "details"}
    untimed = [
        {name: value for name, value in line.items() if name != "query_seconds"} for line in document["lines"]
    ]
    assert len(untimed[0]) < len(document["lines"][0])
    earlier["lines"] = untimed
    page = comparison_page(earlier)
    assert page.count("This is left out: the result does not hold it") == 3
    assert 'class="chart"' in page
    assert "map against query time is left out: the result does not hold these times" in page
    assert "query ms" not in page
    assert "Rows are shown by label and number" in comparison_page(document)


@pytest.mark.parametrize("path", COMPARISONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_earlier_results_are_readable(path):
    document = json.loads(path.read_text())
    n_abscissas = 3 + any(each.get("query_seconds") for each in document["lines"])
    found = re.findall("<figcaption>[^<]* against ", comparison_page(document))
    assert len(found) == n_abscissas * len(document["options"]["measures"])


def test_queries_without_labels_and_rankings(document):
    details = {**document["details"], "classes": None, "examples": []}
    page = comparison_page({**document, "details": details})
    assert "the queries have no labels" in page
    assert "does not rank the whole database" in page


def test_a_comparison_that_failed_as_a_whole(document):
    nothing = {"map": None, "precision@5": None}
    failed = {
        **document["lines"][0],
        "mean": nothing,
        "fit_seconds": None,
        "encode_seconds": None,
        "query_seconds": None,
        "error": "E: no",
    }
    page = comparison_page({**document, "lines": [failed], "details": {}})
    assert "E: no" in page
    assert "<figure" not in page


def test_the_command_is_one_that_compare_takes(document):
    options = {**document["options"], "methods": ["itq@database:max_iter=3", "lsh"], "train": 50}
    options["reading"] = {"label": "my label", "header": False, "ignore": ["a", "b"]}
    words = shlex.split(command_of({**document, "options": options}))
    assert words[:3] == ["structhash", "compare", "digits <i>.npz"]
    command = typer.main.get_command(app).commands["compare"]
    with command.make_context("compare", words[2:]) as context:
        given = context.params
    assert given["methods"] == "itq@database:max_iter=3,lsh"
    assert (given["bits"], given["seeds"], given["queries"], given["train"]) == ("8,16", "0,1", 2000, 50)
    assert given["measures"] == ["map,precision@5"]
    assert (given["label"], given["no_header"], given["ignore"]) == ("my label", True, ["a", "b"])
