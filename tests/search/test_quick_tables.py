"""Whole numbers whose sums are lower bounds of distances."""

import numpy as np
import pytest

import structhash.search._quick_tables as module
from structhash.search._lanes import LANES


def tables_of(form, n_queries, n_bytes, rng):
    """Tables that may break a bound in small numbers."""
    tables = rng.normal(size=(n_queries, n_bytes, 256))
    if form == "whole":
        tables = rng.integers(0, 256, tables.shape).astype(float)  # every entry lies on a step
    if form == "one large":
        tables[:, 0] *= 1e6
    if form == "one entry large":
        tables[:, :, 7] *= 1e6
    if form == "zeros":
        tables[:] = 0
    if form == "huge":
        tables *= 1e36
    if form == "denormal":
        tables *= 1e-310
    if form == "far from zero":
        tables += 1e9
    return tables


FORMS = ["plain", "whole", "one large", "one entry large", "zeros", "huge", "denormal", "far from zero"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_bytes", [1, 8, 32])
@pytest.mark.parametrize("with_terms", [False, True])
def test_no_distance_is_below_its_bound(form, n_bytes, with_terms, rng):
    n = 4000
    tables, codes = tables_of(form, 5, n_bytes, rng), rng.integers(0, 256, (n, n_bytes), dtype=np.uint8)
    size = np.abs(tables).max()
    base = rng.normal(size=5) * size
    terms = (rng.random(n) * 3 * size).astype(np.float32) if with_terms else np.empty(0, np.float32)
    quick, unit, shift, slack, least = module.quick_tables(base, tables, terms, 10**6)
    assert quick.shape == (n_bytes, 256, LANES)
    sums = sum(quick[b, codes[:, b], :5].astype(np.int64) for b in range(n_bytes)).T
    distances = base[:, None] + sum(tables[:, b, codes[:, b]] for b in range(n_bytes))
    if with_terms:
        sums += ((terms.astype(float) - least) / unit[0]).astype(np.int64)
        distances += terms
    limits = np.floor((distances - base[:, None] - shift[:, None]) / unit[:, None] + slack[:, None])
    assert (sums <= limits).all()
    if form in ("plain", "whole"):  # and the bound is near
        assert (limits - sums <= n_bytes + 2).all()


def test_a_large_entry_does_not_hide_the_others(rng):
    tables = tables_of("one large", 3, 8, rng)
    quick = module.quick_tables(np.zeros(3), tables, np.empty(0, np.float32), 10**6)[0]
    assert (quick[1:, :, :3].max(axis=(0, 1)) > 30).all()


def test_few_codes_have_no_quick_tables(rng):
    tables = tables_of("plain", 1, 8, rng)
    assert module.quick_tables(np.zeros(1), tables, np.empty(0, np.float32), 1000)[0].shape[0] == 0
