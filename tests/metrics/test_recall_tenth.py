"""Recall in the first tenth: against all orders of ties, and chance."""

import numpy as np
import pytest

from structhash.metrics import parse, tie_blocks
from structhash.metrics.recall_tenth import recall_tenth


def direct(grades):
    """The document at rank i counts by the part of [i, i + 1] below a tenth of the ranks."""
    inside = np.clip(len(grades) / 10 - np.arange(len(grades)), 0, 1)
    return (inside * (grades > 0)).sum() / (grades > 0).sum()


def test_recall_tenth_is_the_mean_over_all_orders(assert_mean_over_orders):
    assert_mean_over_orders(recall_tenth, direct)


@pytest.mark.parametrize("n", [1, 9, 10, 14, 50, 99, 1000])
def test_a_random_order_has_a_tenth_and_so_has_one_tie(n):
    relevance = np.arange(n)[None] < 1 + n // 3
    assert recall_tenth(tie_blocks(np.zeros((1, n)), relevance)) == pytest.approx(0.1)
    every_place = [direct(np.eye(n)[place]) for place in range(n)]
    assert np.mean(every_place) == pytest.approx(0.1)
    found = recall_tenth(tie_blocks(np.tile(np.arange(n), (n, 1)), np.eye(n, dtype=bool)))
    np.testing.assert_allclose(found, every_place)


def test_it_has_a_name_and_no_value_without_relevant_documents():
    assert np.isnan(parse("recall_tenth")(tie_blocks([[1, 2]], [[0, 0]]))).all()
    assert not len(recall_tenth(tie_blocks(np.zeros((0, 3)), np.zeros((0, 3), bool))))
