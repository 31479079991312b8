"""Average precision against plain sums over orders, samples of orders, and longdouble sums rank by rank."""

import numpy as np
import pytest

from structhash.metrics import average_precision, tie_blocks


def plain(grades, k=None, divisor="relevant"):
    hit = grades > 0
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    below = hit.sum() if divisor == "relevant" else max(hit[:k].sum(), 1)
    return (precision * hit)[:k].sum() / below


@pytest.mark.parametrize("k", [None, 1, 2, 3, 5, 9])
@pytest.mark.parametrize("divisor", ["relevant", "hits"])
def test_average_precision_is_the_mean_over_all_orders(k, divisor, assert_mean_over_orders):
    assert_mean_over_orders(
        lambda blocks: average_precision(blocks, k, divisor),
        lambda grades: plain(grades, k, divisor),
    )


def test_in_id_order_it_is_the_plain_value():
    rng = np.random.default_rng(4)
    distances, grades = rng.integers(0, 9, (7, 40)), rng.integers(0, 3, (7, 40))
    ranked = np.take_along_axis(grades, np.argsort(distances, axis=1, kind="stable"), axis=1)
    found = average_precision(tie_blocks(distances, grades, ties="id"))
    np.testing.assert_allclose(found, [plain(g) for g in ranked])


def test_hits_divisor_by_sampling_in_large_blocks():
    rng = np.random.default_rng(0)
    distances, hit = rng.integers(0, 4, 400), rng.random(400) < 0.1
    value = average_precision(tie_blocks(distances[None], hit[None]), 150, "hits")[0]
    order = np.array([np.lexsort((rng.random(400), distances)) for _ in range(4000)])
    sample = [plain(row, 150, "hits") for row in hit[order].astype(int)]
    assert abs(value - np.mean(sample)) < 4 * np.std(sample) / np.sqrt(len(sample))


def test_large_blocks_stay_exact():
    n, r, m = 60_000, 6_000, 10_000
    blocks = tie_blocks(np.zeros((1, n), np.uint8), np.arange(n)[None] < r)
    j = np.arange(1, n + 1).astype(np.longdouble)
    at = (1 + (j - 1) * (r - 1) / (n - 1)) / j / n
    assert average_precision(blocks)[0] == pytest.approx(float(at.sum()), rel=1e-12)
    assert average_precision(blocks, m)[0] == pytest.approx(float(at[:m].sum()), rel=1e-12)
    # given x hits among m ranks the value is (1/m) sum (1 + (j-1)(x-1)/(m-1))/j, linear in x: take its mean
    mean = (1 + (j[:m] - 1) * (r * np.longdouble(m) / n - 1) / (m - 1)) / j[:m] / m
    assert average_precision(blocks, m, "hits")[0] == pytest.approx(float(mean.sum()), rel=1e-9)


@pytest.mark.parametrize("divisor", ["relevant", "hits"])
def test_beyond_the_documents_and_before_the_first_hit(divisor):
    blocks, late = tie_blocks([[1, 2, 2]], [[0, 1, 1]]), tie_blocks([[1, 2, 3]], [[0, 0, 1]])
    np.testing.assert_allclose(average_precision(blocks, 10, divisor), average_precision(blocks))
    np.testing.assert_array_equal(average_precision(late, 2, divisor), [0])


def test_bad_divisor():
    with pytest.raises(ValueError, match="divisor='k': give one of relevant, hits"):
        average_precision(tie_blocks([[1]], [[1]]), divisor="k")
