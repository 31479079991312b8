"""The 4-bit scan of faiss, and the proof of what it gives."""

import faiss
import numpy as np
import pytest

import structhash.search._fast_scan as fast_scan
from structhash.codes import PreparedQueries, pack, prepare_values, unpack
from structhash.search import Exact, Flat


@pytest.fixture(autouse=True)
def scanned(monkeypatch):
    """Take the 4-bit scan for any number of codes and queries, on one thread."""
    for name, value in (("_LEAST_CODES", 1), ("_MOST_QUERIES", 1000), ("_QUERIES_BEFORE", 0)):
        monkeypatch.setattr(fast_scan, name, value)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(threads)


@pytest.fixture
def counts(monkeypatch):
    """Number of candidates, of proved queries and of queries, of each call of the scan."""
    found, inner = [], fast_scan._candidates

    def counted(*words):
        answer = inner(*words)
        found.append((words[-1], int(answer[2].sum()), len(answer[2])))
        return answer

    monkeypatch.setattr(fast_scan, "_candidates", counted)
    return found


def both(codes, n_bits, weights=None):
    indexes = Flat(n_bits, weights), Exact(n_bits, weights)
    for index in indexes:
        index.add(codes)
    return indexes


def learned_codes(n, n_bits, rng):
    return pack(rng.normal(size=(n, 6)) @ rng.normal(size=(6, n_bits)) > 0)


def weights_of(form, n_bits, rng):
    """Weights of the bits that may break a scan in small numbers."""
    weights = rng.random(n_bits)
    if form == "ties":
        weights = rng.integers(0, 3, n_bits).astype(float)
    if form == "one large":
        weights[0] *= 1e4
    if form == "zeros":
        weights[:] = 0
    if form == "huge":
        weights *= 3e38 / weights.sum()
    if form == "denormal":
        weights *= 1e-310
    if form == "denormal in float32":
        weights *= 1e-41
    return weights


FORMS = ["plain", "ties", "one large", "zeros", "huge", "denormal", "denormal in float32"]


@pytest.mark.parametrize("n_bits", [1, 5, 8, 33, 64, 100, 256])
@pytest.mark.parametrize("form", FORMS)
def test_weights_and_values_find_what_the_exact_scan_finds(n_bits, form, counts):
    rng = np.random.default_rng(0)
    codes, queries = learned_codes(3000, n_bits, rng), learned_codes(12, n_bits, rng)
    weights = weights_of(form, n_bits, rng)
    values = rng.choice([-1.0, 1.0], (12, n_bits)) * weights / (100 if form == "huge" else 1)
    real = PreparedQueries(n_bits, rng.normal(size=12) * np.abs(values).sum() / 100, values)
    for asked, (flat, exact) in ((queries, both(codes, n_bits, weights)), (real, both(codes, n_bits))):
        for k in (1, 10, 150):
            for mine, theirs in zip(flat.search(asked, k), exact.search(asked, k)):
                np.testing.assert_array_equal(mine, theirs)
    assert len(counts) >= 6


def test_a_large_base_hides_no_neighbour():
    rng = np.random.default_rng(0)
    queries = prepare_values(rng.normal(size=(12, 64)))
    flat, exact = both(learned_codes(3000, 64, rng), 64)
    for base in (1e5, 1e12, 1e30):
        asked = PreparedQueries(64, queries.base + base, queries.values)
        for mine, theirs in zip(flat.search(asked, 20), exact.search(asked, 20)):
            np.testing.assert_array_equal(mine, theirs)


def traps(n_queries):
    """Codes, and queries for which rounded sums put hundreds of codes in a wrong order.

    One large weight makes the steps coarse: four of the other bits together count about two steps.
    """
    rng = np.random.default_rng(0)
    codes, values = rng.integers(0, 256, (4000, 8), dtype=np.uint8), rng.random((n_queries, 64))
    values[:, 0] *= 100
    return codes, PreparedQueries(64, np.zeros(n_queries), values * rng.choice([-1, 1], values.shape))


def test_without_the_error_the_proof_would_be_wrong(monkeypatch):
    """The proof decides: with an error of 0 it lets wrong answers pass, with the right error none."""
    codes, queries = traps(1500)
    flat, exact = both(codes, 64)
    right = exact.search(queries, 3)
    for mine, theirs in zip(flat.search(queries, 3), right):
        np.testing.assert_array_equal(mine, theirs)
    monkeypatch.setattr(fast_scan, "scan_error", lambda x: np.zeros(len(x)))
    assert (flat.search(queries, 3)[1] != right[1]).any(axis=1).sum() > 1


def test_what_is_not_proved_is_widened_and_then_scanned_exactly(counts):
    codes, queries = traps(250)
    both(codes, 64)[0].search(queries, 3)
    assert [factor for factor, _, _ in counts] == [12, 48]
    assert counts[1][2] == 250 - counts[0][1]
    assert counts[1][1] < counts[1][2]


def test_most_queries_are_proved_at_once(counts):
    rng = np.random.default_rng(0)
    codes = pack(rng.normal(size=(20_000, 16)) @ rng.normal(size=(16, 64)) > 0)
    both(codes, 64)[0].search(prepare_values(rng.normal(size=(50, 64))), 10)
    assert counts[0][0] == 40
    assert counts[0][1] > 25
    assert sum(proved for _, proved, _ in counts) <= 50


@pytest.mark.parametrize("n_bits", [8, 64, 1024])
def test_the_error_of_the_scan_is_below_its_bound(n_bits):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (2000, n_bits // 8), dtype=np.uint8)
    bits, index = unpack(codes, n_bits).astype(float), fast_scan._fast_index(faiss, codes)
    shape = 30, n_bits
    for x in (rng.normal(size=shape), rng.exponential(size=shape) ** 4, np.eye(*shape) * 7 - 1e-3):
        x = x.astype(np.float32)
        products, rows = index.search(x, 400)
        exact = np.stack([bits[row] @ each.astype(float) for row, each in zip(rows, x)])
        errors = np.abs(products - exact).max(axis=1)
        assert (errors <= fast_scan.scan_error(x)).all()
        assert (errors > 0).any()


def test_a_block_is_kept_for_faiss_only_after_several_queries(monkeypatch, counts):
    """A part that serves one search is not worth it."""
    monkeypatch.setattr(fast_scan, "_QUERIES_BEFORE", 4)
    rng = np.random.default_rng(0)
    flat, queries = both(learned_codes(3000, 64, rng), 64)[0], prepare_values(rng.normal(size=(2, 64)))
    calls = []
    for _ in range(4):
        flat.search(queries, 5, among=np.arange(2000))
        flat.search(queries, 5)
        calls.append(len(counts))
    assert calls[:2] == [0, 0]
    assert 0 < calls[2] < calls[3]
