"""The values that all forms of a reproduction show."""

import json

import pytest

from structhash.reproduce.document import as_document, make_reproduction
from structhash.reproduce.plan import Plan


@pytest.fixture
def made(finished):
    runs = [finished("usps", "StructH-N", 0.8), finished("usps", "ITQ", 0.7), finished("usps", "SPLH", 0.7)]
    plan = Plan(True, [each.run for each in runs], ["STL10 is not available."])
    return make_reproduction(plan, runs, {"numpy": "2.0"})


def test_the_summary_counts_the_claims(made):
    words = [claim.verdict for claim in made.claims]
    counts = [words.count(word) for word in ("holds", "does not hold", "not measured")]
    text = f"{counts[0]} hold in these runs, {counts[1]} do not hold, {counts[2]} not measured."
    assert text in made.summary[1]
    assert made.summary[-1] == "STL10 is not available."


def test_it_says_how_it_was_made(made):
    text = "\n".join(made.about)
    assert "USPS (usps.npz): seeds 0." in text
    assert "SPLH: splh:eta=0.01|0.1|1 (eta is chosen on held-out training rows, at 64 bits)" in text
    assert "numpy 2.0" in text
    assert "Load of the machine after a fit: 1.5 to 1.5." in text


def test_the_document_is_plain_json_with_both_numbers(made):
    document = json.loads(json.dumps(as_document(made, quick=True)))
    assert document["quick"] is True
    values = [v for v in document["tables"] if (v["table"], v["method"], v["data"]) == (1, "ITQ", "usps")]
    assert [(v["paper"], v["ours"], v["by_seed"]) for v in values] == [(0.804, 0.7, [0.7])]
    assert {line["whose"] for line in document["training"]} == {"paper", "ours"}
    assert document["claims"][0]["verdict"] in ("holds", "does not hold", "not measured")
    assert document["figures"][0]["curves"][0]["points"]
