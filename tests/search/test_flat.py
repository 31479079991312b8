"""Search by faiss, with the results of `Exact`."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structhash.search._stored as module
from structhash.codes import PreparedQueries, pack, prepare_values
from structhash.search import Exact, Flat, load_index

NO_CODE = 2**31 - 1


@pytest.fixture(autouse=True)
def one_thread():
    """Threads only slow down small searches."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(threads)


def random_codes(n, n_bits, seed):
    return pack(np.random.default_rng(seed).integers(0, 2, (n, n_bits), dtype=np.uint8))


def assert_same(flat, exact, queries, k, r):
    for mine, theirs in zip(flat.search(queries, k), exact.search(queries, k)):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip(flat.radius(queries, r), exact.radius(queries, r)):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def both(n_bits, codes, ids=None):
    indexes = Flat(n_bits), Exact(n_bits)
    for index in indexes:
        for part in np.array_split(np.arange(len(codes)), 2):
            index.add(codes[part], None if ids is None else ids[part])
    return indexes


@settings(deadline=None, max_examples=60)
@given(
    n_bits=st.sampled_from([2, 5, 8, 20, 64]),
    n=st.integers(0, 60),
    k=st.integers(1, 70),
    r=st.one_of(st.integers(0, 70), st.floats(0, 9)),
    own_ids=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_results_are_those_of_exact(n_bits, n, k, r, own_ids, seed):
    ids = np.random.default_rng(seed).permutation(500)[:n] if own_ids else None
    flat, exact = both(n_bits, random_codes(n, n_bits, seed), ids)
    assert len(flat) == flat.ntotal == n
    assert_same(flat, exact, random_codes(4, n_bits, seed + 1), k, r)


def test_ties_at_the_last_rank(ids_of):
    """With 3000 codes of 8 bits every rank lies among ties; with equal codes all ranks are ties."""
    ids = ids_of(3000)
    for codes in (random_codes(3000, 8, 0), np.zeros((3000, 1), dtype=np.uint8)):
        flat, exact = both(8, codes, ids)
        for k in (1, 10, 100, 2999, 3000, 3001):
            assert_same(flat, exact, random_codes(20, 8, 1), k, 2)


def test_blocks_of_queries(monkeypatch):
    monkeypatch.setattr(module, "_QUERIES_AT_ONCE", 3)
    flat, exact = both(8, random_codes(50, 8, 0))
    assert_same(flat, exact, random_codes(10, 8, 1), 5, 1)


def test_empty_index_and_no_queries():
    flat, exact = Flat(12), Exact(12)
    queries = random_codes(2, 12, 0)
    assert_same(flat, exact, queries, 3, 12)
    distances, ids = flat.search(queries, 2)
    assert distances.tolist() == [[NO_CODE, NO_CODE]] * 2
    assert ids.tolist() == [[-1, -1]] * 2
    flat.add(queries)
    exact.add(queries)
    assert_same(flat, exact, queries[:0], 3, 1)
    assert_same(flat, exact, queries, 3, float("inf"))
    distances, ids = flat.search(queries, 4)
    assert (distances[:, 2:] == NO_CODE).all()
    assert (ids[:, 2:] == -1).all()
    assert (ids[:, :2] >= 0).all()
    assert repr(flat) == "Flat(n_bits=12, ntotal=2)"


@pytest.mark.parametrize(
    ("first", "codes", "ids", "error", "message"),
    [
        (None, np.zeros((2, 2), dtype=np.uint8), None, ValueError, "must have 1 bytes a row, got 2"),
        (None, np.full((2, 1), 255, dtype=np.uint8), None, ValueError, "zero pad bits"),
        (None, None, [5, 6], ValueError, "this index has row numbers"),
        ([7, 3], None, None, ValueError, "this index has ids of its own"),
        ([7, 3], None, [1, 7], ValueError, "unique, but 7 is in the index already"),
        ([7, 3], None, [4, -1], ValueError, "from 0 to"),
    ],
)
def test_failed_add_changes_nothing(first, codes, ids, error, message):
    index = Flat(7)
    index.add(np.array([[1], [2]], dtype=np.uint8), first)
    codes = np.zeros((2, 1), dtype=np.uint8) if codes is None else codes
    with pytest.raises(error, match=message):
        index.add(codes, ids)
    assert index.ntotal == 2
    assert index.search(np.array([[1]], dtype=np.uint8), 3)[1].tolist() == [[*(first or [0, 1]), -1]]


def test_weights_are_saved_and_refused_where_faiss_has_none(tmp_path):
    index = Flat(3, [0.5, 1, 2])
    index.add(np.array([[0], [1], [6]], dtype=np.uint8))
    index.save(tmp_path / "index")
    for made in (index, load_index(tmp_path / "index")):
        distances, ids = made.search(np.zeros((1, 1), np.uint8), 3)
        assert (distances.tolist(), ids.tolist()) == ([[0.0, 0.5, 3.0]], [[0, 1, 2]])
    for refused in (index.to_faiss, lambda: index.write_faiss(tmp_path / "faiss")):
        with pytest.raises(ValueError, match="a binary index of faiss has no weights; save this index by save"):
            refused()
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["bits", "weights", "values", "tables"])
def test_threads_give_what_one_thread_gives(form):
    rng, codes, queries = np.random.default_rng(0), random_codes(100_000, 16, 1), random_codes(40, 16, 2)
    flat, exact = (each(16, rng.random(16) if form == "weights" else None) for each in (Flat, Exact))
    if form == "weights":
        exact.weights = flat.weights
    if form == "values":
        queries = prepare_values(rng.normal(size=(40, 16)))
    if form == "tables":
        queries = PreparedQueries(16, np.zeros(40), rng.integers(0, 9, (40, 2, 256)))
    for index in (flat, exact):
        index.add(codes)
    for threads in (2, 3):
        faiss.omp_set_num_threads(threads)
        for k in (1, 100, 60_000):
            assert_same(flat, exact, queries[:5], k, 0)
        assert_same(flat, exact, queries, 10, 0)


def test_ids_and_table_ascend():
    codes = random_codes(3, 8, 0)
    index = Flat(8)
    index.add(codes, [9, 4, 6])
    assert index.ids.tolist() == [4, 6, 9]
    np.testing.assert_array_equal(index.table()[0], codes[[1, 2, 0]])
    index = Flat(8)
    index.add(codes)
    assert index.table()[1] is None
    assert index.ids.tolist() == [0, 1, 2]


def test_arguments_refused():
    index, queries = Flat(8), np.zeros((1, 1), dtype=np.uint8)
    with pytest.raises(ValueError, match="n_bits must be at least 1"):
        Flat(0)
    with pytest.raises(ValueError, match="k must be at least 1"):
        index.search(queries, 0)
    with pytest.raises(ValueError, match="the radius must be at least 0"):
        index.radius(queries, -1)
    with pytest.raises(ValueError, match="queries of 8 bits must have 1 bytes"):
        index.search(np.zeros((1, 2), dtype=np.uint8), 1)
    with pytest.raises(TypeError, match="queries must be packed bytes"):
        index.radius(np.zeros((1, 1)), 1)


@pytest.mark.parametrize("ids", [None, [9, 4, 6]])
@pytest.mark.parametrize("n", [0, 3])
def test_files(tmp_path, ids, n):
    codes = random_codes(3, 12, 0)
    index = Flat(12)
    index.add(codes[:n], ids if ids is None else ids[:n])
    index.save(tmp_path / "index")
    index.write_faiss(tmp_path / "index.faiss")
    for loaded in (
        Flat.load(tmp_path / "index"),
        load_index(tmp_path / "index"),
        Flat.read_faiss(tmp_path / "index.faiss", n_bits=12),
        Flat.from_faiss(faiss.read_index_binary(str(tmp_path / "index.faiss")), n_bits=12),
    ):
        assert (type(loaded), loaded.n_bits, loaded.ntotal) == (Flat, 12, n)
        assert_same(loaded, index, codes, 4, 5)
        loaded.add(codes, None if ids is None else [1, 2, 3])
        assert loaded.ntotal == n + 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "index.faiss"]


@pytest.mark.parametrize(("ids", "kind"), [(None, faiss.IndexBinaryFlat), ([5, 3, 2], faiss.IndexBinaryIDMap2)])
def test_a_faiss_index_is_a_copy(ids, kind):
    codes, index = random_codes(3, 8, 0), Flat(8)
    index.add(codes, ids)
    made = index.to_faiss()
    assert type(made) is kind
    again = Flat.from_faiss(made)
    assert_same(again, index, codes, 4, 3)
    made.reset()
    assert (index.ntotal, again.ntotal) == (3, 3)
    assert_same(again, index, codes, 4, 3)


def test_from_faiss_refuses():
    with pytest.raises(TypeError, match="need a flat binary faiss index, got IndexFlat"):
        Flat.from_faiss(faiss.IndexFlatL2(8))
    hnsw = faiss.IndexBinaryHNSW(8, 4)
    with pytest.raises(TypeError, match="need a flat binary faiss index, got IndexBinaryHNSW"):
        Flat.from_faiss(faiss.IndexBinaryIDMap2(hnsw))
    flat = faiss.IndexBinaryFlat(16)
    flat.add(np.array([[1, 255]], dtype=np.uint8))
    with pytest.raises(ValueError, match="has 16 bits, which do not hold codes of 8 bits"):
        Flat.from_faiss(flat, n_bits=8)
    with pytest.raises(ValueError, match="zero pad bits"):
        Flat.from_faiss(flat, n_bits=12)
    mapped = faiss.IndexBinaryIDMap(faiss.IndexBinaryFlat(8))
    mapped.add_with_ids(np.zeros((2, 1), dtype=np.uint8), np.array([5, 5]))
    with pytest.raises(ValueError, match="unique, but 5 comes 2 times"):
        Flat.from_faiss(mapped)


def test_read_faiss_refuses(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        Flat.read_faiss(tmp_path / "nothing")
    with pytest.raises(ValueError, match="it is not a file"):
        Flat.read_faiss(tmp_path)


OTHER_INDEXES = [
    faiss.IndexBinaryHNSW(8, 4),
    faiss.IndexBinaryIDMap2(faiss.IndexBinaryHNSW(8, 4)),
    faiss.IndexBinaryIVF(faiss.IndexBinaryFlat(8), 8, 2),
    faiss.IndexBinaryHash(8, 4),
    faiss.IndexFlatL2(8),
    faiss.IndexIVFFlat(faiss.IndexFlatL2(8), 8, 2),
]


@pytest.mark.parametrize("index", OTHER_INDEXES, ids=lambda index: type(index).__name__)
def test_files_of_other_faiss_indexes_are_refused(index, tmp_path):
    binary = isinstance(index, faiss.IndexBinary)
    (faiss.write_index_binary if binary else faiss.write_index)(index, str(tmp_path / "other"))
    message = (
        r"cannot read .*other: it is not a faiss file of a flat binary index; read it with faiss, or index"
    )
    with pytest.raises(ValueError, match=message):
        Flat.read_faiss(tmp_path / "other")


@pytest.mark.parametrize("kind", [None, faiss.IndexBinaryIDMap, faiss.IndexBinaryIDMap2])
@pytest.mark.parametrize("n", [0, 1, 300])
@pytest.mark.parametrize("n_bits", [8, 64, 136])
def test_files_that_faiss_wrote_open(kind, n, n_bits, tmp_path):
    codes, ids = random_codes(n, n_bits, 0), np.random.default_rng(1).permutation(2**40 + np.arange(n))
    index = faiss.IndexBinaryFlat(n_bits)
    if kind is None:
        index.add(codes)
    else:
        flat, index = index, kind(index)  # faiss does not keep `flat` alive
        index.add_with_ids(codes, ids)
        assert flat.ntotal == n
    faiss.write_index_binary(index, str(tmp_path / "index.faiss"))
    opened = Flat.read_faiss(tmp_path / "index.faiss")
    order = np.arange(n) if kind is None else np.argsort(ids)
    np.testing.assert_array_equal(opened.table()[0], codes[order])
    np.testing.assert_array_equal(opened.ids, np.arange(n) if kind is None else ids[order])


def test_files_of_faiss_replace_each_other_and_no_index_of_ours(tmp_path):
    index, path = Flat(16), tmp_path / "index"
    index.save(path)
    with pytest.raises(
        FileExistsError, match=r"index: .* of kind 'index\.flat'; give another name, or delete it$"
    ):
        index.write_faiss(path)
    assert len(Flat.load(path)) == 0
    path.write_bytes(b"of another program")
    index.write_faiss(path)
    index.add(random_codes(3, 16, 0))
    index.write_faiss(path)
    assert len(Flat.read_faiss(path)) == 3


def test_threads_read_files_while_another_uses_faiss(tmp_path):
    """Small files and a large one open at once, and the limit of faiss on what it reads does not move."""
    limit = faiss.get_deserialization_vector_byte_limit()
    small, large, codes = tmp_path / "small", tmp_path / "large", random_codes(200_000, 64, 0)
    for path, n in ((small, 3), (large, len(codes))):
        index = Flat(64)
        index.add(codes[:n])
        index.write_faiss(path)

    def read_by_flat(number):
        for _ in range(40):
            assert Flat.read_faiss(small).ntotal == 3
            assert faiss.get_deserialization_vector_byte_limit() == limit
        return Flat.read_faiss(large).ntotal

    def read_by_faiss(number):
        return {faiss.read_index_binary(str(large)).ntotal for _ in range(40)}

    with ThreadPoolExecutor(8) as pool:
        mine, theirs = pool.map(read_by_flat, range(6)), pool.map(read_by_faiss, range(2))
        assert list(mine) == [200_000] * 6
        assert list(theirs) == [{200_000}] * 2


def test_faiss_has_no_text_ids(tmp_path):
    index = Flat(16)
    index.add(random_codes(1, 16, 0), ["a"])
    with pytest.raises(ValueError, match="ids of a faiss index are whole numbers, those of this one are text"):
        index.write_faiss(tmp_path / "i")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ids", [None, [9, 4, 6]])
def test_damaged_faiss_files_open_or_say_why(tmp_path, ids):
    index = Flat(16)
    index.add(random_codes(3, 16, 0), ids)
    path = tmp_path / "index.faiss"
    index.write_faiss(path)
    content = path.read_bytes()
    end = len(content) if ids is None else len(content) - 32  # the ids and their number
    values = {*range(end - 6, end), *range(end + 8, len(content))}  # there is no checksum over them
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"cannot read .*index\.faiss: it is"):
            Flat.read_faiss(path)
    for place in range(8 * len(content)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        try:
            opened = Flat.read_faiss(path)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017
        else:
            assert (opened.n_bits, opened.ntotal) == (16, 3)
            if place // 8 not in values:
                np.testing.assert_array_equal(opened.table()[0], index.table()[0])
                np.testing.assert_array_equal(opened.ids, index.ids)


WITHOUT_FAISS = """
import sys
sys.modules["faiss"] = None
import numpy as np
import structhash, structhash.search.flat
from structhash.pieces import classes
from structhash.search import Exact, Flat, load_index
from structhash.search._kept import Kept
assert {"exact", "flat"} <= set(classes("indexes"))
index = Exact(8)
index.add(np.zeros((1, 1), dtype=np.uint8))
assert index.search(np.zeros((1, 1), dtype=np.uint8), 1)[1].tolist() == [[0]]
for make in (lambda: Flat(8), lambda: load_index(sys.argv[1])):
    try:
        make()
    except ImportError as error:
        print(error)
"""


def test_everything_but_flat_works_without_faiss(tmp_path):
    Flat(8).save(tmp_path / "index")
    words = [sys.executable, "-c", WITHOUT_FAISS, str(tmp_path / "index")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    message = "Flat needs faiss, which is not installed; pip install structhash[faiss]"
    assert done.stdout.splitlines() == [message, message]


def test_faiss_is_imported_when_an_index_is_made():
    lines = """
import sys
import structhash.search.flat
from structhash.pieces import classes
classes("indexes")
assert "faiss" not in sys.modules
structhash.search.flat.Flat(8)
assert "faiss" in sys.modules
"""
    subprocess.run([sys.executable, "-c", lines], check=True)
