"""Blocks of rows: float types, slices, samples and normalised rows."""

import numpy as np
import pytest

from structhash._numerics.blocks import (
    as_floats,
    float_type,
    normalize_rows,
    row_slices,
    rows_within,
    sample_rows,
    spread_rows,
)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        *[(kind, "f4") for kind in ("f2", "f4", ">f4", "b1", "i1", "u2")],
        *[(kind, "f8") for kind in ("f8", ">f8", "g", "i4", "u8")],
    ],
)
def test_float_types(given, found):
    assert float_type(given) == np.dtype(found)
    X = np.ones((2, 3), given)
    assert as_floats(X).dtype == np.dtype(found)
    assert (as_floats(X) is X) == (np.dtype(given) == np.dtype(found))


@pytest.mark.parametrize("n", [0, 1, 6, 7])
def test_slices_cover_all_rows_once(n):
    slices = list(row_slices(n, 3))
    assert [i for run in slices for i in range(n)[run]] == list(range(n))
    assert all(run.stop - run.start == 3 for run in slices[:-1])


@pytest.mark.parametrize(
    ("n_columns", "max_elements", "rows"), [(10, 100, 10), (10, 109, 10), (10, 9, 1), (0, 5, 5), (3, 0, 1)]
)
def test_rows_within_a_number_of_elements(n_columns, max_elements, rows):
    assert rows_within(n_columns, max_elements) == rows


def test_a_sample_is_sorted_and_without_repetition(rng):
    rows = sample_rows(100, 30, rng)
    assert len(rows) == 30
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0
    assert rows[-1] < 100
    assert not np.array_equal(rows, sample_rows(100, 30, rng))


def test_a_sample_of_all_rows_draws_nothing():
    np.testing.assert_array_equal(sample_rows(5, 5, None), np.arange(5))
    np.testing.assert_array_equal(sample_rows(5, 9, None), np.arange(5))


@pytest.mark.parametrize("power", [-300, -5, 0, 300])
def test_normalized_rows_have_norm_one_at_every_magnitude(power, rng):
    X = rng.standard_normal((6, 4))
    X[2] = 0
    Z = normalize_rows(X * 10.0**power)
    assert Z.dtype == np.float64
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), [1, 1, 0, 1, 1, 1])
    np.testing.assert_allclose(Z, normalize_rows(X))


def test_normalized_integers_are_floats():
    X = np.array([[3, 4]], np.int8)
    np.testing.assert_allclose(normalize_rows(X), [[0.6, 0.8]])
    np.testing.assert_array_equal(X, [[3, 4]])


def test_spread_rows_are_all_rows_or_some_from_the_first_to_the_last():
    for n in (1, 2, 7, 1000, 100_003):
        np.testing.assert_array_equal(spread_rows(n, n), np.arange(n))
    np.testing.assert_array_equal(spread_rows(101, 5), [0, 25, 50, 75, 100])
    np.testing.assert_array_equal(spread_rows(5, 0), [0])
