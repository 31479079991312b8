"""Charts: signs stand where their values say."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from structhash.report.elements import csv_link, element
from structhash.report.page import figure, page, section
from structhash.report.svg import N_COLOURS, Axis, Series, chart, key


def read(picture):
    """The elements of a picture by class: (place of its sign or path, note)."""
    found = {}
    for each in ElementTree.fromstring(picture).iter():
        note = each.find("title")
        found.setdefault(each.get("class"), []).append((each, None if note is None else note.text))
    return found


def places(picture):
    """Places (n, 2) of the dots of a picture."""
    moved = [re.fullmatch(r"translate\((.+),(.+)\)", each.get("transform")) for each, _ in read(picture)["dot"]]
    return np.array([[float(each[1]), float(each[2])] for each in moved])


def ticks(picture):
    """Values at the axes with their places: [(x, value)], [(y, value)]."""
    across, up = [], []
    for each in ElementTree.fromstring(picture).iter("text"):
        if re.fullmatch(r"[\d.,e-]+", each.text):
            (up if each.get("text-anchor") == "end" else across).append(
                (float(each.get("x")), float(each.get("y")), float(each.text.replace(",", "")))
            )
    return [(x, value) for x, _, value in across], [(y - 4, value) for _, y, value in up]


@pytest.mark.parametrize("log", [False, True])
def test_signs_are_where_the_axes_say(log):
    points = [(1.0, 0.1), (20.0, 0.5), (300.0, 0.9)]
    picture = chart([Series("a", points, 0)], Axis("x", log), Axis("y"), "title")
    across, up = ticks(picture)
    assert len(across) >= 2
    assert len(up) >= 3
    read_x = np.polyfit([place for place, _ in across], [np.log10(v) if log else v for _, v in across], 1)
    read_y = np.polyfit([place for place, _ in up], [v for _, v in up], 1)
    expected = np.array([[np.log10(x) if log else x, y] for x, y in points])
    found = np.column_stack(
        [np.polyval(read_x, places(picture)[:, 0]), np.polyval(read_y, places(picture)[:, 1])]
    )
    np.testing.assert_allclose(found, expected, atol=0.01 * np.ptp(expected, axis=0).max())


RANGES = [
    (0.9012, 0.9013),
    (1e-7, 5e-7),
    (12345, 98765),
    (-12350, -12345),
    (1000000.25, 1000000.75),
    (123456, 123457),
    (1.2e-5, 1234567),
    (1.2e9, 9.9e9),
    (-3e-9, 5e12),
    (0.5, 0.5),
]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("ends", RANGES)
def test_values_at_an_axis_are_told_apart_and_are_where_they_say(ends, log):
    if log and ends[0] <= 0:
        return
    picture = chart([Series("a", [(v, v) for v in ends], 0)], Axis("x", log), Axis("y", log), "t")
    (left, bottom), (right, top) = places(picture)
    for found, first, last, near in zip(ticks(picture), (left, bottom), (right, top), (12, 1)):
        values = [value for _, value in found]
        assert len(set(values)) == len(values) >= (1 if ends[0] == ends[1] else 2)
        if ends[0] == ends[1]:
            continue
        low, high = (np.log10(ends) if log else np.array(ends)).tolist()
        for place, value in found:
            share = ((np.log10(value) if log else value) - low) / (high - low)
            assert place == pytest.approx(first + share * (last - first), abs=near)


@pytest.mark.parametrize("width", [400, 1280])
def test_no_text_of_a_chart_overlaps_another(browser, tmp_path, width):
    charts = [
        chart([Series("a", [(v, v) for v in ends], 0)], Axis(title, log), Axis(title, log), "t")
        for ends in RANGES
        for log in (False, True)
        for title in (
            "mAP",
            "a long title of an axis",
            "a title that has more words than an axis is long, by far",
        )
        if not log or ends[0] > 0
    ]
    text = page("t", [], [section("a", "A", element("div", *map(framed, charts), class_="figures"))], {})
    (tmp_path / "x.html").write_text(text, "utf-8")
    browser.open(tmp_path / "x.html", width=width)
    assert browser.clashes() == []
    assert browser.run("document.querySelectorAll('svg.chart text').length") > 7 * len(charts)


def framed(picture):
    return figure("t", picture, [], csv_link("t.csv", ["a"], []))


def test_lines_join_the_signs_and_references_cross_the_plot():
    series = [Series("r", [(1, 0.3)], -1, "reference"), Series("a", [(1, 0.2), (2, 0.4)], 3)]
    picture = chart(series, Axis("x"), Axis("y"), "t")
    line = read(picture)["line"][0][0].get("d")
    found = np.array([pair.split(",") for pair in line[1:].split("L")], float)
    np.testing.assert_allclose(found, places(picture))
    (left, height, right) = map(
        float, re.fullmatch(r"M(.+),(.+)H(.+)", read(picture)["grey reference"][0][0].get("d")).groups()
    )
    assert left < found[0, 0] < found[1, 0] < right
    assert height == pytest.approx(found[:, 1].mean())


def test_steps_keep_the_height_until_the_next_point():
    picture = chart([Series("s", [(1, 0.2), (2, 0.4)], -1, "steps")], Axis("x"), Axis("y"), "t")
    path = read(picture)["grey steps"][0][0].get("d")
    x1, y1, x2, y2 = map(float, re.fullmatch(r"M(.+),(.+)H(.+)V(.+)", path).groups())
    assert x1 < x2
    assert y1 > y2


def test_what_an_axis_cannot_show_is_left_out():
    points = [(0.0, 0.5), (math.nan, 0.5), (10.0, math.inf), (10.0, 0.5), (100.0, 0.6)]
    notes = [f"n{i}" for i in range(5)]
    picture = chart([Series("a", points, 0, "points", notes)], Axis("x", log=True), Axis("y"), "t")
    assert [note for _, note in read(picture)["dot"]] == ["n3", "n4"]
    assert "dot" not in read(chart([Series("a", points[:1], 0)], Axis("x", log=True), Axis("y"), "t"))


def test_one_point_and_equal_points_are_drawn_inside():
    for points in ([(3.0, 0.0)], [(3.0, 0.7), (3.0, 0.7)]):
        found = places(chart([Series("a", points, 0)], Axis("x"), Axis("y"), "t"))
        assert ((found > [52, 12]) & (found < [428, 254])).all()


def test_names_at_an_axis():
    series = [Series("a", [(i + 1.0, i) for i in range(40)], 0)]
    picture = chart(series, Axis("x", names=[f"class <{i}>" for i in range(40)]), Axis("y"), "t")
    names = [each.text for each in ElementTree.fromstring(picture).iter("text") if each.text.startswith("cla")]
    assert all(re.fullmatch(r"class <\d+>", name) for name in names)  # whole
    assert 1 < len(names) < 12  # those that have room
    few = chart([Series("a", [(1, 1), (2, 2)], 0)], Axis("x", names=["a long <name>", "b"]), Axis("y"), "t")
    assert {"a long <name>", "b"} <= {each.text for each in ElementTree.fromstring(few).iter("text")}


def test_hostile_names_are_escaped():
    series = Series("<script>", [(1, 1)], 0, notes=["<script>"])
    assert "<script" not in chart([series], Axis("<script>"), Axis("<script>"), "<script>") + key(series)


def test_colours_have_shapes_of_their_own():
    shapes = {
        read(chart([Series("a", [(1, 1)], c)], Axis("x"), Axis("y"), ""))["dot"][0][0].get("d")
        for c in range(N_COLOURS)
    }
    assert len(shapes) == N_COLOURS
