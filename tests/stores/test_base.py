"""The contract of a store, for every store: the results of Exact, all or nothing, right messages."""

import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from structhash.codes import Decoder, PreparedQueries, pack, prepare_values
from structhash.pieces import snake
from structhash.search import Exact
from structhash.stores import SQLite, StoreInfo

ODD_NAMES = ["codes", 'a"b; DROP TABLE codes --', "50%s", "Größe {x} ?", "select", "it's"]


def numbers(n):
    return np.random.default_rng(2).permutation(3 * n)[:n]


def text(n):
    """Text whose order is not that of UTF-16, of a language or of Unicode normal forms."""
    letters, rng = (
        ["a", "B", "é", "e\u0301", "\uffff", "\U0001f600", "'", "\\", "\t", "\n", "%s", "_"],
        np.random.default_rng(2),
    )
    return np.array([f"{''.join(rng.choice(letters, 3))}{i}" for i in range(n)], dtype=object)


def exact(codes, n_bits, ids=None):
    index = Exact(n_bits)
    index.add(codes, ids)
    return index


def assert_same(found, expected):
    for each, other in zip(found, expected, strict=True):
        assert each.dtype == other.dtype
        np.testing.assert_array_equal(each, other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_bits", "ids_of"), [(24, text), (64, numbers), (100, lambda n: None), (128, text)]
)  # the next test has all pairs, of fewer codes
def test_results_are_those_of_exact_for_100_000_codes_with_ties(make_store, tied_codes, n_bits, ids_of):
    codes, queries = tied_codes(100_000, n_bits)
    store, ids = make_store(), ids_of(len(codes))
    index = exact(codes, n_bits, ids)
    store.export(codes, n_bits, ids)
    assert_same(store.search(queries, 100), index.search(queries, 100))
    real = prepare_values(np.random.default_rng(1).standard_normal((3, n_bits)))
    assert_same(store.search(real, 100), index.search(real, 100))


@pytest.mark.parametrize("ids_of", [lambda n: None, numbers, text], ids=["running", "numbers", "text"])
@pytest.mark.parametrize("n_bits", [1, 24, 64, 100, 257])
def test_results_are_those_of_exact(make_store, tied_codes, n_bits, ids_of):
    codes, queries = tied_codes(150, n_bits)
    store, ids = make_store(), ids_of(150)
    index = exact(codes, n_bits, ids)
    store.export(codes, n_bits, ids, source="abc")
    assert store.info() == StoreInfo(n_bits, 150, "text" if ids_of is text else "numbers", "abc")
    real = prepare_values(np.random.default_rng(1).standard_normal((3, n_bits)))
    for k in (1, 7, 150, 160):
        assert_same(store.search(queries, k), index.search(queries, k))
    for asked in (queries[:0], real, real[:0]):
        assert_same(store.search(asked, 7), index.search(asked, 7))
    gone = index.ids[::3]
    store.remove(gone)
    index.remove(gone)
    assert store.info().ntotal == 100
    assert_same(store.search(queries, 101), index.search(queries, 101))


@pytest.mark.parametrize("n_bits", [24, 100])
def test_sums_that_depend_on_their_order_are_those_of_exact(make_store, n_bits):
    """A distance of 0 is such a sum, where the values of a query are large and tiny together."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (300, n_bits), dtype=np.uint8)
    sizes = np.abs(rng.standard_normal((20, n_bits))) * 10.0 ** (-12 * rng.random((20, n_bits)))
    real, codes = prepare_values(sizes * (2.0 * bits[:20] - 1)), pack(bits)
    store = make_store()
    store.export(codes, n_bits)
    found = store.search(real, 20)
    assert_same(found, exact(codes, n_bits).search(real, 20))
    assert found[0][:, 0].any()


@pytest.mark.parametrize("table", ODD_NAMES)
def test_any_name_is_a_name_and_tables_are_apart(make_store, tied_codes, table):
    (codes, queries), (others, _) = tied_codes(60, 24), tied_codes(40, 24)
    store, other = make_store(table=table), make_store(table="others")
    store.export(codes, 24, text(60), source="it's 100%s")
    other.export(others, 24)
    assert_same(store.search(queries, 9), exact(codes, 24, text(60)).search(queries, 9))
    assert_same(other.search(queries, 9), exact(others, 24).search(queries, 9))
    assert store.info().source == "it's 100%s"


def test_an_empty_table_has_no_neighbours(make_store, tied_codes):
    codes, queries = tied_codes(3, 24)
    store = make_store()
    store.export(codes[:0], 24)
    assert store.info() == StoreInfo(24, 0, "numbers", None)
    assert_same(store.search(queries, 2), Exact(24).search(queries, 2))


def test_a_table_is_replaced_only_when_that_is_asked_for(make_store, tied_codes):
    (codes, queries), (others, wide) = tied_codes(60, 24), tied_codes(50, 100)
    store = make_store()
    store.export(codes, 24)
    with pytest.raises(ValueError, match=r"'codes' is there already; give another .*, or replace=True"):
        store.export(others, 100)
    assert_same(store.search(queries, 9), exact(codes, 24).search(queries, 9))
    store.export(others, 100, replace=True)
    assert_same(store.search(wide, 9), exact(others, 100).search(wide, 9))


@pytest.mark.parametrize("ids_of", [numbers, text])
def test_codes_are_appended(make_store, tied_codes, ids_of):
    (codes, queries), store, ids = tied_codes(150, 100), make_store(), ids_of(150)
    index = exact(codes, 100, ids)
    real = prepare_values(np.random.default_rng(1).standard_normal((3, 100)))
    store.export(codes[:60], 100, ids[:60], source="abc")
    store.append(codes[60:61], 100, ids[60:61], source="abc")
    store.append(codes[61:], 100, ids[61:], source="abc")
    store.append(codes[:0], 100, [], source="abc")
    assert store.info() == StoreInfo(100, 150, "text" if ids_of is text else "numbers", "abc")
    for asked in (queries, real):
        assert_same(store.search(asked, 160), index.search(asked, 160))
    store.remove(ids[:60])
    store.append(codes[:60], 100, ids[:60], source="abc")
    assert_same(store.search(queries, 160), index.search(queries, 160))


def test_what_may_not_be_appended_changes_nothing(make_store, tied_codes):
    (codes, queries), store, spelled = tied_codes(60, 24), make_store(), make_store(table="spelled")
    with pytest.raises(ValueError, match="no table 'codes'; export codes first"):
        store.append(codes, 24, numbers(60))
    store.export(codes[:50], 24, numbers(60)[:50], source="abc")
    spelled.export(codes[:3], 24, ["b", "ä", "c"])
    for ids, n_bits, source, wrong, match in (
        (numbers(60)[::-1], 24, "abc", ValueError, f"id {min(numbers(60)[:50])} is in the store already"),
        ([9000, numbers(60)[49]], 24, "abc", ValueError, f"id {numbers(60)[49]} is in the store already"),
        (["a"], 24, "abc", TypeError, "ids that are numbers, got text; give numbers"),
        (None, 24, "abc", TypeError, "ids must be whole numbers or text, got None; give the ids"),
        ([9000], 23, "abc", ValueError, "table has codes of 24 bits, got 23; give codes of one length"),
        ([9000], 24, "b", ValueError, "codes of model abc, got codes of model b; give codes of one model"),
        ([9000], 24, None, ValueError, "got codes of an unnamed model; .* and name it"),
    ):
        added = codes[: 1 if ids is None else len(ids)] & (0xFF if n_bits == 24 else 1)
        with pytest.raises(wrong, match=match):
            store.append(added, n_bits, ids, source=source)
    with pytest.raises(ValueError, match="codes of an unnamed model, got codes of model b"):
        spelled.append(codes[:1], 24, ["x"], source="b")
    with pytest.raises(ValueError, match="id 'c' is in the store already, and so no code was added"):
        spelled.append(codes[:4], 24, ["z", "ä", "a", "c"])
    assert_same(store.search(queries, 60), exact(codes[:50], 24, numbers(60)[:50]).search(queries, 60))
    assert_same(spelled.search(queries, 9), exact(codes[:3], 24, ["b", "ä", "c"]).search(queries, 9))


def test_writers_that_append_wait_for_each_other(make_store, tied_codes):
    (codes, queries), store = tied_codes(600, 24), make_store()
    store.export(codes[:0], 24)
    parts = [np.arange(600).reshape(-1, 50)[i // 2] for i in range(24)]  # each part twice

    def append(rows):
        try:
            store.append(codes[rows], 24, rows)
        except ValueError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(append, parts))
    for part, pair in zip(parts[::2], zip(said[::2], said[1::2])):
        message = f"id {part[0]} is in the store already, and so no code was added; give new ids"
        assert sorted(pair) == ["", message]
    assert_same(store.search(queries, 600), exact(codes, 24).search(queries, 600))


KILLED = """
import os, signal, sys
import numpy as np
from structhash.pieces import classes

Store = classes("stores")[sys.argv[1]]
add = Store._add

def add_and_die(self, *given):
    add(self, *given)
    os.kill(os.getpid(), signal.SIGKILL)

Store._add = add_and_die
store, codes = Store(sys.argv[2]), np.zeros((300_000, 8), np.uint8)
if sys.argv[3] == "append":
    store.append(codes, 64, np.arange(70, 300_070))
else:
    store.export(codes, 64, replace=True)
"""


@pytest.fixture
def die(in_a_process):
    """A function of (store, "export" or "append"): a process writes 300,000 codes, and dies before it ends."""

    def run(store, how):
        assert in_a_process(KILLED, snake(type(store).__name__), store.place, how) == -signal.SIGKILL

    return run


@pytest.mark.slow
@pytest.mark.parametrize("before", [False, True])
def test_an_export_that_is_killed_leaves_what_was_there(make_store, tied_codes, die, before):
    codes, queries = tied_codes(70, 64)
    store = make_store()
    if before:
        store.export(codes, 64)
    die(store, "export")
    if before:
        assert_same(store.search(queries, 9), exact(codes, 64).search(queries, 9))
    else:
        with pytest.raises((ValueError, OSError), match="export codes first"):
            store.info()
    store.export(codes, 64, replace=True)
    assert_same(store.search(queries, 9), exact(codes, 64).search(queries, 9))


@pytest.mark.slow
def test_an_append_that_is_killed_adds_nothing(make_store, tied_codes, die):
    (codes, queries), store = tied_codes(90, 64), make_store()
    store.export(codes[:70], 64)
    die(store, "append")
    assert_same(store.search(queries, 9), exact(codes[:70], 64).search(queries, 9))
    assert store.info().ntotal == 70
    store.append(codes[70:], 64, np.arange(70, 90))
    assert_same(store.search(queries, 90), exact(codes, 64).search(queries, 90))


def test_bad_input_changes_nothing(make_store, tied_codes):
    codes, queries = tied_codes(60, 24)
    store = make_store()
    with pytest.raises(
        (ValueError, FileNotFoundError), match=r"no table 'codes'; export codes first|no such file"
    ):
        store.search(queries, 1)
    with pytest.raises(TypeError, match=r"source=5: give the text of HashEncoder.fingerprint\(\), or None"):
        store.export(codes, 24, source=5)
    with pytest.raises(ValueError, match="ids must be unique, but 1 comes 60 times"):
        store.export(codes, 24, np.ones(60, int))
    with pytest.raises(ValueError, match="codes"):
        store.export(codes, 64)
    store.export(codes, 24)
    for ids, wrong, match in (
        ([3, 99], ValueError, "id 99 is not in the store"),
        (["3"], TypeError, "ids that are numbers, got text"),
        ([3, 3], ValueError, "unique"),
        (None, TypeError, "got None"),
        ([[3]], ValueError, "shape"),
    ):
        with pytest.raises(wrong, match=match):
            store.remove(ids)
    store.remove([])
    assert store.info().ntotal == 60
    with pytest.raises(ValueError, match="queries"):
        store.search(tied_codes(3, 64)[1], 1)
    with pytest.raises(ValueError, match="prepared for 64 bits"):
        store.search(prepare_values(np.ones((1, 64))), 1)
    for k, wrong in ((0, ValueError), (1.5, TypeError), (10**9, ValueError)):
        with pytest.raises(wrong, match="k"):
            store.search(queries, k)


def test_tables_of_numbers_are_read_right_or_refused(make_store, tied_codes):
    store = make_store()
    store.export(tied_codes(60, 24)[0], 24)
    tables = PreparedQueries(24, [0.0], np.random.default_rng(0).random((1, 3, 256)))
    assert_same(store.search(tables, 9), exact(tied_codes(60, 24)[0], 24).search(tables, 9))
    store.append(tied_codes(90, 24)[0][60:], 24, np.arange(60, 90))
    both = np.concatenate([tied_codes(60, 24)[0], tied_codes(90, 24)[0][60:]])
    assert_same(store.search(tables, 90), exact(both, 24).search(tables, 90))
    decoder = Decoder(24, np.zeros(2, np.float32), np.random.default_rng(1).random((3, 256, 2), np.float32))
    decoded = PreparedQueries(24, tables.base, tables.values, decoder)
    if isinstance(store, SQLite):
        assert_same(store.search(decoded, 90), exact(both, 24).search(decoded, 90))
        return
    with pytest.raises(ValueError, match=r"got a decoder; give prepare_queries\(Q, reader='real'\)"):
        store.search(decoded, 1)


@pytest.mark.parametrize("n_bits", [5, 20, 100])
def test_a_last_byte_that_is_not_full_has_its_place_in_a_table(make_store, tied_codes, n_bits):
    codes, _ = tied_codes(200, n_bits)
    values = np.random.default_rng(0).normal(size=(3, codes.shape[1], 256))
    tables = PreparedQueries(n_bits, [0.0, -1.0, 2.5], values)
    store = make_store()
    store.export(codes, n_bits)
    assert_same(store.search(tables, 50), exact(codes, n_bits).search(tables, 50))


def test_the_place_is_not_shown(make_store):
    store = make_store()
    assert store.place not in repr(store)


@pytest.mark.parametrize("words", [{"table": ""}, {"table": "a\0b"}, {"table": 3}])
def test_what_is_no_name_is_refused(make_store, words):
    with pytest.raises(ValueError, match=r"table=.*: give text"):
        make_store(**words)
