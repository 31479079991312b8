"""Multi-index hashing finds what a comparison with all codes finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structhash.search._chunks as chunks_module
import structhash.search._sublinear as sublinear
from structhash.codes import hamming, pack, prepare_values
from structhash.search import Exact, MultiHash, load_index


def made_codes(n, n_bits, seed, kind):
    rng = np.random.default_rng(seed)
    if kind == "equal":
        return np.zeros((n, -(-n_bits // 8)), np.uint8)
    if kind == "clustered":
        centres = np.random.default_rng(99).integers(0, 2, (20, n_bits))
        return pack((centres[rng.integers(0, 20, n)] ^ (rng.random((n, n_bits)) < 0.05)).astype(np.uint8))
    return pack(rng.integers(0, 2, (n, n_bits), dtype=np.uint8))


def assert_same(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@settings(deadline=None, max_examples=80)
@given(
    n_bits=st.sampled_from([1, 2, 7, 8, 9, 20, 63, 64, 65, 100, 130]),
    n=st.integers(1, 400),
    k=st.integers(1, 450),
    r=st.integers(0, 40),
    kind=st.sampled_from(["random", "clustered", "equal"]),
    share=st.sampled_from([1e-4, 2, 10**6]),
    own_ids=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_results_are_those_of_exact(n_bits, n, k, r, kind, share, own_ids, seed):
    """Where much may be looked at, a part of the codes, or nothing, so that all are compared."""
    kept = sublinear._LEAST_CODES, chunks_module._COST_OF_A_LOOK_UP, chunks_module._PAIRS_AT_ONCE
    sublinear._LEAST_CODES, chunks_module._COST_OF_A_LOOK_UP, chunks_module._PAIRS_AT_ONCE = 1, share, 1
    try:
        ids = np.random.default_rng(seed).permutation(2000)[:n] if own_ids else None
        index, exact = MultiHash(n_bits), Exact(n_bits)
        for each in (index, exact):
            each.add(made_codes(n, n_bits, seed, kind), ids)
        queries = made_codes(6, n_bits, seed + 1, kind)
        assert_same(index.search(queries, k), exact.search(queries, k))
        assert_same(index.radius(queries, r + 0.5), exact.radius(queries, r + 0.5))
    finally:
        sublinear._LEAST_CODES, chunks_module._COST_OF_A_LOOK_UP, chunks_module._PAIRS_AT_ONCE = kept


@pytest.mark.parametrize("kind", ["random", "clustered"])
def test_12000_codes(kind):
    index, exact = MultiHash(64), Exact(64)
    for each in (index, exact):
        each.add(made_codes(12_000, 64, 0, kind))
    queries = np.concatenate([made_codes(50, 64, 1, kind), index.table()[0][:50]])
    for k in (1, 30):
        assert_same(index.search(queries, k), exact.search(queries, k))
    for r in (0, 1, 3, 6, 64, np.inf):
        assert_same(index.radius(queries[45:55], r), exact.radius(queries[45:55], r))
    assert_same(index.radius(queries[:0], 3), exact.radius(queries[:0], 3))


def test_near_codes_are_found_by_looking_at_few(monkeypatch):
    """No query is compared with all codes."""

    def refuse(*words):
        raise AssertionError("compared with all codes")

    monkeypatch.setattr("structhash.search.multi_hash.nearest", refuse)
    index = MultiHash(64)
    index.add(made_codes(20_000, 64, 0, "random"))
    codes = index.table()[0]
    assert index.search(codes[:100], 1)[1].ravel().tolist() == list(range(100))


@pytest.mark.parametrize("n_bits", [1, 12, 64, 65, 100, 256])
def test_chunks_cover_each_bit_once_and_hold_each_code(n_bits):
    codes = made_codes(3000, n_bits, 0, "random")
    chunks = chunks_module.make_chunks(codes, n_bits)
    bits = [64 * word + low + i for word, low, width, _ in chunks.places.tolist() for i in range(width)]
    assert bits == list(range(n_bits))
    assert chunks.places[:, 2].max() <= 11  # log2(3000)
    for rows in chunks.rows:
        assert sorted(rows.tolist()) == list(range(3000))


def test_the_radius_argument_after_leaves_rows_out():
    codes = made_codes(300, 20, 0, "clustered")
    chunks = chunks_module.make_chunks(codes, 20)
    found = list(chunks_module.pairs_within(chunks, codes, 3, np.arange(300)))
    rows = np.concatenate([j for _, _, j in found])
    owner = np.repeat(np.arange(300), np.concatenate([np.diff(lims) for lims, _, _ in found]))
    expected = np.argwhere(np.triu(hamming(codes, codes) <= 3, 1))
    assert sorted(zip(owner.tolist(), rows.tolist())) == sorted(map(tuple, expected.tolist()))


def test_among_files_and_prepared_queries(tmp_path):
    index, exact = MultiHash(20), Exact(20)
    for each in (index, exact):
        each.add(made_codes(300, 20, 0, "clustered"))
    queries, mask = made_codes(9, 20, 1, "clustered"), np.arange(300) % 3 == 0
    assert_same(index.search(queries, 9, among=mask), exact.search(queries, 9, among=mask))
    assert_same(index.radius(queries, 3, among=mask), exact.radius(queries, 3, among=mask))
    index.save(tmp_path / "i")
    assert_same(load_index(tmp_path / "i").search(queries, 9), exact.search(queries, 9))
    asked = prepare_values(np.ones((1, 20)))
    refused = pytest.raises(TypeError, match="MultiHash takes packed codes, not prepared queries; search these")
    for limit in (None, mask):
        with refused:
            index.search(asked, 1, among=limit)
        with refused:
            index.radius(asked, 1, among=limit)


def test_a_filter_makes_no_chunks(monkeypatch):
    monkeypatch.setattr(sublinear, "_LEAST_CODES", 50)
    index = MultiHash(20)
    index.add(made_codes(300, 20, 0, "clustered"))

    def refuse(*words):
        raise AssertionError("chunks are made")

    monkeypatch.setattr("structhash.search.multi_hash.make_chunks", refuse)
    queries = made_codes(9, 20, 1, "clustered")
    index.search(queries, 9, among=np.arange(200))
    index.radius(queries, 3, among=np.arange(200))
    monkeypatch.setattr(sublinear, "MOST_ROWS", 299)  # more rows than their type can number
    index.search(queries, 9)
    index.radius(queries, 3)
    monkeypatch.setattr(sublinear, "MOST_ROWS", 300)
    with pytest.raises(AssertionError):
        index.search(queries, 9)
