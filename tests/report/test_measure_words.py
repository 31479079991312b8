"""Measures in words."""

from structhash.metrics import names
from structhash.report._measure_words import measure_words


def test_measures_of_the_package_have_words():
    known = [name.replace("@k", "@10") for name in names()]
    said = measure_words(known)
    assert {"map: mean average precision", "precision@10: relevant rows among the first 10, divided by 10"} <= {
        *said.removesuffix(".").split("; ")
    }
    assert all(f"{name}: " in said for name in known)
    assert "{" not in said


def test_what_is_not_known_is_left_out():
    assert measure_words(["mine@5", "mine"]) == ""
    assert measure_words(["mine", "auc"]) == "auc: area under the ROC curve."
