"""The graph of faiss: exact distances, most neighbours, never less than k."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import faiss
import numpy as np
import pytest

import structhash.search._sublinear as sublinear
from structhash.codes import hamming, pack, prepare_values
from structhash.io import container as files
from structhash.search import HNSW, Exact, load_index


@pytest.fixture(autouse=True)
def one_thread():
    """Graphs of one thread are the same each time."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(threads)


@pytest.fixture
def structures(monkeypatch):
    """Blocks of few codes get a graph too."""
    monkeypatch.setattr(sublinear, "_LEAST_CODES", 50)


def clustered_codes(n, n_bits, seed):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).integers(0, 2, (20, n_bits))
    return pack((centres[rng.integers(0, 20, n)] ^ (rng.random((n, n_bits)) < 0.1)).astype(np.uint8))


def pair(index, codes, ids=None):
    exact = Exact(index.n_bits)
    for each in (index, exact):
        each.add(codes, ids)
    return index, exact


def assert_same(mine, theirs):
    for one, other in zip(mine, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("own_ids", [False, True])
@pytest.mark.parametrize("n_bits", [20, 64])
def test_what_is_found_is_ordered_and_has_exact_distances(structures, n_bits, own_ids):
    codes, queries = clustered_codes(2000, n_bits, 0), clustered_codes(30, n_bits, 1)
    ids = np.sort(np.random.default_rng(0).permutation(9000)[:2000]) if own_ids else np.arange(2000)
    index, exact = pair(HNSW(n_bits, ef=100), codes, ids if own_ids else None)
    distances, found = index.search(queries, 10)
    assert (distances.dtype, found.dtype) == (np.int32, np.int64)
    rows = np.searchsorted(ids, found)
    np.testing.assert_array_equal(distances, np.take_along_axis(hamming(queries, codes), rows, axis=1))
    assert (np.lexsort([found, distances]) == np.arange(10)).all()
    assert (distances <= exact.search(queries, 10)[0][:, -1:]).mean() > 0.9


def test_a_longer_walk_finds_more():
    index, exact = pair(HNSW(64), clustered_codes(12_000, 64, 0))
    queries = clustered_codes(60, 64, 1)
    reach = exact.search(queries, 5)[0][:, -1:]
    recalls = [(index.with_settings(ef=ef).search(queries, 5)[0] <= reach).mean() for ef in (5, 50, 500)]
    assert recalls == sorted(recalls)
    assert recalls[-1] > max(0.95, recalls[0])


@pytest.mark.parametrize("n_different", [1, 3])
def test_a_walk_that_ends_early_gives_k_codes_all_the_same(structures, n_different):
    """Equal codes tear a graph apart."""
    codes = clustered_codes(n_different, 20, 0)[np.arange(900) % n_different]
    index, exact = pair(HNSW(20, n_links=2), codes)
    queries = clustered_codes(9, 20, 1)
    for k in (1, 100, 900, 905):
        distances, ids = index.search(queries, k)
        assert (ids[:, : min(k, 900)] >= 0).all()
        assert all(len(set(row)) == min(k, 900) for row in ids[:, :900].tolist())
        if k >= 900:
            assert_same((distances, ids), exact.search(queries, k))


def test_among_radius_and_changes(structures):
    codes = clustered_codes(900, 20, 0)
    index, exact = pair(HNSW(20), codes, np.arange(900))
    queries, mask = clustered_codes(9, 20, 1), np.arange(900) % 3 == 0
    assert_same(index.search(queries, 30, among=mask), exact.search(queries, 30, among=mask))
    assert_same(index.radius(queries, 4), exact.radius(queries, 4))
    for each in (index, exact):
        each.remove(np.arange(0, 900, 2))
        each.replace([1, 3], codes[:2])
    assert (index.search(queries, 300)[1] % 2 == 1).all()
    assert_same(index.search(queries, 450), exact.search(queries, 450))


def test_files_hold_codes_and_settings(structures, tmp_path):
    index, _ = pair(HNSW(20, n_links=8, ef=40), clustered_codes(900, 20, 0))
    assert repr(index) == "HNSW(n_bits=20, n_links=8, ef=40, ntotal=900)"
    index.save(tmp_path / "i")
    loaded = load_index(tmp_path / "i")
    assert (type(loaded), loaded.n_links, loaded.ef) == (HNSW, 8, 40)
    queries = clustered_codes(9, 20, 1)
    assert_same(loaded.search(queries, 9), index.search(queries, 9))
    for name, value in (("n_links", 1), ("n_links", 10**9), ("ef", 0), ("ef", "x")):
        words = {"n_bits": 8, name: value}
        files.save(tmp_path / "bad", {"codes": np.zeros((1, 1), np.uint8)}, words, "index.hnsw")
        with pytest.raises(ValueError, match=rf"cannot read .*bad: {name}=.*: give a whole number from"):
            load_index(tmp_path / "bad")


def test_threads_agree(structures):
    index, _ = pair(HNSW(20), clustered_codes(900, 20, 0))
    queries = clustered_codes(9, 20, 1)
    with ThreadPoolExecutor(4) as pool:
        wide = [pool.submit(index.with_settings(ef=300).search, queries, 9) for _ in range(8)]
        narrow = [pool.submit(index.with_settings(ef=1).search, queries, 9) for _ in range(8)]
    for found, ef in ((wide, 300), (narrow, 1)):
        for each in found:
            assert_same(each.result(), index.with_settings(ef=ef).search(queries, 9))


@pytest.mark.slow
def test_a_forked_process_searches():
    """The threads of OpenMP do not live on in it: a search that needs them would wait for ever."""
    code = """
import multiprocessing, numpy as np, faiss
from structhash.search import HNSW
faiss.omp_set_num_threads(2)
codes = np.random.default_rng(0).integers(0, 256, (11_000, 4), dtype=np.uint8)
index = HNSW(32)
index.add(codes)
mine = index.search(codes[:500], 3)
with multiprocessing.get_context("fork").Pool(1) as pool:
    theirs = pool.apply_async(index.search, (codes[:500], 3)).get(60)
print(all(np.array_equal(*each) for each in zip(mine, theirs)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "True\n", done.stderr


def test_prepared_queries_and_weights_are_refused():
    with pytest.raises(
        TypeError, match="HNSW takes packed codes, not prepared queries; search these in Exact, Fl"
    ):
        HNSW(8).search(prepare_values(np.ones((1, 8))), 1)
    with pytest.raises(TypeError):
        HNSW(8, weights=np.ones(8))


@pytest.mark.slow
def test_without_faiss_it_says_so():
    code = "import sys; sys.modules['faiss'] = None\nfrom structhash.search import HNSW\nHNSW(8)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: HNSW needs faiss, which is not installed; pip install structhash[faiss]" in done.stderr


def test_very_many_neighbours_need_no_walk(structures, monkeypatch):
    monkeypatch.setattr("structhash.search.hnsw._LARGEST_K", 20)
    index, exact = pair(HNSW(20), clustered_codes(900, 20, 0))
    queries = clustered_codes(9, 20, 1)
    assert_same(index.search(queries, 21), exact.search(queries, 21))
    assert not sublinear._STRUCTURES[HNSW, 20, (None,)].peek(index._blocks[0].codes)
