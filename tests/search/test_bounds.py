"""Whole numbers whose sums are lower bounds of distances."""

import numpy as np
import pytest

from structhash.search._bounds import byte_bounds, plane_bounds
from structhash.search._counts import N_PLANES
from structhash.search._lanes import FEW_LANES, MANY_LANES

NO_TERMS = np.empty(0, np.float32)


def tables_of(form, shape, rng):
    """Tables, or numbers a bit, that may break a bound in small numbers."""
    tables = rng.normal(size=shape)
    if form == "whole":
        tables = rng.integers(0, 256, tables.shape).astype(float)  # every entry lies on a step
    if form == "one large":
        tables[:, 0] *= 1e6
    if form == "one entry large":
        tables[..., 7 % shape[-1]] *= 1e6
    if form == "zeros":
        tables[:] = 0
    if form == "huge":
        tables *= 1e36
    if form == "denormal":
        tables *= 1e-310
    if form == "huge and denormal":
        tables *= 1e-310
        tables[:, 0] = rng.normal(size=tables[:, 0].shape) * 1e36
    if form == "far from zero":
        tables += 1e9
    return tables


FORMS = [
    "plain",
    "whole",
    "one large",
    "one entry large",
    "zeros",
    "huge",
    "denormal",
    "huge and denormal",
    "far from zero",
]


def bits_of(words, n_bits):
    """The bits (..., n_bits) of words (..., w)."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=-1, bitorder="little")[..., :n_bits]


def levels_of(planes, n_bits):
    """The levels (n_queries, n_bits) whose digits are planes (n_queries, N_PLANES, w)."""
    return (bits_of(planes, n_bits).astype(int) * 2 ** np.arange(N_PLANES)[:, None]).sum(axis=1)


def spread(n_queries, n, size, with_terms, rng):
    """Bases, and terms of codes, as large as the largest entry."""
    terms = (rng.random(n) * 3 * size).astype(np.float32) if with_terms else NO_TERMS
    return rng.normal(size=n_queries) * size, terms


def of_terms(terms, bounds):
    """The whole numbers (n_queries, n) of terms; kernels cut them lower."""
    with np.errstate(over="ignore"):
        return np.minimum((terms.astype(float) - bounds.least) / bounds.unit[:, None], 2.0**40).astype(np.int64)


def assert_below(numbers, bounds, distances):
    """Check the numbers (n_queries, n) that judge codes against the limits that the distances give."""
    unit, lowest, slack, _ = (np.reshape(each, (-1, 1)) for each in bounds)
    with np.errstate(over="ignore"):
        limits = np.floor((distances - lowest) / unit + slack)
    assert (numbers <= limits).all()
    return limits - numbers


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_bytes", [1, 8, 32])
@pytest.mark.parametrize("with_terms", [False, True])
def test_no_distance_is_below_its_number_by_bytes(form, n_bytes, with_terms, rng):
    n = 4000
    tables, codes = tables_of(form, (5, n_bytes, 256), rng), rng.integers(0, 256, (n, n_bytes), dtype=np.uint8)
    base, terms = spread(5, n, np.abs(tables).max(), with_terms, rng)
    numbers, bounds = byte_bounds(base, tables, terms)
    assert numbers.shape == (n_bytes, 256, FEW_LANES)
    sums = sum(numbers[b, codes[:, b], :5].astype(np.int64) for b in range(n_bytes)).T
    distances = base[:, None] + sum(tables[:, b, codes[:, b]] for b in range(n_bytes))
    if with_terms:
        sums += of_terms(terms, bounds)[0]
        distances += terms
    above = assert_below(sums, bounds, distances)
    if form in ("plain", "whole"):  # and the bound is near
        assert above.max() <= n_bytes + 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_bits", [1, 7, 64, 256])
@pytest.mark.parametrize("with_terms", [False, True])
def test_no_distance_is_below_its_number_by_planes(form, n_bits, with_terms, rng):
    n = 4000
    x, bits = tables_of(form, (5, n_bits), rng), rng.integers(0, 2, (n, n_bits), dtype=np.uint8)
    base, terms = spread(5, n, np.abs(x).max(), with_terms, rng)
    signs, planes, bounds = plane_bounds(base, x, terms)
    sums = ((bits != bits_of(signs, n_bits)[:, None]) * levels_of(planes, n_bits)[:, None]).sum(axis=2)
    distances = base[:, None] + sum(x[:, [j]] * bits[:, j] for j in range(n_bits))
    if with_terms:
        sums = sums + of_terms(terms, bounds)
        distances += terms
    assert_below(sums, bounds, distances)


@pytest.mark.parametrize(("n_queries", "lanes"), [(1, FEW_LANES), (FEW_LANES + 1, MANY_LANES)])
def test_a_few_queries_take_few_lanes(n_queries, lanes, rng):
    tables = tables_of("plain", (n_queries, 2, 256), rng)
    assert byte_bounds(np.zeros(n_queries), tables, NO_TERMS)[0].shape == (2, 256, lanes)


def test_a_large_entry_does_not_hide_the_others(rng):
    numbers, _ = byte_bounds(np.zeros(3), tables_of("one large", (3, 8, 256), rng), NO_TERMS)
    assert (numbers[1:, :, :3].max(axis=(0, 1)) > 30).all()
    _, planes, _ = plane_bounds(np.zeros(3), tables_of("one large", (3, 64), rng), NO_TERMS)
    assert (levels_of(planes, 64)[:, 1:].max(axis=1) > 10).all()


def test_levels_that_are_rounded_up_are_no_bound(rng):
    """The check of the bound sees it."""
    x, bits = tables_of("plain", (5, 64), rng), rng.integers(0, 2, (4000, 64), dtype=np.uint8)
    signs, planes, bounds = plane_bounds(np.zeros(5), x, NO_TERMS)
    for wrong in (0, 1):
        levels = levels_of(planes, 64) + wrong
        sums = ((bits != bits_of(signs, 64)[:, None]) * levels[:, None]).sum(axis=2)
        if wrong:
            with pytest.raises(AssertionError):
                assert_below(sums, bounds, x @ bits.T)
        else:
            assert_below(sums, bounds, x @ bits.T)
