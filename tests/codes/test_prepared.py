"""Prepared queries against sums written out bit by bit."""

import numpy as np
import pytest

from structhash.codes import PreparedQueries, hamming, pack, prepare_values, prepared_distances, unpack


def random_codes(n, n_bits, seed):
    return pack(np.random.default_rng(seed).integers(0, 2, (n, n_bits), dtype=np.uint8))


@pytest.mark.parametrize("n_bits", [1, 7, 8, 13, 64, 100])
def test_one_number_a_bit_is_a_sum_over_set_bits(n_bits):
    rng = np.random.default_rng(0)
    base, values = rng.normal(size=4), rng.normal(size=(4, n_bits)).astype(np.float32)
    codes = random_codes(30, n_bits, 1)
    expected = base[:, None] + values.astype(float) @ unpack(codes, n_bits).T.astype(float)
    found = prepared_distances(PreparedQueries(n_bits, base, values), codes)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_bits", [3, 24])
def test_one_table_a_byte_is_a_sum_over_bytes(n_bits):
    rng = np.random.default_rng(0)
    width = -(-n_bits // 8)
    tables = rng.normal(size=(3, width, 256)).astype(np.float32)
    codes = random_codes(20, n_bits, 1)
    found = prepared_distances(PreparedQueries(n_bits, np.arange(3.0), tables), codes)
    for q in range(3):
        for i in range(20):
            total = q + sum(float(tables[q, b, codes[i, b]]) for b in range(width))
            assert found[q, i] == np.float32(total)


@pytest.mark.parametrize("n_bits", [1, 5, 8, 64, 77])
@pytest.mark.parametrize("size", [1.0, 1e-200, 3e300])
def test_values_of_one_size_give_the_hamming_distance(n_bits, size):
    queries, codes = random_codes(5, n_bits, 0), random_codes(40, n_bits, 1)
    prepared = prepare_values((2.0 * unpack(queries, n_bits) - 1) * size)
    np.testing.assert_array_equal(prepared_distances(prepared, codes), hamming(queries, codes))
    np.testing.assert_array_equal(prepared.codes(), queries)


def test_the_real_distance_is_its_formula():
    rng = np.random.default_rng(0)
    z, w, codes = rng.normal(size=(6, 20)), rng.random(20), random_codes(30, 20, 1)
    bits = unpack(codes, 20).astype(bool)
    for weights in (None, w):
        expected = np.zeros((6, 30))
        for q in range(6):
            for i in range(30):
                cost = np.abs(z[q]) / np.abs(z[q]).mean() * (1 if weights is None else weights)
                expected[q, i] = cost[(z[q] > 0) != bits[i]].sum()
        prepared = prepare_values(z, weights)
        np.testing.assert_allclose(prepared_distances(prepared, codes), expected, rtol=1e-5, atol=1e-6)
        assert prepared.codes() is None
        own = prepared_distances(prepared, pack(z > 0)).diagonal()
        np.testing.assert_array_equal(own, 0)  # the code of the query itself is at distance 0, exactly


def test_queries_without_values_are_equally_far_from_all_codes():
    prepared = prepare_values(np.zeros((2, 9)))
    np.testing.assert_array_equal(prepared_distances(prepared, random_codes(5, 9, 0)), np.zeros((2, 5)))


def test_a_slice_is_some_of_the_queries():
    prepared = prepare_values(np.random.default_rng(0).normal(size=(5, 9)))
    codes = random_codes(7, 9, 0)
    part = prepared[1:3]
    assert (len(prepared), len(part), len(prepared[:0])) == (5, 2, 0)
    np.testing.assert_array_equal(prepared_distances(part, codes), prepared_distances(prepared, codes)[1:3])
    assert prepared_distances(prepared[:0], codes).shape == (0, 7)
    assert prepared[:0].tables().shape == (0, 2, 256)


@pytest.mark.parametrize(
    ("base", "values", "error", "message"),
    [
        ([0.0], [[1.0]], ValueError, r"values \(1, 1\); give \(n_queries,\), and \(n_queries, 9\) or"),
        ([0.0, 1.0], np.ones((1, 9)), ValueError, r"base has shape \(2,\)"),
        ([0.0], np.ones((1, 3, 256)), ValueError, r"\(n_queries, 2, 256\)"),
        ([np.nan], np.ones((1, 9)), ValueError, "must be finite"),
        ([0.0], np.full((1, 9), np.inf), ValueError, "must be finite"),
        ([0.0], np.full((1, 9), 1e38), ValueError, "at most 1e.37"),
        ([0.0], [["a"] * 9], TypeError, "values=.*: give an array of numbers"),
        (["a"], np.ones((1, 9)), TypeError, "base=.*: give an array of numbers"),
    ],
)
def test_what_is_no_prepared_query_is_refused(base, values, error, message):
    with pytest.raises(error, match=message):
        PreparedQueries(9, base, values)


@pytest.mark.parametrize(
    ("values", "weights", "message"),
    [
        ([1.0, 2.0], None, "give a finite matrix"),
        ([[np.nan, 1.0]], None, "give a finite matrix"),
        (np.ones((2, 0)), None, "give a finite matrix"),
        ([[1.0, 2.0]], [1.0], r"weights have shape \(1,\); give \(2,\)"),
    ],
)
def test_values_refused(values, weights, message):
    with pytest.raises(ValueError, match=message):
        prepare_values(values, weights)


def test_codes_of_another_length_are_refused():
    with pytest.raises(ValueError, match="codes of 9 bits must have 2 bytes"):
        prepared_distances(prepare_values(np.ones((1, 9))), random_codes(2, 8, 0))
