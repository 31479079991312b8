"""Inverted lists: exact where all lists are probed, and near that where a few are."""

import multiprocessing
import pickle
import threading

import numpy as np
import pytest

import structhash.search._lists as lists_module
import structhash.search._sublinear as sublinear
from structhash.codes import Decoder, PreparedQueries, hamming, pack, prepare_values, prepared_distances
from structhash.io import container as files
from structhash.search import IVF, Exact, load_index

N_BITS = [5, 16, 20, 64, 100]


@pytest.fixture
def structures(monkeypatch):
    """Blocks of few codes get a structure too."""
    monkeypatch.setattr(sublinear, "_LEAST_CODES", 50)


def clustered_codes(n, n_bits, seed, flips=0.1):
    """Codes around 20 centres, of which each bit is flipped with a probability."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).integers(0, 2, (20, n_bits))
    return pack((centres[rng.integers(0, 20, n)] ^ (rng.random((n, n_bits)) < flips)).astype(np.uint8))


def pair(index, codes, ids=None, weights=None):
    exact = Exact(index.n_bits, weights)
    for each in (index, exact):
        each.add(codes, ids)
    return index, exact


def assert_same(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("own_ids", [False, True])
@pytest.mark.parametrize("n_bits", N_BITS)
def test_with_all_lists_probed_results_are_those_of_exact(structures, n_bits, own_ids):
    ids = np.random.default_rng(0).permutation(9000)[:900] if own_ids else None
    index, exact = pair(IVF(n_bits, n_lists=30, n_probe=30), clustered_codes(900, n_bits, 0), ids)
    queries = clustered_codes(40, n_bits, 1)
    for k in (1, 10, 899, 900, 903):
        assert_same(index.search(queries, k), exact.search(queries, k))


def prepared(n_bits, form, rng):
    """Queries of each form that a reader gives."""
    if form == "values":
        return prepare_values(rng.normal(size=(20, n_bits)))
    if form == "ties":
        return prepare_values(rng.integers(-2, 3, (20, n_bits)))
    if form == "signs":
        return prepare_values(np.where(rng.random((20, n_bits)) < 0.5, -1.0, 1.0))
    decoder = Decoder(n_bits, rng.normal(size=3), rng.normal(size=(n_bits, 3))) if form == "decoder" else None
    tables = rng.normal(size=(20, -(-n_bits // 8), 256))
    return PreparedQueries(n_bits, rng.normal(size=20), tables, decoder)


@pytest.mark.parametrize("form", ["values", "ties", "signs", "tables", "decoder"])
@pytest.mark.parametrize("n_bits", [5, 20, 64])
def test_prepared_queries_with_all_lists_are_exact_and_with_few_have_exact_distances(structures, form, n_bits):
    rng = np.random.default_rng(0)
    codes, queries = clustered_codes(900, n_bits, 0), prepared(n_bits, form, rng)
    index, exact = pair(IVF(n_bits, n_lists=30, n_probe=30), codes)
    for k in (1, 10, 900, 901):
        assert_same(index.search(queries, k), exact.search(queries, k))
    distances, ids = index.with_settings(n_probe=2).search(queries, 7)
    np.testing.assert_array_equal(
        distances, np.take_along_axis(prepared_distances(queries, codes), ids, axis=1)
    )
    assert (np.lexsort([ids, distances]) == np.arange(7)).all()


def test_weights_are_served(structures):
    rng = np.random.default_rng(0)
    weights = rng.random(20)
    index, exact = pair(IVF(20, weights, 30, 30), clustered_codes(900, 20, 0), weights=weights)
    queries = clustered_codes(20, 20, 1)
    assert_same(index.search(queries, 12), exact.search(queries, 12))
    found = index.with_settings(n_probe=3)
    np.testing.assert_array_equal(found.weights, weights)
    assert found.search(queries, 12)[0].dtype == np.float32


@pytest.mark.parametrize("n_probe", [1, 3])
def test_what_few_lists_hold_is_ordered_and_has_exact_distances(structures, n_probe):
    codes, queries = clustered_codes(2000, 20, 0), clustered_codes(30, 20, 1)
    index, _ = pair(IVF(20, n_lists=40, n_probe=n_probe), codes)
    distances, ids = index.search(queries, 10)
    np.testing.assert_array_equal(distances, np.take_along_axis(hamming(queries, codes), ids, axis=1))
    assert (np.lexsort([ids, distances]) == np.arange(10)).all()
    assert all(len(set(row)) == 10 for row in ids.tolist())
    # brute force over the lists that a query should probe
    lists = index._structure(index._blocks[0].codes)
    near = np.argsort(hamming(queries, lists.centroids), axis=1, kind="stable")[:, :n_probe]
    for q in range(30):
        rows = np.concatenate([lists.rows[lists.starts[c] : lists.starts[c + 1]] for c in near[q]])
        if len(rows) >= 10:
            pairs = sorted(zip(hamming(queries[q : q + 1], codes[rows])[0].tolist(), rows.tolist()))
            assert list(zip(distances[q].tolist(), ids[q].tolist())) == pairs[:10]


def test_more_lists_are_probed_where_few_hold_less_than_k(structures):
    index, _ = pair(IVF(64, n_lists=100, n_probe=1), clustered_codes(300, 64, 0))
    ids = index.search(clustered_codes(5, 64, 1), 250)[1]
    assert all(len(set(row)) == 250 for row in ids.tolist())
    assert (ids >= 0).all()
    assert sorted(index.search(clustered_codes(1, 64, 1), 300)[1][0].tolist()) == list(range(300))


def test_few_lists_find_most_neighbours():
    codes, queries = clustered_codes(20_000, 64, 0), clustered_codes(100, 64, 1)
    index, exact = pair(IVF(64), codes)
    reach = exact.search(queries, 20)[0][:, -1:]
    recalls = [
        (index.with_settings(n_probe=each).search(queries, 20)[0] <= reach).mean() for each in (1, 16, 64)
    ]
    assert recalls == sorted(recalls)
    assert recalls[0] < 0.9 < recalls[1]
    assert recalls[2] > 0.99


def test_equal_codes_are_one_list(structures):
    index, exact = pair(IVF(8), np.zeros((200, 1), np.uint8))
    assert_same(index.search(np.array([[3]], np.uint8), 5), exact.search(np.array([[3]], np.uint8), 5))


def test_lists_hold_each_code_once_at_its_nearest_centroid():
    codes = clustered_codes(3000, 20, 0)
    made = lists_module.make_lists(codes, 25)
    assert sorted(made.rows.tolist()) == list(range(3000))
    np.testing.assert_array_equal(made.codes, codes[made.rows])
    assert (made.starts[0], made.starts[-1]) == (0, 3000)
    owner = np.repeat(np.arange(len(made.centroids)), np.diff(made.starts))
    np.testing.assert_array_equal(owner, hamming(made.codes, made.centroids).argmin(axis=1))
    again = lists_module.make_lists(codes.copy(), 25)
    assert_same(made, again)
    spread = hamming(made.codes, made.centroids).min(axis=1).mean()
    some = codes[np.random.default_rng(1).permutation(3000)[:25]]
    assert spread < 0.8 * hamming(codes, some).min(axis=1).mean()  # than with codes drawn at random


def test_among_and_radius_compare_all_codes(structures):
    index, exact = pair(IVF(20, n_lists=40, n_probe=1), clustered_codes(900, 20, 0))
    queries, mask = clustered_codes(9, 20, 1), np.random.default_rng(2).random(900) < 0.5
    assert_same(index.search(queries, 30, among=mask), exact.search(queries, 30, among=mask))
    assert_same(index.radius(queries, 4), exact.radius(queries, 4))


def test_changes_reach_the_lists(structures):
    codes = clustered_codes(900, 20, 0)
    index, exact = pair(IVF(20, n_lists=10, n_probe=10), codes, np.arange(900))
    queries = clustered_codes(9, 20, 1)
    for change in (
        lambda each: each.remove(np.arange(0, 400, 2)),
        lambda each: each.replace([1, 3], codes[:2]),
        lambda each: each.add(codes[:300], np.arange(1000, 1300)),
    ):
        index.search(queries, 1)
        for each in (index, exact):
            change(each)
        assert_same(index.search(queries, 30), exact.search(queries, 30))


def test_settings_are_saved_and_shown(structures, tmp_path):
    index, _ = pair(IVF(20, n_lists=30, n_probe=2), clustered_codes(900, 20, 0))
    assert repr(index) == "IVF(n_bits=20, n_lists=30, n_probe=2, ntotal=900)"
    index.save(tmp_path / "i")
    loaded = load_index(tmp_path / "i")
    assert (type(loaded), loaded.n_lists, loaded.n_probe) == (IVF, 30, 2)
    queries = clustered_codes(9, 20, 1)
    for other in (loaded, pickle.loads(pickle.dumps(index))):
        assert_same(other.search(queries, 9), index.search(queries, 9))


def test_settings_that_change_share_codes_and_lists(structures):
    index, _ = pair(IVF(20, n_lists=30), clustered_codes(900, 20, 0))
    other = index.with_settings(n_probe=3)
    block = index._blocks[0].codes
    assert other._blocks[0].codes is block
    assert other._structure(block) is index._structure(block)
    assert index.with_settings(n_lists=9)._structure(block) is not index._structure(block)
    assert (index.n_probe, other.n_probe, other.with_settings(n_probe=None).n_probe) == (None, 3, None)
    with pytest.raises(ValueError, match="IVF has no setting 'ef'; it has n_lists, n_probe"):
        index.with_settings(ef=3)


@pytest.mark.parametrize("value", [0, -1, 2**20 + 1, 1.5, "3", True, [3], 10**30])
@pytest.mark.parametrize("name", ["n_lists", "n_probe"])
def test_settings_are_checked_also_in_files(name, value, tmp_path):
    with pytest.raises((TypeError, ValueError), match=f"{name}=.*: give a whole number from 1 to 1048576"):
        IVF(8, **{name: value})
    files.save(tmp_path / "i", {"codes": np.zeros((1, 1), np.uint8)}, {"n_bits": 8, name: value}, "index.ivf")
    with pytest.raises(ValueError, match=rf"cannot read .*i: {name}="):
        load_index(tmp_path / "i")


def test_threads_make_lists_once_and_agree(structures, monkeypatch):
    made, inner = [], IVF._make
    monkeypatch.setattr(IVF, "_make", lambda self, codes: made.append(1) or inner(self, codes))
    index, _ = pair(IVF(20, n_lists=30, n_probe=2), clustered_codes(900, 20, 0))
    queries, found = clustered_codes(9, 20, 1), []
    threads = [threading.Thread(target=lambda: found.append(index.search(queries, 9))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (len(made), len(found)) == (1, 8)
    for each in found:
        assert_same(each, found[0])


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_searches(structures):
    index, _ = pair(IVF(20, n_lists=30, n_probe=2), clustered_codes(900, 20, 0))
    queries = clustered_codes(9, 20, 1)
    mine = index.search(queries, 9)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for theirs in pool.starmap(index.search, [(queries, 9)] * 4):
            assert_same(theirs, mine)
