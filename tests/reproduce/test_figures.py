"""Figures as numbers."""

import numpy as np
import pytest

from structhash.reproduce.figures import make_figures
from structhash.reproduce.results import Results
from structhash.reproduce.run import DEPTHS


def figures(*runs):
    return {(each.part[:8], each.title, each.y): each for each in make_figures(Results(runs))}


def test_quality_against_bits(finished):
    runs = [finished("usps", "ITQ", n / 100, n_bits=n, lengths=(n,)) for n in (64, 16, 32)]
    found = figures(*runs)["Figure 1", "USPS", "NDCG@100"]
    assert [curve.method for curve in found.curves] == ["ITQ"]
    assert found.curves[0].points == [(16, 0.16), (32, 0.32), (64, 0.64)]
    assert (found.x, found.log) == ("bits", "x")


def test_the_cost_of_each_bit(finished):
    run = finished("usps", "StructH-N", 0.8, rounds=np.arange(64), seconds=0.5)
    found = figures(run)
    seconds = found["Figure 5", "USPS", "seconds"]
    assert seconds.curves[0].points[:2] == [(4, 2.0), (8, 4.0)]
    assert seconds.curves[0].points[-1] == (64, 32.0)
    inferences = found["Figure 6", "USPS", "inferences a bit"]
    assert inferences.curves[0].points[0] == (4, 1.5)
    assert inferences.curves[0].points[-1] == (64, 61.5)
    assert seconds.log == inferences.log == "y"


def test_seconds_against_training_points(finished):
    settings = {"n_bits": 32, "lengths": ()}
    runs = [
        finished("usps", method, 0.0, n_train=n, seconds=n / 1000, **settings)
        for method in ("StructH-N", "StructH-N-Stage", "StructH-SN-Stage")
        for n in (500, 1000)
    ]
    panels = [each for each in make_figures(Results(runs)) if each.part.startswith("Figure 7")]
    assert [[curve.method for curve in each.curves] for each in panels] == [
        ["StructH-N", "StructH-N-Stage"],
        ["StructH-N-Stage", "StructH-SN-Stage"],
    ]
    assert panels[0].curves[0].points == [(500, 16), (1000, 32)]


def test_a_large_set_has_three_panels_and_says_what_it_is(finished):
    found = [
        each for each in make_figures(Results([finished("sift_bsds100k", "ITQ", 0.6)])) if "2" in each.part
    ]
    assert [each.y for each in found] == ["NDCG@100", "mAP", "precision"]
    assert [x for x, _ in found[2].curves[0].points] == list(DEPTHS)
    assert all("SIFT of other images" in each.note for each in found)


@pytest.mark.parametrize("data", ["usps", "sift_bsds100k"])
def test_nothing_is_drawn_without_runs(finished, data):
    assert make_figures(Results([])) == []
    parts = {each.part for each in make_figures(Results([finished(data, "KSH", 0.5)]))}
    assert parts == {"Figure 3: kernel StructHash"}
