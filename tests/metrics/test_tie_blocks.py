"""Tie blocks against `numpy.unique` and stable sorts."""

import importlib

import numpy as np
import pytest

from structhash.metrics import names, parse, pr_area, precision_recall_curve, tie_blocks, without_self

TYPES = [np.int8, np.int32, np.uint8, np.uint64, np.float16, np.float32, np.float64, np.longdouble]


@pytest.mark.parametrize("dtype", TYPES)
def test_id_order_is_the_stable_sort(dtype):
    rng = np.random.default_rng(4)
    distances, grades = rng.integers(0, 9, (7, 40)).astype(dtype), rng.integers(0, 3, (7, 40))
    blocks = tie_blocks(distances, grades, ties="id")
    ranked = np.take_along_axis(grades, np.argsort(distances, axis=1, kind="stable"), axis=1)
    assert (blocks.size == 1).all()
    np.testing.assert_array_equal(blocks.ptr, 40 * np.arange(8))
    np.testing.assert_array_equal(blocks.hits.reshape(7, 40), ranked > 0)
    np.testing.assert_array_equal(blocks.gain.reshape(7, 40), 2.0**ranked - 1)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_equal_unique(dtype, order):
    rng = np.random.default_rng(5)
    distances = rng.integers(0, 30, (9, 40)).astype(dtype, order=order)
    for relevance in (rng.random((9, 40)) < 0.3, rng.integers(0, 4, (9, 40)).astype(np.uint8)):
        blocks = tie_blocks(distances, relevance)
        assert [a.dtype for a in blocks] == [np.int64] * 3 + [np.float64, np.int64]
        for q in range(9):
            own = slice(blocks.ptr[q], blocks.ptr[q + 1])
            values, size = np.unique(distances[q], return_counts=True)
            np.testing.assert_array_equal(blocks.size[own], size)
            gains = [(2.0 ** relevance[q].astype(int) - 1)[distances[q] == v].sum() for v in values]
            np.testing.assert_array_equal(blocks.gain[own], gains)
            hits = [(relevance[q] > 0)[distances[q] == v].sum() for v in values]
            np.testing.assert_array_equal(blocks.hits[own], hits)
        np.testing.assert_array_equal(blocks.relevant, (relevance > 0).sum(axis=1))
        assert (blocks.n_queries, blocks.max_documents) == (9, 40)


def test_wide_ranges_and_many_parts(monkeypatch):
    rng = np.random.default_rng(6)
    distances, hit = rng.integers(0, 5, (11, 20)), rng.random((11, 20)) < 0.4
    whole = tie_blocks(distances, hit)
    wide = [(distances - 2) * 2**61, distances * 10**5, (distances * 60 - 128).astype(np.int8)]
    for stretched in wide:  # the ranges exceed 2^62, uint16, and (with 240) int8
        for got, expected in zip(tie_blocks(stretched, hit), whole):
            np.testing.assert_array_equal(got, expected)
    top = np.iinfo(np.uint64).max - distances.astype(np.uint64)
    np.testing.assert_array_equal(tie_blocks(top, hit).size, tie_blocks(-distances, hit).size)
    module = importlib.import_module("structhash.metrics.tie_blocks")
    monkeypatch.setattr(module, "_DISTANCES_AT_ONCE", 45)
    for got, expected in zip(tie_blocks(distances, hit), whole):
        np.testing.assert_array_equal(got, expected)


def test_infinite_and_signed_zero_distances():
    blocks = tie_blocks([[np.inf, 0.0, -0.0, np.inf, -np.inf]], [[1, 1, 0, 0, 1]])
    np.testing.assert_array_equal(blocks.size, [1, 2, 2])
    np.testing.assert_array_equal(blocks.hits, [1, 1, 1])


def test_sums_restart_at_each_query():
    blocks = tie_blocks([[1, 1, 2, 3], [5, 5, 5, 5], [1, 2, 2, 2]], np.zeros((3, 4), int))
    np.testing.assert_array_equal(blocks.query, [0, 0, 0, 1, 2, 2])
    np.testing.assert_array_equal(blocks.sums(blocks.size), [4, 4, 4])
    np.testing.assert_array_equal(blocks.before(blocks.size), [0, 2, 3, 0, 0, 1])


@pytest.mark.parametrize("ties", ["expected", "id"])
@pytest.mark.parametrize("dtype", [int, float])
def test_no_queries_and_no_documents(ties, dtype):
    for shape in ((0, 4), (3, 0), (0, 0)):
        blocks = tie_blocks(np.zeros(shape, dtype), np.zeros(shape, bool), ties)
        np.testing.assert_array_equal(blocks.ptr, np.zeros(shape[0] + 1))
        assert (blocks.n_queries, blocks.max_documents) == (shape[0], 0)
        for name in names():
            assert parse(name.replace("@k", "@2"))(blocks).shape == shape[:1]
        assert [len(x) for x in precision_recall_curve(blocks)] == [0, 0]
        assert np.isnan(pr_area(blocks))


def test_each_query_leaves_its_own_ranking():
    distances = np.arange(12).reshape(3, 4)
    found, relevance = without_self(distances, distances % 2 == 0, first=1)
    np.testing.assert_array_equal(found, [[0, 2, 3], [4, 5, 7], [8, 9, 10]])
    np.testing.assert_array_equal(relevance, found % 2 == 0)


INPUT_ERRORS = [
    (([["a"]], [[1]]), TypeError, "distances have dtype <U1; give integers or floats"),
    (([[1]], [[0.5]]), TypeError, "relevance has dtype float64; give bools or integer grades"),
    (
        ([[1, 2]], [[1]]),
        ValueError,
        r"shape \(1, 2\) and relevance has shape \(1, 1\); give both one shape \(queries, documents\)",
    ),
    (([1, 2], [1, 0]), ValueError, r"shape \(2,\) and relevance has shape \(2,\); give both one shape"),
    (([[np.nan]], [[1]]), ValueError, "distances hold NaN; give inf to documents that rank last"),
    (([[1, 2]], [[-1, 3]]), ValueError, "grades run from -1 to 3; give grades from 0 to 52"),
    (([[1, 2]], [[0, 53]]), ValueError, "grades run from 0 to 53; give grades from 0 to 52"),
    (([[1]], [[1]], "mean"), ValueError, "ties='mean': give one of expected, id"),
    (
        ([[1]], [[1]], np.ones((300, 40))),
        ValueError,
        r"ties=ndarray of shape \(300, 40\): give one of expected, id",
    ),
]


@pytest.mark.parametrize(("args", "error", "message"), INPUT_ERRORS)
def test_bad_input(args, error, message):
    with pytest.raises(error, match=message):
        tie_blocks(*args)


def test_masked_distances_and_relevance_are_refused():
    distances, relevance = np.array([[1.0, 2.0]]), np.array([[0, 1]])
    for given in ((np.ma.array(distances), relevance), (distances, np.ma.array(relevance))):
        with pytest.raises(TypeError, match="is a masked array"):
            tie_blocks(*given)


@pytest.mark.parametrize(
    ("shapes", "first", "message"),
    [
        (((1, 3), (1, 3)), 3, "from column 3"),
        (((3, 2), (3, 2)), 0, r"distances have shape \(3, 2\)"),
        (((1, 3), (1, 2)), 0, r"relevance has shape \(1, 2\)"),
        (((1, 3), (1, 3)), -1, "first=-1: give an integer of at least 0"),
    ],
)
def test_queries_that_are_no_columns_are_refused(shapes, first, message):
    with pytest.raises(ValueError, match=message):
        without_self(*map(np.zeros, shapes), first)
