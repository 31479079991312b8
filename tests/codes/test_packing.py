"""Packed codes: the order of bits, round trips, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structhash.codes import check_codes, check_n_bits, pack, unpack

matrices = hnp.arrays(
    st.sampled_from([np.uint8, np.bool_]),
    st.tuples(st.integers(0, 6), st.integers(1, 140)),
    elements=st.integers(0, 1),
)


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
    bits = np.random.default_rng(0).integers(0, 2, (9, 20), dtype=np.uint8)
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
        (
            np.zeros((2, 1), dtype=np.int64),
            8,
            TypeError,
            "must be packed bytes .*got int64; encode",
        ),
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


def test_masked_bits_and_codes_are_refused():
    with pytest.raises(TypeError, match="bits is a masked array"):
        pack(np.ma.array([[True, False]], mask=[[True, False]]))
    with pytest.raises(TypeError, match="codes is a masked array"):
        unpack(np.ma.array([[3]], np.uint8), 8)
