"""Files of faiss and usearch, opened by these libraries."""

import faiss
import numpy as np
import pytest

from structhash.codes import hamming
from structhash.search import Exact
from structhash.stores.index_files import write_faiss, write_usearch


@pytest.fixture
def usearch():
    return pytest.importorskip("usearch.index")


def assert_exact(found, queries, codes, ids, n_bits):
    """A check of (distances, ids): the distances of Exact, each that of its id; equal ones in any order."""
    distances, names = (np.asarray(each).astype(np.int64) for each in found)
    index = Exact(n_bits)
    index.add(codes, ids)
    np.testing.assert_array_equal(distances, index.search(queries, distances.shape[1])[0])
    row_of = {name: row for row, name in enumerate(ids.tolist())}
    rows = np.array([[row_of[name] for name in line] for line in names.tolist()])
    np.testing.assert_array_equal(np.take_along_axis(hamming(queries, codes), rows, 1), distances)
    assert all(len(set(line)) == len(line) for line in names.tolist())


@pytest.mark.parametrize("n_bits", [1, 24, 64, 100])
@pytest.mark.parametrize("kind", ["flat", "ivf"])
def test_faiss_finds_what_exact_finds(tmp_path, tied_codes, kind, n_bits):
    codes, queries = tied_codes(900, n_bits)
    ids = np.random.default_rng(0).permutation(900) + 2**62
    write_faiss(tmp_path / "f", codes, n_bits, ids, kind=kind)
    index = faiss.read_index_binary(str(tmp_path / "f"))
    if kind == "ivf":
        lists = faiss.downcast_IndexBinary(index.index)
        assert lists.nlist == 23
        lists.nprobe = lists.nlist
    assert_exact(index.search(queries, 20), queries, codes, ids, n_bits)


def test_the_graph_of_faiss_finds_near_codes_at_their_distances(tmp_path, rng):
    codes = rng.integers(0, 256, (900, 8), dtype=np.uint8)
    ids = rng.permutation(900)
    write_faiss(tmp_path / "f", codes, 64, ids, kind="hnsw", n_links=16)
    index = faiss.read_index_binary(str(tmp_path / "f"))
    faiss.downcast_IndexBinary(index.index).hnsw.efSearch = 900  # all of them
    assert_exact(index.search(codes[:5], 20), codes[:5], codes, ids, 64)


@pytest.mark.parametrize("n_bits", [1, 24, 64, 100])
def test_usearch_finds_what_exact_finds(tmp_path, tied_codes, usearch, n_bits):
    codes, queries = tied_codes(900, n_bits)
    ids = np.random.default_rng(0).permutation(900) + 2**62
    for name in "fg":
        write_usearch(tmp_path / name, codes, n_bits, ids, n_links=12)
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()
    index = usearch.Index.restore(str(tmp_path / "f"))
    assert (len(index), index.connectivity) == (900, 12)
    found = index.search(queries, 20, exact=True)
    assert_exact((found.distances, found.keys), queries, codes, ids, n_bits)


@pytest.mark.parametrize("write", [write_faiss, write_usearch])
def test_bad_input_leaves_the_file_that_was_there(tmp_path, write):
    if write is write_usearch:
        pytest.importorskip("usearch.index")
    codes, path = np.arange(4, dtype=np.uint8)[:, None], tmp_path / "f"
    write(path, codes, 8)
    before = path.read_bytes()
    for given, message in (
        ((codes, 8, ["a", "b", "c", "d"]), "the ids are text, and such files hold whole numbers"),
        ((codes, 8, [1, 1, 2, 3]), "ids must be unique"),
        ((codes, 9), "codes of 9 bits must have 2 bytes a row"),
        ((codes[:0], 8), "there are no codes"),
    ):
        with pytest.raises(ValueError, match=message):
            write(path, *given)
    with pytest.raises(ValueError, match="n_links=1: give an integer of at least 2"):
        write(path, codes, 8, n_links=1)
    assert path.read_bytes() == before
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        write(tmp_path / "none" / "f", codes, 8)
    with pytest.raises(ValueError, match="kind='graph': give one of flat, hnsw, ivf"):
        write_faiss(path, codes, 8, kind="graph")
