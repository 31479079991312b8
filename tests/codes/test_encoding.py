"""Codes of all rows, block by block."""

import numpy as np
import pytest

from structhash.codes import encoding, pack, unpack
from structhash.codes.encoding import encode_by_bits, encode_by_planes
from structhash.codes.planes import make_planes


def signs(X):
    return X > 0


@pytest.mark.parametrize("rows", [1, 7, 20, 21])
def test_codes_do_not_depend_on_the_size_of_a_block(rows, rng, monkeypatch):
    X = rng.standard_normal((20, 11)).astype(np.float16)
    planes = make_planes(np.zeros(11), np.eye(11), np.zeros(11))
    monkeypatch.setattr(encoding, "BLOCK_ROWS", rows)
    np.testing.assert_array_equal(encode_by_bits("Coder", signs, X, 11, 11), pack(X > 0))
    np.testing.assert_array_equal(encode_by_bits("Coder", signs, X, 11, 5), pack(X[:, :5] > 0))
    np.testing.assert_array_equal(encode_by_planes("Coder", planes, X, 11, 11), pack(X > 0))
    np.testing.assert_array_equal(encode_by_planes("Coder", planes, X, 11, 5), pack(X[:, :5] > 0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_code_of_a_row_depends_on_the_row_alone(dtype, rng):
    """Float32 products change when the rows are rolled by one, and many scores here are at a threshold."""
    X = rng.integers(-3, 4, (400, 300)).astype(dtype) / 3
    planes = make_planes(X.mean(axis=0), np.sign(rng.standard_normal((64, 300))), np.zeros(64))

    def encode(rows, n_bits=64):
        return encode_by_planes("Coder", planes, rows, 64, n_bits)

    codes = encode(X)
    for shift in (1, 5, 33):
        np.testing.assert_array_equal(encode(np.roll(X, shift, axis=0)), np.roll(codes, shift, axis=0))
    np.testing.assert_array_equal(np.concatenate([encode(row[None]) for row in X]), codes)
    np.testing.assert_array_equal(encode(np.asfortranarray(X)), codes)
    np.testing.assert_array_equal(unpack(encode(X, 11), 11), unpack(codes, 64)[:, :11])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 6, 7, 19])
def test_a_number_that_is_not_finite_is_found_in_every_block(bad, row, rng, monkeypatch):
    X = rng.standard_normal((20, 3))
    X[row, 1] = bad
    planes = make_planes(np.zeros(3), np.eye(3), np.zeros(3))
    monkeypatch.setattr(encoding, "BLOCK_ROWS", 7)
    with pytest.raises(ValueError, match=f"Coder: X holds (NaN|infinity) in row {row}, column 1"):
        encode_by_bits("Coder", signs, X, 3, 3)
    with pytest.raises(ValueError, match=f"Coder: X holds (NaN|infinity) in row {row}, column 1"):
        encode_by_planes("Coder", planes, X, 3, 3)


def test_another_number_of_bits_is_refused():
    with pytest.raises(ValueError, match="there are 3 columns for 4 bits"):
        encode_by_bits("Coder", signs, np.ones((2, 3)), 4, 4)
    planes = make_planes(np.zeros(3), np.eye(3), np.zeros(3))
    with pytest.raises(ValueError, match="there are 3 planes for 4 bits"):
        encode_by_planes("Coder", planes, np.ones((2, 3)), 4, 4)


def test_no_rows_have_no_codes():
    planes = make_planes(np.zeros(3), np.eye(3), np.zeros(3))
    assert encode_by_planes("A", planes, np.empty((0, 3)), 3, 3).shape == (0, 1)
    assert encode_by_bits("A", lambda X: X > 0, np.empty((0, 3)), 3, 3).shape == (0, 1)
