"""Codes by planes against double precision, for every batch, position of a row, offset and magnitude."""

import numpy as np
import pytest

from structhash import StructHash
from structhash.codes._plane_kernels import pack_plane_bits
from structhash.codes.planes import make_planes, make_product, write_codes
from structhash.families.base import Family
from structhash.pieces import load, names


def problem(rng, n=300, d=40, m=19, offset=0.0):
    X = rng.standard_normal((n, d)) + offset
    return X, offset + rng.standard_normal(d), rng.standard_normal((m, d)) * 10.0 ** rng.integers(-3, 4, (m, 1))


def encoded(planes, X):
    product = make_product(planes, X[:20].astype(np.float64))
    codes = np.full((len(X), -(-len(planes.normals) // 8)), 255, np.uint8)
    return product, codes, write_codes(product, X, codes)


def expected(X, center, normals, thresholds):
    scores = (X.astype(np.float64) - center) @ normals.T
    return np.packbits(scores > thresholds, axis=1, bitorder="little")


@pytest.mark.parametrize("m", [1, 7, 8, 9, 64, 100])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4", "int32"])
def test_codes_are_those_of_double_precision(dtype, m, rng):
    X, center, normals = problem(rng, m=m)
    X = (100 * X if dtype == "int32" else X).astype(dtype)
    thresholds = rng.standard_normal(m)
    _, codes, finite = encoded(make_planes(center, normals, thresholds), X)
    np.testing.assert_array_equal(codes, expected(X, center, normals, thresholds))
    assert finite


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("offset", "folded"), [(0.0, True), (1.0, True), (1e2, False), (1e6, False)])
def test_far_from_the_origin_no_digit_is_lost(offset, folded, dtype, rng):
    X, center, normals = problem(rng, offset=offset)
    X = X.astype(dtype)
    product, codes, _ = encoded(make_planes(center, normals, np.zeros(19)), X)
    assert (product.shift is None) == folded
    np.testing.assert_array_equal(codes, expected(X, center, normals, 0))


@pytest.mark.parametrize("power", [-300, -30, 30, 300])
def test_numbers_out_of_the_range_of_single_precision(power, rng):
    X, center, normals = problem(rng)
    X, center = X * 10.0**power, center * 10.0**power
    np.testing.assert_array_equal(
        encoded(make_planes(center, normals, np.zeros(19)), X)[1], expected(X, center, normals, 0)
    )


def test_rows_far_longer_than_the_sampled_rows(rng):
    X, center, normals = problem(rng)
    X[30:] *= 10.0 ** rng.integers(0, 30, (270, 1))
    np.testing.assert_array_equal(
        encoded(make_planes(center, normals, np.zeros(19)), X)[1], expected(X, center, normals, 0)
    )


def test_scores_within_rounding_of_the_threshold_are_decided_in_double_precision(rng):
    """The thresholds are the scores of row 5, moved by less than single precision resolves."""
    X = rng.standard_normal((9, 100)).astype(np.float32)
    normals = rng.standard_normal((16, 100))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    above = np.arange(16) % 3 == 0
    thresholds = X[5].astype(float) @ normals.T - np.where(above, 1e-10, -1e-10)
    codes = encoded(make_planes(np.zeros(100), normals, thresholds), X)[1]
    np.testing.assert_array_equal(np.unpackbits(codes[5], bitorder="little") > 0, above)


def test_the_float32_score_decides_beyond_the_tolerance_and_the_exact_bit_within_it():
    """The scores contradict the rows, so that each bit shows which of the two decided it."""
    rows = np.array([[3.0, 4.0]], np.float32)  # of norm 5: a score below 5 * 0.1 is uncertain
    scores = np.array([[0.4, 0.6, -0.4, -0.6]], np.float32)
    normals, zeros = np.array([[-1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), np.zeros(4)
    codes = np.empty((1, 1), np.uint8)
    pack_plane_bits(
        scores, zeros.astype(np.float32), rows, 0.1, np.float32(5), rows, zeros[:2], normals, zeros, codes
    )
    assert codes[0, 0] == 0b0110


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_number_that_is_not_finite_is_found_even_in_a_column_of_zero_normals(bad, dtype, rng):
    X, center, normals = problem(rng)
    normals[:, 7] = 0
    for offset in (0, 50):
        rows = (X + offset).astype(dtype)
        planes = make_planes(center + offset, normals, np.zeros(19))
        assert encoded(planes, rows)[2]
        for row in (3, 299):
            spoiled = rows.copy()
            spoiled[row, 7] = bad
            assert not encoded(planes, spoiled)[2]


def test_normals_of_norm_zero_leave_the_threshold_to_decide(rng):
    X = rng.standard_normal((5, 3)).astype(np.float32)
    planes = make_planes(np.ones(3), np.zeros((3, 3)), [-1.0, 0.0, 1.0])
    assert encoded(planes, X)[1].tolist() == 5 * [[1]]


def test_planes_that_do_not_fit_are_refused(rng):
    with pytest.raises(ValueError, match=r"\(2,\) thresholds and a center \(3,\) do not fit normals \(2, 4\)"):
        make_planes(np.zeros(3), np.zeros((2, 4)), np.zeros(2))
    with pytest.raises(ValueError, match=r"rows have \(4,\) features, the planes \(3,\)"):
        make_product(make_planes(np.zeros(3), np.zeros((2, 3)), np.zeros(2)), np.zeros((5, 4)))


def test_bits_of_training_rows_are_the_learned_bits(digits):
    X, y = digits
    for dtype in (np.float32, np.float64):
        encoder = StructHash(8, ranking="sndcg", random_state=0)
        learned = [step.bit for step in encoder.steps(X.astype(dtype), y)]
        assert np.mean(np.array(learned) == encoder.transform(X.astype(dtype)).T) > 0.999


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name", [name for name in names("families") if type(load("families", name)).planes is not Family.planes]
)
def test_planes_of_a_family_give_the_bits_of_its_decisions(name, dtype, digits):
    X, y = (part[:200] for part in digits)
    model = StructHash(8, ranking="sndcg", family=name, random_state=0).fit(X.astype(dtype), y)
    more = digits[0][200:].astype(dtype)
    learned = model.hash_function_
    decided = learned.bits_of(more)
    assert np.mean(model.transform(more) == decided) > 0.998
    center, normals, thresholds = learned.planes()
    np.testing.assert_array_equal(model.transform(more), (more - center) @ normals.T > thresholds)


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
def test_normals_whose_squares_overflow_or_vanish_are_planes(unit, rng):
    normals, thresholds = rng.standard_normal((5, 3)), rng.standard_normal(5)
    plain, found = (
        make_planes(np.zeros(3), normals, thresholds),
        make_planes(np.zeros(3), normals * unit, thresholds * unit),
    )
    np.testing.assert_allclose(found.normals, plain.normals)
    np.testing.assert_allclose(found.thresholds, plain.thresholds)
