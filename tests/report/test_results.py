"""Tables of results."""

import html
import re

import numpy as np
import pytest
from scipy.stats import ttest_rel

from structhash.evaluation import Line
from structhash.report.results import line_name, results


def cells(page, number):
    """The cells of a row of the first table, as text."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    row = re.findall(r"<tr>(.*?)</tr>", body)[number]
    return [
        html.unescape(re.sub(r"<small>(.*?)</small>", r"|\1", x).replace("<wbr>", ""))
        for x in re.findall(r"<td[^>]*>(.*?)</td>", row)
    ]


def test_values_and_tests_are_those_of_the_comparison(digits_and_results):
    *_, lines = digits_and_results
    page = "".join(results(lines, ["map", "precision@5"], 64))
    for number, line in enumerate(lines):
        row = cells(page, number)
        assert row[0] == line.method
        assert row[2].startswith(f"{line.mean['map']:.3f}")
        assert row[4:6] == [line.distance, str(line.n_bits // 8 or 256)]
    best = max((x for x in lines if x.n_bits == 8), key=lambda x: x.mean["map"])
    others = [x for x in lines if x.n_bits == 8 and x is not best]
    raw = {x.method: ttest_rel(best.per_query["map"], x.per_query["map"]).pvalue for x in others}
    least, most = sorted(raw.values())
    holm = {least: 2 * least, most: max(most, 2 * least)}
    for line in others:
        expected = holm[raw[line.method]]
        shown = cells(page, lines.index(line))[2].partition("|")
        assert shown[2] == ("p < 0.001" if expected < 0.001 else f"p = {expected:.3f}")
        assert shown[0].endswith("*") == (expected < 0.05)
    assert cells(page, lines.index(best))[2].endswith("|best")


def test_a_line_that_failed_says_why():
    nothing = {"map": np.nan}
    line = Line(
        "x<y", "-", 8, [0], [], nothing, {"map": [np.nan]}, {}, {"map": 1.0}, np.nan, np.nan, "ValueError: <no>"
    )
    page = "".join(results([line], ["map"], 4))
    assert cells(page, 0) == ["x<y", "8", "failed", "-", "1", "–", "–"]
    assert "x&lt;y, -, 8 bits: ValueError: &lt;no&gt;" in page


def test_each_seed_has_a_row(digits_and_results):
    *_, lines = digits_and_results
    page = "".join(results(lines, ["map"], 64)).partition("<details>")[2]
    assert page.count("<tr>") == 1 + 2 * len(lines)
    assert f"{lines[0].by_seed['map'][1]:.3f}" in page


@pytest.mark.parametrize(("seconds", "shown"), [(0.000123, "0.00012"), (3.14, "3.1"), (1234.5, "1,234")])
def test_times_have_two_digits(seconds, shown):
    line = Line("a", "plain", 8, [0], [], {"map": 0.5}, {"map": [0.5]}, {}, {"map": 1.0}, seconds, seconds)
    assert cells("".join(results([line], ["map"], 4)), 0)[-2:] == [shown, shown]
    timed = "".join(results([line._replace(query_seconds=seconds / 1000)], ["map"], 4))
    assert cells(timed, 0)[-3:] == [shown] * 3
    assert ("query ms" in timed, "query ms" in "".join(results([line], ["map"], 4))) == (True, False)
    assert line_name(line) == "a, plain, 8 bits"


@pytest.mark.parametrize("p_value", [1.0, 1e-9])
def test_probabilities_have_no_bytes_and_are_not_the_best_code(p_value):
    about = [0], [], {"map": 0.5}, {"map": [0.5]}, {}
    code = Line("predicted_class", "plain", 77, *about, {"map": p_value}, 1.0, 1.0, one_hot=True)
    other = Line("b", "plain", 77, *about, {"map": 1e-9}, 1.0, 1.0)._replace(mean={"map": 0.4})
    floats = code._replace(distance="posterior", reads_floats=True, mean={"map": 0.9}, p_value={"map": 1.0})
    page = "".join(results([code, other, floats], ["map"], 384))
    assert cells(page, 0)[1:5] == ["77", "0.500|best", "plain", "1"]
    assert cells(page, 1)[2] == ("0.400*|p < 0.001" if p_value == 1 else "0.400")  # tested against the floats
    assert cells(page, 2)[1:5] == ["–", "0.900", "posterior", "–"]
    assert line_name(floats) == "predicted_class, posterior, floats"
