"""Figures of a comparison, read back from their tables and signs."""

import base64
import csv
import itertools
import re

import numpy as np
import pytest

from structhash.evaluation import Line
from structhash.report.figures import bytes_of, pareto_front, quality_figures


def line(method, n_bits, value, seconds=1.0, distance="plain", **more):
    means = {"map": value}, {"map": [value]}, {}, {"map": 1.0}
    return Line(method, distance, n_bits, [0], [], *means, 1.0, seconds, query_seconds=2 * seconds, **more)


LINES = [
    line("a", 8, 0.5, 0.01),
    line("a", 16, 0.6, 0.02),
    line("a", 16, 0.7, 0.03, "weighted"),
    line("b", 8, 0.4, 0.001),
    line("b", 16, float("nan")),
    line("c", 20, 0.3, 0.0, "factors, +64 bits"),
    line("float", 0, 0.65, 0.0, "L2"),
]


def tables(page):
    """The tables behind the links of a page, by file name."""
    found = {}
    for content, name in re.findall(r'base64,([^"]*)" download="([^"]*)"', page):
        found[name] = list(csv.reader(base64.b64decode(content).decode().splitlines()))
    return found


def test_bytes():
    assert [bytes_of(each, 64) for each in LINES] == [1, 2, 2, 1, 2, 11, 256]


@pytest.mark.parametrize(("n_bits", "stored"), [(1, 1), (77, 1), (256, 1), (257, 2), (77 * 16, 2)])
def test_the_number_of_a_class_is_stored(n_bits, stored):
    assert bytes_of(line("a", n_bits, 0.5, one_hot=True), 384) == stored
    assert bytes_of(line("a", n_bits, 0.5, one_hot=True, reads_floats=True), 384) is None


def test_lines_of_floats_are_no_codes():
    floats = line("predicted_class", 77, 0.9, distance="posterior", reads_floats=True)
    page = quality_figures([*LINES, line("predicted_class", 77, 0.8), floats], "map", 64)
    found = tables(page)
    for name in ("bytes", "encoding time", "query time"):
        assert not [row for row in found[f"map against {name}.csv"] if row[1] == "posterior"]
    assert page.count("</svg>predicted_class, posterior</li>") == 2  # dashed lines, as those of float vectors

    colours = [
        re.findall(rf'class="(\w+) reference"></path></svg>{name}', page) for name in ("predicted", "float")
    ]
    assert colours == [["c0"] * 2, ["grey"] * 2]  # the colour of its codes


def test_colours_that_are_given_are_used():
    page = quality_figures(LINES[:4], "map", 64, {"a": 5, "b": 2})
    signs = dict(reversed(each) for each in re.findall(r'<g class="(c\d)">(?:(?!<svg).)*</svg>(\w)</li>', page))
    assert signs == {"a": "c5", "b": "c2"}


def test_the_front_is_what_no_point_beats():
    rng = np.random.default_rng(0)
    points = [(float(x), float(y)) for x, y in rng.integers(8, size=(30, 2))]
    front = pareto_front(points)
    for point in set(points):
        beaten = any(o[0] <= point[0] and o[1] >= point[1] and o != point for o in points)
        assert (point in front) == (not beaten)
    assert pareto_front([]) == []


def test_each_figure_has_its_numbers():
    found = tables(quality_figures(LINES, "map", 64))
    names = [
        ("a", "plain", "8"),
        ("a", "weighted", "16"),
        ("b", "plain", "8"),
        ("c", "factors, +64 bits", "20"),
    ]
    values = ["0.5", "0.7", "0.4", "0.3"]  # of the better distance
    places = {
        "bits": (["8", "16", "8", "20"], "0"),
        "bytes": (["1", "2", "1", "11"], "256"),
        "encoding time": (["0.01", "0.03", "0.001"], None),
        "query time": (["20.0", "60.0", "2.0"], None),
    }
    for x, (of_codes, of_vectors) in places.items():
        expected = [[*name, place, value] for name, place, value in zip(names, of_codes, values)]
        if of_vectors is not None:
            expected.append(["float", "L2", "0", of_vectors, "0.65"])
        assert found[f"map against {x}.csv"] == [["method", "distance", "bits", x, "map"], *expected]


def test_each_line_is_a_sign_with_its_name():
    notes = re.findall(r"<title>([^<]*)</title>", quality_figures(LINES, "map", 64))
    assert notes.count("a, weighted, 16 bits: 0.700") == 4
    assert notes.count("c, factors, +64 bits, 20 bits: 0.300") == 2  # it has no times
    assert notes.count("float vectors") == 1
    assert notes.count("float vectors (256 bytes)") == 1


def test_methods_beyond_the_colours_are_grey():
    lines = [line(f"m{i}", 8, i / 20) for i in range(12)]
    legend = re.findall(r"</svg>([^<]+)</li>", quality_figures(lines, "map", 4).partition("</figure>")[0])
    assert legend == [*(f"m{i}" for i in range(11, 3, -1)), "other methods"]


def test_without_times_the_figure_says_why():
    page = quality_figures([line("a", 8, 0.5, float("nan"))], "map", 4)
    for name in ("encoding time", "query time"):
        assert f"map against {name} is left out: the result does not hold these times" in page


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_lines_does_not_matter_to_colours(order):
    three = [LINES[0], LINES[1], LINES[3]]
    page = quality_figures([three[i] for i in order], "map", 4)
    assert re.findall(r"</svg>([^<]+)</li>", page)[:2] == ["a", "b"]


def test_the_best_distance_that_is_timed_is_drawn_against_the_time_of_a_query():
    timed, untimed = line("a", 8, 0.5, 0.01), line("a", 8, 0.9, 0.01, "own")._replace(query_seconds=None)
    found = tables(quality_figures([timed, untimed], "map", 4))
    assert found["map against query time.csv"][1:] == [["a", "plain", "8", "20.0", "0.5"]]
    assert found["map against encoding time.csv"][1:] == [["a", "own", "8", "0.01", "0.9"]]
