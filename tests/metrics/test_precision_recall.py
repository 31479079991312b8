"""The curve against means over all orders, and over chunks of queries."""

import numpy as np
import pytest

from structhash.metrics import TieBlocks, pr_area, pr_area_per_query, precision_recall_curve, tie_blocks


def test_curve_is_the_mean_over_all_orders(draw_tied, orders_of):
    rng = np.random.default_rng(1)
    cases = [draw_tied(rng, 1, 5) for _ in range(4)]
    recall, precision = [], []
    for distances, grades in cases:
        hit = np.mean([np.cumsum(o > 0) for o in orders_of(distances, grades)], axis=0)
        recall.append(hit / hit[-1])
        precision.append(hit / np.arange(1, 6))
    blocks = tie_blocks(*map(np.array, zip(*cases)))
    x, y = precision_recall_curve(blocks)
    np.testing.assert_allclose(x, np.mean(recall, axis=0))
    np.testing.assert_allclose(y, np.mean(precision, axis=0))
    np.testing.assert_allclose(pr_area(blocks), np.trapezoid(np.mean(precision, 0), np.mean(recall, 0)))
    np.testing.assert_allclose(
        pr_area_per_query(blocks), [np.trapezoid(p, r) for p, r in zip(precision, recall)]
    )


def test_curves_of_chunks_combine():
    rng = np.random.default_rng(7)
    distances, hit = rng.integers(0, 9, (12, 30)), rng.random((12, 30)) < 0.2
    hit[[0, 1, 2, 7]] = False
    chunks = [tie_blocks(distances[i : i + 3], hit[i : i + 3]) for i in range(0, 12, 3)]
    weights = [(chunk.relevant > 0).sum() for chunk in chunks]
    assert weights[0] == 0
    assert np.isnan(precision_recall_curve(chunks[0])).all()
    curves = [precision_recall_curve(chunk) for chunk in chunks[1:]]
    whole = precision_recall_curve(tie_blocks(distances, hit))
    np.testing.assert_allclose(np.average(curves, axis=0, weights=weights[1:]), whole)


def test_area_of_simple_rankings():
    assert np.isnan(pr_area(tie_blocks([[1, 1, 2]], [[0, 0, 0]])))
    assert pr_area(tie_blocks([[7]], [[1]])) == 0  # one point has no area
    assert pr_area(tie_blocks([[1, 1, 2, 5]], [[1, 1, 1, 1]])) == pytest.approx(0.75)
    assert pr_area(tie_blocks([np.arange(10)], [np.arange(10) < 4])) == pytest.approx(0.75)  # 1 - 1/P


@pytest.mark.parametrize("metric", [precision_recall_curve, pr_area, pr_area_per_query])
def test_unequal_numbers_of_documents(metric):
    one, two = tie_blocks([[1]], [[1]]), tie_blocks([[1, 2]], [[1, 0]])
    joined = TieBlocks(np.array([0, 1, 3]), *(np.concatenate(x) for x in zip(one[1:], two[1:])))
    with pytest.raises(ValueError, match="queries rank 1 to 2 documents; give all queries the same number"):
        metric(joined)
