"""Squared lengths of decoded vectors against the vectors themselves."""

import numpy as np
import pytest

from structhash.codes import Decoder, PreparedQueries, byte_vectors, pack, prepared_distances


def random_decoder(n_bits, d, tables, seed=0):
    rng = np.random.default_rng(seed)
    shape = (-(-n_bits // 8), 256, d) if tables else (n_bits, d)
    return Decoder(n_bits, rng.normal(size=d).astype(np.float32), rng.normal(size=shape).astype(np.float32))


def decode(decoder, bits):
    """Vectors of bits (n, n_bits), added up one by one."""
    if decoder.vectors.ndim == 2:
        return decoder.offset + bits.astype(float) @ decoder.vectors.astype(float)
    return decoder.offset + sum(table[byte].astype(float) for table, byte in zip(decoder.vectors, pack(bits).T))


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize("n_bits", [1, 8, 13, 64])
def test_squared_lengths(n_bits, tables):
    decoder = random_decoder(n_bits, 5, tables)
    bits = np.random.default_rng(1).integers(0, 2, (30, n_bits), dtype=np.uint8)
    expected = (decode(decoder, bits) ** 2).sum(axis=1)
    np.testing.assert_allclose(decoder.squared_lengths(pack(bits)), expected, rtol=1e-4, atol=1e-4)


def test_vectors_of_bytes_are_sums_over_their_bits():
    vectors = np.random.default_rng(0).normal(size=(11, 3))
    tables = byte_vectors(vectors)
    assert tables.shape == (2, 256, 3)
    assert tables.dtype == np.float64
    for value in range(256):
        for byte, first in enumerate((0, 8)):
            rows = [first + j for j in range(8) if value >> j & 1 and first + j < 11]
            np.testing.assert_allclose(tables[byte, value], vectors[rows].sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("tables", [False, True])
def test_prepared_distances_have_them(tables):
    decoder, rng = random_decoder(11, 4, tables), np.random.default_rng(1)
    bits, q = rng.integers(0, 2, (20, 11), dtype=np.uint8), rng.normal(size=(3, 4))
    values = -2 * np.tensordot(q, decoder.vectors, (1, -1))
    base = (q**2).sum(axis=1) - 2 * q @ decoder.offset
    expected = ((q[:, None] - decode(decoder, bits)[None]) ** 2).sum(axis=2)
    prepared = PreparedQueries(11, base, values, decoder)
    np.testing.assert_allclose(prepared_distances(prepared, pack(bits)), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(prepared_distances(prepared[1:], pack(bits)).shape, (2, 20))
    assert prepared.codes() is None


@pytest.mark.parametrize("size", [np.inf, np.nan, 1e30])
def test_vectors_that_are_too_long_are_refused(size):
    decoder = Decoder(8, np.zeros(2, np.float32), np.full((8, 2), size, np.float32))
    with pytest.raises(ValueError, match=r"squared lengths of decoded vectors exceed 1e\+37"):
        decoder.squared_lengths(np.array([[1]], np.uint8))


@pytest.mark.parametrize(
    ("offset", "vectors"),
    [
        ((2,), (8, 2)),
        ((3,), (16, 2)),
        ((2,), (1, 256, 2)),
        ((2,), (2, 255, 2)),
        ((), (16,)),
        ((1, 2), (16, 1, 2)),
    ],
)
def test_arrays_of_other_shapes_are_refused(offset, vectors):
    with pytest.raises(ValueError, match=r"vectors .*; give \(d,\), and \(16, d\) or \(2, 256, d\)"):
        Decoder(16, np.zeros(offset, np.float32), np.zeros(vectors, np.float32))


def test_a_decoder_of_another_length_is_refused():
    with pytest.raises(ValueError, match="n_bits=10: the decoder is for 11 bits; give one for 10"):
        PreparedQueries(10, [0.0], np.ones((1, 10)), random_decoder(11, 4, False))


def test_codes_of_another_length_are_refused():
    with pytest.raises(ValueError, match="codes of 11 bits must have 2 bytes"):
        random_decoder(11, 4, False).squared_lengths(np.zeros((1, 1), np.uint8))
