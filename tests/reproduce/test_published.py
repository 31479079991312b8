"""The file of the paper's numbers is whole, and agrees with itself where the paper says a number twice."""

import numpy as np

from structhash.reproduce.plan import METHODS
from structhash.reproduce.published import published
from structhash.reproduce.sets import SETS

SETS_OF_PAPER = ("stl10", "usps", "mnist", "cifar", "isolet")


def test_every_table_has_all_its_numbers():
    counts = {table: sum(key[0] == table for key in published().scores) for table in (1, 2, 3)}
    assert counts == {1: 5 * 11, 2: 3 * 5 * 11, 3: 4 * 7 * 3}
    assert len(published().training) == 5 * 3
    assert [len(published().methods[table]) for table in (1, 2, 3)] == [11, 11, 3]


def test_numbers_that_stand_in_two_tables_are_equal():
    scores = published().scores
    for measure in ("ndcg_paper@100", "precision@100", "map", "pr_area"):
        first = 1 if measure == "ndcg_paper@100" else 2
        for data in SETS_OF_PAPER:
            assert scores[3, measure, data, "StructH-N"] == scores[first, measure, data, "StructH-N"]


def test_the_best_of_each_line_is_the_one_that_the_paper_prints_bold():
    bold = {"stl10": "StructH-N", "usps": "StructH-N", "mnist": "CGH", "cifar": "SPLH", "isolet": "StructH-N"}
    scores, methods = published().scores, published().methods[1]
    for table, measure in ((1, "ndcg_paper@100"), (2, "precision@100")):
        for data, best in bold.items():
            assert max(methods, key=lambda m: scores[table, measure, data, m]) == best
    assert max(methods, key=lambda m: scores[2, "map", "cifar", m]) == "StructH-A"


def test_all_scores_are_shares():
    values = np.array(list(published().scores.values()))
    assert ((values > 0) & (values < 1)).all()


def test_seconds_are_those_of_the_inferences_and_of_the_search_for_bits():
    for cost in published().training.values():
        of_inferences = 64 * np.mean(list(cost.inferences.values())) * cost.seconds_per_inference
        assert 0.6 < cost.seconds / of_inferences < 3


def test_every_method_and_set_of_ours_is_called_as_in_the_paper():
    named = {key[2] for key in published().scores}
    assert {info.in_paper for info in SETS.values()} - {""} <= named
    assert {method for methods in published().methods.values() for method in methods} <= set(METHODS)
