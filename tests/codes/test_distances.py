"""Distances of packed codes against bits, and tables of bytes."""

import numpy as np
import pytest

from structhash.codes import byte_tables, code_distances, hamming, pack, unpack, weighted_hamming


def random_bits(n, n_bits, seed):
    return np.random.default_rng(seed).integers(0, 2, (n, n_bits), dtype=np.uint8)


@pytest.mark.parametrize("n_bits", [1, 7, 8, 9, 31, 40, 63, 64, 65, 128, 200])
def test_distances_bit_by_bit(n_bits):
    queries, bits = random_bits(5, n_bits, seed=1), random_bits(30, n_bits, seed=2)
    weights = np.random.default_rng(3).integers(0, 64, n_bits) / 8  # sums are exact in float32
    differ = queries[:, None] != bits[None]
    plain = hamming(pack(queries), pack(bits))
    weighted = weighted_hamming(pack(queries), pack(bits), weights)
    assert plain.dtype == np.int32
    assert weighted.dtype == np.float32
    np.testing.assert_array_equal(plain, differ.sum(axis=2))
    np.testing.assert_array_equal(weighted, differ @ weights)


def test_distances_of_odd_views():
    """Rows of 8 bytes that start at an odd address, and columns cut from wider codes."""
    buffer = np.random.default_rng(0).integers(0, 256, 8 * 9 + 1, dtype=np.uint8)
    codes = buffer[1:].reshape(9, 8)
    expected = (unpack(codes, 64)[:, None] != unpack(codes, 64)).sum(axis=2)
    np.testing.assert_array_equal(hamming(codes, codes), expected)
    np.testing.assert_array_equal(hamming(codes[:, :4], codes[:, :4]), hamming(*2 * [codes[:, :4].copy()]))


def test_distances_of_nothing():
    none, codes = np.empty((0, 2), dtype=np.uint8), np.zeros((3, 2), dtype=np.uint8)
    assert hamming(none, codes).shape == (0, 3)
    assert hamming(codes, none).shape == (3, 0)
    assert weighted_hamming(codes, none, np.ones(16)).shape == (3, 0)


def test_distances_refuse():
    two, three = np.zeros((1, 2), dtype=np.uint8), np.zeros((1, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match="queries of 24 bits must have 3 bytes a row, got 2"):
        hamming(two, three)
    with pytest.raises(ValueError, match=r"shape \(n, n_bytes\)"):
        hamming(two, two[0])
    with pytest.raises(TypeError, match="codes must be packed bytes"):
        hamming(two, two.astype(float))
    with pytest.raises(ValueError, match="24 weights fill 3 bytes, codes have 2"):
        weighted_hamming(two, two, np.ones(24))


def test_byte_tables_bit_by_bit():
    weights = np.random.default_rng(0).normal(size=13)
    tables = byte_tables(weights)
    assert tables.dtype == np.float64
    assert tables.shape == (2, 256)
    for b in range(2):
        for x in range(256):
            expected = sum(w for j, w in enumerate(weights[8 * b : 8 * b + 8]) if x >> j & 1)
            assert tables[b, x] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("weights", [[1.0, np.nan], [np.inf], [3e38, 3e38], [1e308, 1e308]])
def test_byte_tables_refuse_what_is_not_finite(weights):
    with pytest.raises(ValueError, match="must be finite and sum to less"):
        byte_tables(weights)


@pytest.mark.parametrize("weights", [[], 1.0, [[1.0]]])
def test_byte_tables_refuse_shapes(weights):
    with pytest.raises(ValueError, match=r"shape \(n_bits,\)"):
        byte_tables(weights)


def test_distances_to_be_scored_tie_where_only_rounding_differs():
    weights = np.array([0.1, 0.2, 0.3])
    codes = pack(np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1]], dtype=np.uint8))
    np.testing.assert_array_equal(code_distances(codes, codes, None), hamming(codes, codes))
    found = code_distances(codes[:1], codes, weights)
    np.testing.assert_array_equal(found, [[0, 500_000, 500_000]])  # millionths of the sum of the weights


@pytest.mark.parametrize("weights", [[1j, 1.0], ["1", "2"], None])
def test_weights_are_numbers(weights):
    with pytest.raises(ValueError, match=r"weights=.*: give numbers, one for each bit"):
        byte_tables(weights)


def test_masked_codes_and_weights_are_refused():
    codes = np.zeros((2, 1), np.uint8)
    for arguments in (
        (np.ma.array(codes), codes, [1.0]),
        (codes, np.ma.array(codes), [1.0]),
        (codes, codes, np.ma.array([1.0])),
    ):
        with pytest.raises(TypeError, match="is a masked array"):
            weighted_hamming(*arguments)


@pytest.mark.parametrize("weights", [[1.0, 2.0], [1.0, -1.0], [-1.0, -2.0], (3, 4)])
def test_distances_to_be_scored_are_ordered_as_the_sums_of_any_weights(weights):
    codes = np.arange(4, dtype=np.uint8)[:, None]
    found, expected = code_distances(codes, codes, weights), weighted_hamming(codes, codes, weights)
    np.testing.assert_allclose(found * np.abs(weights).sum() * 1e-6, expected, atol=1e-5)
