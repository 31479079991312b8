import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structhash.codes import (
    byte_tables,
    check_codes,
    check_n_bits,
    hamming,
    pack,
    unpack,
    weighted_hamming,
)

matrices = hnp.arrays(
    st.sampled_from([np.uint8, np.bool_]),
    st.tuples(st.integers(0, 6), st.integers(1, 140)),
    elements=st.integers(0, 1),
)


def random_bits(n, n_bits, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n, n_bits), dtype=np.uint8)


@settings(deadline=None)
@given(matrices)
def test_unpack_inverts_pack(bits):
    codes = pack(bits)
    assert codes.dtype == np.uint8
    assert codes.shape == (len(bits), -(-bits.shape[1] // 8))
    assert check_codes(codes, bits.shape[1]) is codes
    back = unpack(codes, bits.shape[1])
    assert back.dtype == np.uint8
    np.testing.assert_array_equal(back, bits)


def test_bit_order_is_little():
    bits = np.zeros((11, 11), dtype=np.uint8)
    np.fill_diagonal(bits, 1)
    values = pack(bits).astype(int) @ [1, 256]
    assert values.tolist() == [2**j for j in range(11)]


def test_pack_takes_any_memory_order():
    bits = random_bits(9, 20)
    np.testing.assert_array_equal(pack(np.asfortranarray(bits)[::2]), pack(bits[::2].copy()))


@pytest.mark.parametrize(
    ("bits", "error", "message"),
    [
        (np.zeros((2, 3)), TypeError, "must be uint8 or bool, got float64"),
        (np.zeros((2, 3), dtype=int), TypeError, "must be uint8 or bool, got int64"),
        (np.zeros(3, dtype=np.uint8), ValueError, r"shape \(n, n_bits\).*got \(3,\)"),
        (np.zeros((2, 0), dtype=np.uint8), ValueError, r"n_bits at least 1, got \(2, 0\)"),
        (np.full((2, 3), 7, dtype=np.uint8), ValueError, "must be 0 or 1, got 7"),
    ],
)
def test_pack_refuses(bits, error, message):
    with pytest.raises(error, match=message):
        pack(bits)


@pytest.mark.parametrize(
    ("codes", "n_bits", "error", "message"),
    [
        (np.zeros((2, 1), dtype=np.int64), 8, TypeError, "must be packed bytes .*got int64"),
        (np.zeros(1, dtype=np.uint8), 8, ValueError, r"shape \(n, 1\), got \(1,\)"),
        (np.zeros((2, 2), dtype=np.uint8), 8, ValueError, "of 8 bits must have 1 bytes a row, got 2"),
        (
            np.array([[7], [8]], dtype=np.uint8),
            3,
            ValueError,
            "zero pad bits, but row 1 has a bit set after bit 2",
        ),
        (np.zeros((2, 1), dtype=np.uint8), 0, ValueError, "n_bits must be at least 1, got 0"),
        (np.zeros((2, 1), dtype=np.uint8), 1.5, TypeError, "n_bits must be a whole number, got 1.5"),
    ],
)
def test_check_codes_refuses(codes, n_bits, error, message):
    with pytest.raises(error, match=message):
        check_codes(codes, n_bits)
    with pytest.raises(error, match=message):
        unpack(codes, n_bits)


def test_check_codes_makes_contiguous():
    codes = np.zeros((4, 6), dtype=np.uint8)[:, ::2]
    assert check_codes(codes, 24).flags.c_contiguous
    assert check_codes(np.empty((0, 3), dtype=np.uint8), 24).shape == (0, 3)


def test_check_n_bits_takes_numpy_integers():
    assert type(check_n_bits(np.int32(5))) is int


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
