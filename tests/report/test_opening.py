"""The first lines of a page about a comparison."""

import html
import json
import re

import pytest
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits

from structhash.evaluation import Line, as_json, compare, summarise
from structhash.evaluation.protocols import PROTOCOLS, find_protocol
from structhash.report.comparison import comparison_page
from structhash.report.opening import opening, protocol_words


def line(method, n_bits, value, p_value=1.0, distance="plain", **more):
    means = {"auc": 0.5, "map": value}, {"auc": [0.5], "map": [value]}, {}, {"auc": 1.0, "map": p_value}
    return Line(method, distance, n_bits, [0], [], *means, 1.0, 1.0, **more)


def document(rows=400, protocol="seen", seeds=(0,), **more):
    options = {"seeds": list(seeds), "measures": ["auc", "map"], "queries": 2000, "train": None}
    return {"data": "d", "rows": rows, "features": 384, "protocol": protocol, "options": options, **more}


def text(parts):
    return [html.unescape(re.sub("<[^>]*>", "", part)) for part in parts]


LINES = [
    line("distilhash", 32, 0.8),
    line("distilhash", 64, 0.896),
    line("itq@database", 64, 0.506, 1e-9),
    line("lsh", 64, 0.3, 1e-9),
    line("itq@database", 128, 0.95),
    line("float", 0, 0.528, distance="L2"),
]


def test_the_first_lines_answer_what_codes_cost_and_find():
    answer, counts, best = text(opening(document(), LINES))
    assert answer == (
        "distilhash stores 8 bytes a row in place of 1,536: mAP 0.896. "
        "The vectors themselves: 0.528, 0.368 less. "
        "itq@database, the best other code of 8 bytes: 0.506, 0.390 less (significant: p < 0.001). "
        "Classes are those known at training."
    )
    assert counts == (
        "400 rows of 384 features, protocol seen, 1 seed: 300 training rows, 300 database rows and 100 queries."
    )
    assert "At 64 bits, distilhash (plain) is best: map 0.896. All others are significantly below." in best
    assert "At 128 bits, itq@database (plain) is best: map 0.950." in best


def test_what_the_document_lacks_is_left_out():
    one = text(opening(document(protocol="other"), LINES[:1]))
    assert one[0] == "distilhash stores 4 bytes a row: mAP 0.800."
    assert text(opening(document(), [LINES[-1]]))[0] == "Classes are those known at training."
    assert "distilhash stores 4" in text(opening(document(), [LINES[0], LINES[4]]))[0]
    assert "best other code" not in text(opening(document(), [LINES[0], LINES[4]]))[0]


def test_a_lead_of_the_other_code_is_said():
    lines = [line("distilhash", 8, 0.5, 0.2), line("itq", 8, 0.6)]
    assert (
        "itq, the best other code of 1 byte: 0.600, 0.100 more (not significant: p = 0.200)."
        in text(opening(document(), lines))[0]
    )


def test_equal_means_have_no_difference():
    lines = [line("distilhash", 8, 0.5), line("float", 0, 0.5, distance="L2")]
    assert "The vectors themselves: 0.500, the same." in text(opening(document(), lines))[0]


@pytest.mark.parametrize(
    ("value", "interval", "said"),
    [
        (0.7124, (0.4021, 0.4401), "0.421 above that of the float vectors, 0.291 (QUERIES: 0.402 to 0.440)."),
        (0.1, (-0.21, -0.172), "0.191 below that of the float vectors, 0.291 (QUERIES: 0.172 to 0.210)."),
        (
            0.295,
            (-0.002, 0.01),
            "0.004 above that of the float vectors, 0.291 (QUERIES: 0.002 below to 0.010 above).",
        ),
        (
            0.2912,
            (-0.01, 0.01),
            "the same as that of the float vectors, 0.291 (QUERIES: 0.010 below to 0.010 above).",
        ),
    ],
)
def test_the_difference_to_the_vectors_has_its_interval(value, interval, said):
    lines = [
        line("distilhash", 8, value, above_vectors={"map": interval, "auc": (0.5, 0.6)}),
        line("float", 0, 0.291, distance="L2"),
    ]
    expected = f"mAP is {said}".replace("QUERIES", "95 percent interval over queries")
    assert expected in text(opening(document(), lines))[0]


@pytest.mark.parametrize("seeds", [[0], [0, 3]])
def test_the_interval_of_a_page_is_that_of_its_queries(seeds):
    X, y = load_digits(return_X_y=True)
    lines = summarise(compare(["itq", "float"], X[:500], y[:500], bits=[8], seeds=seeds, measures=["map"]))
    codes, vectors = (each.per_query["map"] for each in lines)
    low, high = ttest_rel(vectors, codes).confidence_interval(0.95)
    made = json.loads(json.dumps(as_json(lines, **document(500, seeds=seeds))))
    made["options"] |= {"measures": ["map"], "methods": ["itq", "float"], "bits": [8]}
    page = html.unescape(comparison_page(made))
    assert low > 0
    assert f"mAP is {vectors.mean() - codes.mean():.3f} below that of the float vectors" in page
    assert f"(95 percent interval over queries: {low:.3f} to {high:.3f})." in page


@pytest.mark.parametrize("p_value", [1.0, 1e-9])
def test_a_line_that_compares_probabilities_is_no_code(p_value):
    """In documents of today the codes are tested among themselves; earlier ones tested them against it."""
    lines = [
        line("distilhash", 10, 0.7, p_value),
        line("predicted_class", 10, 0.6, 1e-9),
        line("predicted_class", 10, 0.9, distance="posterior", reads_floats=True),
    ]
    answer, _, best = text(opening(document(), lines))
    assert answer.startswith("distilhash stores 2 bytes a row: mAP 0.700.")
    assert "At 10 bits, distilhash (plain) is best: map 0.700." in best
    assert ("significantly" in best) == (p_value == 1)


def test_the_numbers_of_rows_are_those_of_the_splits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500]
    for protocol in ("seen", "unseen", "mixed-new", "few-2"):
        lines = summarise(compare(["lsh", "float"], X, y, protocol, bits=[8], seeds=[0, 3], measures=["map"]))
        splits = [find_protocol(protocol).draw(y, seed) for seed in (0, 3)]
        sizes = [f"{len(a)} training rows, {len(c)} database rows and {len(b)} queries" for a, b, c in splits]
        expected = (
            f"each with {sizes[0]}."
            if sizes[0] == sizes[1]
            else f": seed 0 has {sizes[0]}; seed 3 has {sizes[1]}."
        )
        made = document(500, protocol, (0, 3))
        made["options"] |= {"measures": ["map"], "methods": ["lsh", "float"], "bits": [8]}
        assert expected in text(opening(made, lines))[1]
        page = comparison_page(as_json(lines, **made))
        settings = re.findall(r'<td[^>]*>([a-z]+)</td><td class="name"', page.partition('id="made"')[2])
        assert "measures" in settings
        assert not {"queries", "train"} & set(settings)  # upper limits


def test_an_earlier_document_says_the_numbers_that_it_has():
    unseen = document(protocol="unseen", seeds=(0, 1), details={"classes": {"queries": [400, 397]}})
    assert text(opening(unseen, LINES))[1].endswith("protocol unseen, 2 seeds: 797 queries in all.")
    assert text(opening(document(protocol="unseen"), LINES))[1].endswith("protocol unseen, 1 seed.")


def test_every_protocol_has_words():
    assert all(protocol_words(name) for name in [*PROTOCOLS, "few-1", "judged", "neighbours"])
    ends = [protocol_words(f"few-{n}").rpartition("most ")[2] for n in (1, 7)]
    assert ends == ["1 labelled row each.", "7 labelled rows each."]
