"""Classes and hardest queries."""

import re

from structhash.report.behind import classes, hardest

DETAILS = {
    "measure": "map",
    "classes": {
        "labels": ["b", "<a>", "c"],
        "queries": [3, 1, 2],
        "values": {"map": [[0.5, 0.2, None], [0.9, 1.0, 0.1]]},
    },
    "hardest": [{"seed": 1, "query": 17, "label": "<a>", "values": [0.25, None]}],
}


def rows(page):
    """Rows of the last table as text."""
    body = page.rpartition("<tbody>")[2]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]


def test_the_hardest_class_of_the_best_line_comes_first():
    page = "".join(classes(DETAILS, ["one", "two"]))
    assert rows(page) == [
        ["&lt;a&gt;", "1", "0.200", "1.000"],
        ["b", "3", "0.500", "0.900"],
        ["c", "2", "–", "0.100"],
    ]
    notes = re.findall(r"<title>(.*?)</title>", page)
    assert {"&lt;a&gt;: one 0.200", "b: two 0.900", "c: two 0.100"} <= set(notes)
    assert not [note for note in notes if note.startswith("c: one")]


def test_the_areas_of_classes_are_means_of_areas():
    both = {
        **DETAILS["classes"],
        "values": dict.fromkeys(("map", "pr_area"), DETAILS["classes"]["values"]["map"]),
    }
    said = "For pr_area these are means of the areas of single queries."
    assert said in "".join(classes({**DETAILS, "classes": both}, ["one", "two"]))
    assert said not in "".join(classes(DETAILS, ["one", "two"]))


def test_the_hardest_queries():
    page = "".join(hardest(DETAILS, ["one", "two"]))
    assert rows(page) == [["17", "&lt;a&gt;", "1", "0.250", "–"]]
