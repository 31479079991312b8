"""NDCG against plain sums, scikit-learn and ir_measures."""

import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from structhash.metrics import ndcg, tie_blocks


def discounts(n, kind):
    rank = np.arange(1, n + 1)
    return 1 / np.log2(rank + 1) if kind == "standard" else 1 / np.log2(np.maximum(rank, 2))


def plain_ndcg(grades, k, kind, normalizer):
    def dcg(order):
        top = order[:k]
        return ((2.0**top - 1) * discounts(len(top), kind)).sum()

    return dcg(grades) / (discounts(k, kind).sum() if normalizer == "paper" else dcg(np.sort(grades)[::-1]))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("kind", ["paper", "standard"])
@pytest.mark.parametrize("normalizer", ["ideal", "paper"])
def test_ndcg_is_the_mean_over_all_orders(k, kind, normalizer, assert_mean_over_orders):
    assert_mean_over_orders(
        lambda blocks: ndcg(blocks, k, kind, normalizer),
        lambda grades: plain_ndcg(grades, k, kind, normalizer),
        binary_only=normalizer == "paper",
    )


def test_graded_ndcg_equals_sklearn(tie_free):
    distances, grades = tie_free
    for k in (1, 10, 80):
        expected = [ndcg_score([2.0**g - 1], [-d], k=k) for d, g in zip(distances, grades)]
        np.testing.assert_allclose(ndcg(tie_blocks(distances, grades), k, "standard"), expected)


def test_graded_ndcg_equals_ir_measures(tie_free):
    ir_measures = pytest.importorskip("ir_measures")
    distances, grades = tie_free
    gains = {str(q): {str(i): int(2**g - 1) for i, g in enumerate(row)} for q, row in enumerate(grades)}
    run = {str(q): {str(i): -float(d) for i, d in enumerate(row)} for q, row in enumerate(distances)}
    found = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.nDCG @ 10], gains, run)}
    expected = [found[str(q)] for q in range(len(grades))]
    np.testing.assert_allclose(ndcg(tie_blocks(distances, grades), 10, "standard"), expected, rtol=1e-9)


def test_tied_ndcg_equals_sklearn_which_averages_ties():
    rng = np.random.default_rng(3)
    distances, grades = rng.integers(0, 6, (10, 60)), rng.integers(0, 3, (10, 60))
    expected = [ndcg_score([2.0**g - 1], [-d], k=60) for d, g in zip(distances, grades)]
    np.testing.assert_allclose(ndcg(tie_blocks(distances, grades), 60, "standard"), expected)


def test_ranks_beyond_the_documents_count_for_the_normaliser_of_the_paper_only():
    blocks = tie_blocks([[1, 2, 2]], [[0, 1, 1]])
    np.testing.assert_array_equal(ndcg(blocks, 10), ndcg(blocks, 3))
    ratio = discounts(3, "paper").sum() / discounts(10, "paper").sum()
    expected = ratio * ndcg(blocks, 3, normalizer="paper")
    np.testing.assert_allclose(ndcg(blocks, 10, normalizer="paper"), expected)


@pytest.mark.parametrize("kind", ["paper", "standard"])
def test_the_normaliser_of_the_paper_takes_no_memory(kind):
    k, blocks = 3_000_000, tie_blocks([[1, 2]], [[1, 0]])
    expected = 1 / np.cumsum(discounts(k, kind))[-1]
    tracemalloc.start()
    found = ndcg(blocks, k, kind, "paper")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, [expected], rtol=1e-11)
    assert peak < k  # one float64 a rank would be 8 k bytes


@pytest.mark.parametrize("kind", ["paper", "standard"])
def test_the_normaliser_of_the_paper_takes_any_cut(kind):
    blocks = tie_blocks([[1, 2]], [[1, 0]])
    few, many, huge = (ndcg(blocks, k, kind, "paper")[0] for k in (10**6, 10**30, 10**400))
    assert few > many > huge == 0
    integral = 10**30 / np.log2(1e30) * (1 + 1 / np.log(1e30))  # two terms of an asymptotic series
    np.testing.assert_allclose(many, 1 / integral, rtol=1e-3)


def test_without_relevant_documents_the_paper_has_zero():
    blocks = tie_blocks([[1, 1, 2], [3, 4, 4]], np.zeros((2, 3), bool))
    np.testing.assert_array_equal(ndcg(blocks, 2, normalizer="paper"), [0, 0])


def test_bad_words():
    blocks, graded = tie_blocks([[1]], [[1]]), tie_blocks([[1]], [[2]])
    with pytest.raises(ValueError, match="discount='log': give one of paper, standard"):
        ndcg(blocks, discount="log")
    with pytest.raises(ValueError, match=r"discount=ndarray of shape \(300, 40\): give one of"):
        ndcg(blocks, discount=np.ones((300, 40)))
    with pytest.raises(ValueError, match="normalizer=None: give one of ideal, paper"):
        ndcg(blocks, normalizer=None)
    message = "normalizer='paper' allows grades 0 and 1, but the highest is 2; give 'ideal'"
    with pytest.raises(ValueError, match=message):
        ndcg(graded, normalizer="paper")
