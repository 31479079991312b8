"""Codes as sums of vectors: the beam search by enumeration, and what a row comes with."""

from itertools import product

import numpy as np
import pytest

import structhash.codes.sums as sums
from structhash.codes.sums import FirstByteCoder, SumCoder, sums_of

RNG = np.random.default_rng(0)
SIZES = np.array([5, 4, 3])
TABLES = np.zeros((3, 256, 6), np.float32)
for m, size in enumerate(SIZES):
    TABLES[m, :size] = RNG.normal(size=(size, 6))
TABLES[:, 5:] = 99.0  # beyond all sizes: never used
ROWS = RNG.normal(size=(50, 6))


def left_over(y, code):
    """Squared length of what a code leaves over of a row."""
    return ((y - sum(TABLES[m, value].astype(float) for m, value in enumerate(code))) ** 2).sum()


@pytest.mark.parametrize("beam", [1, 2, 7])
def test_a_beam_keeps_the_best_codes_of_the_first_bytes(beam):
    for y, code in zip(ROWS, SumCoder(TABLES, SIZES, beam).code(ROWS), strict=True):
        kept = [()]
        for size in SIZES:
            grown = [(*each, value) for each, value in product(kept, range(size))]
            kept = sorted(grown, key=lambda each: left_over(y, each))[:beam]
        assert tuple(code) == kept[0]


def test_a_beam_as_wide_as_all_codes_finds_the_best():
    every = list(product(*map(range, SIZES)))
    for y, code in zip(ROWS, SumCoder(TABLES, SIZES, 60).code(ROWS), strict=True):
        assert left_over(y, code) == pytest.approx(min(left_over(y, each) for each in every), rel=1e-5)


def test_a_code_does_not_depend_on_the_rows_it_comes_with():
    tables = RNG.normal(size=(4, 256, 30)).astype(np.float32)
    coder, rows = SumCoder(tables, np.full(4, 256), 4), RNG.normal(size=(3000, 30))
    together = coder.code(rows)
    for i in (0, 1, 1023, 1024, 2999):
        np.testing.assert_array_equal(coder.code(rows[i : i + 1])[0], together[i])
    np.testing.assert_array_equal(coder.code(rows[5:700]), together[5:700])


@pytest.mark.parametrize("n_rows", [0, 1, 63, 130, 2500])
def test_codes_do_not_depend_on_the_number_of_threads(n_rows, monkeypatch):
    tables = RNG.normal(size=(4, 256, 30)).astype(np.float32)
    coder, rows = SumCoder(tables, np.full(4, 256), 4), RNG.normal(size=(n_rows, 30))
    started, Pool = [], sums.ThreadPoolExecutor
    monkeypatch.setattr(sums, "ThreadPoolExecutor", lambda n: started.append(n) or Pool(n))
    expected = coder.code(rows)
    for n_threads in (2, 3, 50):
        np.testing.assert_array_equal(coder.code(rows, n_threads), expected)
    assert started == {0: [], 1: [], 63: [], 130: [2, 3, 3], 2500: [2, 3, 40]}[n_rows]


def test_sums_are_those_of_the_vectors():
    codes = SumCoder(TABLES, SIZES, 2).code(ROWS)
    expected = [sum(TABLES[m, value] for m, value in enumerate(code)) for code in codes]
    np.testing.assert_allclose(sums_of(codes, TABLES), expected, rtol=1e-6)


@pytest.mark.parametrize("length", [1e-300, 1e100])
def test_rows_of_any_length_have_codes_of_values_that_exist(length):
    assert (SumCoder(TABLES, SIZES, 2).code(length * ROWS) < SIZES).all()


@pytest.mark.parametrize("n_bytes", [1, 3])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_first_byte_of_its_own_is_nearest_in_the_first_numbers(n_bytes, n_threads):
    tables = TABLES[:n_bytes].copy()
    tables[1:, :, :2] = 0
    rows = RNG.normal(size=(150, 6))
    codes = FirstByteCoder(tables, SIZES[:n_bytes], 3, 2).code(rows, n_threads)
    assert (codes.dtype, codes.shape) == (np.uint8, (150, n_bytes))
    apart = ((rows[:, None, :2] - tables[0, None, : SIZES[0], :2]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(codes[:, 0], apart.argmin(axis=1))
    if n_bytes > 1:
        left = rows[:, 2:] - tables[0, codes[:, 0], 2:]
        others = SumCoder(np.ascontiguousarray(tables[1:, :, 2:]), SIZES[1:], 3).code(left)
        np.testing.assert_array_equal(codes[:, 1:], others)
