"""Pages, in a real browser."""

import csv
import re
from importlib.resources import files

import pytest

from structhash.report.elements import element
from structhash.report.page import Cell, choice, missing, page, section, table
from structhash.report.svg import N_COLOURS

ROWS = [
    ["b10", Cell(".5", 0.5, "number")],
    ["b9", Cell("–", "", "number")],
    ["a <i>", Cell(".25\nlow", 0.25, "number")],
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A page with a table that is too wide for a phone, and a choice."""
    parts = [
        table(
            ["name", "value", 'it\'s "odd" <b>', "w" * 60],
            [[*row, "x", "y" * 90] for row in ROWS],
            "t.csv",
            "All",
        ),
        choice("Measure", {"one": element("p", "first", id="one"), "two": element("p", "second", id="two")}),
        missing("Nothing here."),
    ]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(
        page("Title <x>", [element("p", "Said.")], [section("s", "Part", *parts)], {"s": "Part"}), "utf-8"
    )
    return path


def column(browser, number):
    """First lines of the cells of a column, from top to bottom."""
    return browser.run(
        f"[...document.querySelectorAll('tbody tr')].map(r => r.cells[{number}].firstChild.textContent)"
    )


def click(browser, number):
    """Click the name of a column; how it is sorted then."""
    browser.run(f"document.querySelectorAll('th button')[{number}].click()")
    return browser.run("[...document.querySelectorAll('th')].map(h => h.getAttribute('aria-sort'))")


def test_columns_sort(browser, written):
    browser.open(written)
    assert column(browser, 1) == [".5", "–", ".25"]
    assert click(browser, 1) == [None, "descending", None, None]
    assert column(browser, 1) == [".5", ".25", "–"]
    assert click(browser, 1)[1] == "ascending"
    assert column(browser, 1) == [".25", ".5", "–"]  # what is missing stays last
    assert click(browser, 0) == ["ascending", None, None, None]
    assert column(browser, 0) == ["a <i>", "b9", "b10"]
    assert browser.errors == []


def test_one_option_is_seen_at_a_time(browser, written):
    browser.open(written)
    seen = "['one', 'two'].map(name => document.getElementById(name).checkVisibility())"
    assert browser.run(seen) == [True, False]
    browser.run(
        "{const s = document.querySelector('select'); s.value = '1'; s.dispatchEvent(new Event('change'))}"
    )
    assert browser.run(seen) == [False, True]


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_does_not_scroll_sideways(browser, written, dark):
    browser.open(written, width=400, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") == 400
    assert browser.run("document.querySelector('.scroll').scrollWidth") > 400


def test_an_edge_fades_while_there_is_more_behind_it(browser, written):
    browser.open(written, width=400)
    drawn = "await new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    area = "document.querySelector('.scroll')"
    look = f"(async () => {{ {drawn}; return {area}.className }})()"
    assert browser.run(look) == "scroll right"
    assert browser.run(f"{area}.scrollLeft = 9999; {look}") == "scroll"


def test_only_a_long_table_scrolls_inside(browser, tmp_path):
    tables = [table(["name"], [["a"]] * n, "t.csv") for n in (25, 26)]
    (tmp_path / "x.html").write_text(page("t", [], [section("s", "S", *tables)], {}), "utf-8")
    browser.open(tmp_path / "x.html")
    hidden = "[...document.querySelectorAll('.scroll')].map(a => a.scrollHeight > a.clientHeight)"
    assert browser.run(hidden) == [False, True]


def test_what_follows_a_comma_in_the_name_of_a_column_is_small():
    found = table(["itq, plain, 8 bits", "bits"], [["a", "b"]], "t.csv")
    assert '<th scope="col">itq, <small>plain, 8 bits</small></th>' in found
    assert '<th scope="col">bits</th>' in found


def test_the_page_follows_dark_mode(browser, written):
    grounds = []
    for dark in (False, True):
        browser.open(written, dark=dark)
        grounds.append(browser.run("getComputedStyle(document.body).backgroundColor"))
    light, dark = (sum(map(int, re.findall(r"\d+", each))) for each in grounds)
    assert light > 600
    assert dark < 150


def test_nothing_is_loaded_and_no_other_script_runs(browser, written, tmp_path):
    browser.open(written)
    assert browser.requests == [written.resolve().as_uri()]
    assert browser.errors == []
    more = "<img src='http://127.0.0.1:9/x.png'><script>document.title = 'changed'</script>"
    (tmp_path / "x.html").write_text(written.read_text("utf-8").replace("</main>", f"{more}</main>"), "utf-8")
    browser.open(tmp_path / "x.html")
    assert browser.run("document.title") == "Title <x>"
    assert len(browser.errors) == 2  # both were refused


def test_the_numbers_of_a_table_are_saved(browser, written, tmp_path):
    browser.open(written)
    saved = browser.download("document.querySelector('a[download]').click()", tmp_path)
    assert saved.name == "t.csv"
    rows = list(csv.reader(saved.read_text("utf-8").splitlines()))
    assert [row[:2] for row in rows] == [["name", "value"], ["b10", "0.5"], ["b9", ""], ["a <i>", "0.25"]]
    assert browser.errors == []


def test_the_list_of_contents_leads_to_sections(browser, written):
    browser.open(written)
    assert browser.run(
        "[...document.querySelectorAll('nav a')].map(a => document.querySelector(a.hash).tagName)"
    ) == ["SECTION"]


def contrast(first, second):
    """Ratio of two colours such as #0072b2, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio."""
    found = []
    for colour in (first, second):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        found.append(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05)
    return max(found) / min(found)


@pytest.mark.parametrize("place", [0, 1])
def test_colours_can_be_seen(place):
    style = files("structhash.report").joinpath("page.css").read_text("utf-8")
    colours = dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{6})", style.split("@media")[place]))
    ground = colours["panel"]
    assert min(contrast(colours[name], ground) for name in ("ink", "soft", "link")) >= 4.5
    marks = [*(f"c{i}" for i in range(N_COLOURS)), "right", "wrong"]
    assert min(contrast(colours[name], ground) for name in marks) >= 2.5
