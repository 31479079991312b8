"""Examples of rankings."""

import re

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

from structhash.evaluation import compare, summarise
from structhash.evaluation.details import details
from structhash.io import Dataset
from structhash.report.elements import Html, element
from structhash.report.examples import examples
from structhash.report.page import page, section
from structhash.report.rows import ShownRows, show_rows

DETAILS = {
    "lines": [2, 0],
    "measure": "map",
    "labels": {"7": "<b>", "8": "x" * 80},
    "ids": {"7": "doc-7"},
    "examples": [
        {
            "seed": 0,
            "query": 4,
            "label": "<b>",
            "hard": place > 1,
            "values": [0.5, None],
            "found": [[[7, 1], [8, 0]], [[8, 0], [7, 3]]],
        }
        for place in range(4)
    ],
}
NAMES = ["first", "second", "third"]


def test_right_and_wrong_rows_are_told_apart_by_sign_and_frame():
    page = "".join(examples(DETAILS, NAMES, ShownRows({}, {}, "", "No pictures.")))
    items = re.findall(r'<li class="(item|item wrong)"><b>(.*?)</b> <small>(.*?)</small>', page)
    cut = "✗ " + "x" * 39 + "…"
    assert items[:4] == [
        ("item", "✓ &lt;b&gt;", "doc-7"),
        ("item wrong", cut, "8"),
        ("item wrong", cut, "8"),
        ("item", "✓3 &lt;b&gt;", "doc-7"),
    ]
    assert re.findall(r'class="who">(.*?)<', page)[:2] == ["third: map 0.500", "first: map no value"]
    assert "No pictures." in page
    assert page.count("<details") == 4
    assert page.count(" open>") == 3
    assert page.count("one of the hardest") == 2


def test_rows_are_shown_by_what_they_are():
    shown = ShownRows({7: Html("<img alt=seven>")}, {4: Html("<img alt=four>")}, "image", "")
    page = "".join(examples(DETAILS, NAMES, shown))
    assert page.count("<img alt=seven>") == 2 * 4
    assert page.count("<img alt=four>") == 4


def test_only_the_first_texts_are_shown():
    many = {**DETAILS["examples"][0], "found": [[[7, 1]] * 10, [[8, 0]] * 10]}
    details = {**DETAILS, "examples": [many]}
    assert "".join(examples(details, NAMES, ShownRows({}, {}, "text", ""))).count("<li") == 10
    assert "".join(examples(details, NAMES, ShownRows({}, {}, "image", ""))).count("<li") == 20


def test_the_size_of_all_thumbnails_is_bounded(tmp_path):
    noise = np.random.default_rng(0).integers(2, size=(80, 80, 3)) * 255
    Image.fromarray(noise.astype(np.uint8)).save(tmp_path / "a.png")
    X, y = (array[:200] for array in load_digits(return_X_y=True))
    methods = ["lsh", "itq", "pcah", "rph", "sh", "cca_itq", "float"]
    results = list(compare(methods, X, y, bits=[8], seeds=[0], measures=["map"], n_queries=40))
    found = details(summarise(results), results, y, y)
    shown = show_rows(found, Dataset(X), own_queries=False, files=[tmp_path / "a.png"] * len(X))
    page = "".join(examples(found, methods, shown))
    assert page.count("<img") == 488
    assert len(page) < 3_500_000


def test_texts_of_one_line_have_the_same_height(browser, tmp_path):
    texts = {row: element("span", "word " * (1 + 3 * row)) for row in range(6)}
    found = [[[row, 1] for row in range(5)], [[5, 1]]]
    labels = {str(row): "x" * (5 * row) for row in texts}
    about = {**DETAILS, "labels": labels, "examples": [{**DETAILS["examples"][0], "found": found}]}
    parts = examples(about, NAMES, ShownRows(texts, {}, "text", ""))
    (tmp_path / "x.html").write_text(page("t", [], [section("s", "S", *parts)], {}), "utf-8")
    browser.open(tmp_path / "x.html", width=1200)
    assert browser.run("new Set([...document.querySelectorAll('li.item')].map(i => i.clientHeight)).size") == 1
