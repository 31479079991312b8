"""The contract of an index, for every index; a new index is one new file."""

import doctest
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import structhash.search
from structhash import StructHash
from structhash.cli.commands import app
from structhash.codes import pack
from structhash.io import container as files
from structhash.io import write_npy
from structhash.pieces import classes
from structhash.search import Exact, Index, holds_neighbour, load_index

NO_CODE = 2**31 - 1
TOY = """
import numpy as np

from structhash.codes import check_codes, hamming
from structhash.search.base import Index


class ToyIndex(Index):
    "Plain arrays, with row numbers only."

    def __init__(self, n_bits):
        super().__init__(n_bits)
        self.codes = np.empty((0, -(-n_bits // 8)), dtype=np.uint8)

    def add(self, codes, ids=None):
        if ids is not None:
            raise ValueError("ids: give none")
        self.codes = np.concatenate([self.codes, check_codes(codes, self.n_bits)])

    def search(self, codes, k):
        found = hamming(codes, self.codes)
        ids = np.argsort(found, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(found, ids, 1), ids

    def table(self):
        return self.codes, None
"""


@pytest.fixture
def toy(tmp_path):
    """A new file, seen as if it lay in the folder of indexes."""
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "toy.py").write_text(TOY)
    structhash.search.__path__.append(str(folder))
    importlib.invalidate_caches()
    yield classes("indexes")["toy_index"]
    structhash.search.__path__.remove(str(folder))
    sys.modules.pop("structhash.search.toy", None)
    vars(structhash.search).pop("toy", None)
    importlib.invalidate_caches()


EVERY = pytest.mark.parametrize("piece", classes("indexes").values())


def random_codes(n, n_bits, seed):
    return pack(np.random.default_rng(seed).integers(0, 2, (n, n_bits), dtype=np.uint8))


# every index


def test_the_indexes_of_the_design_are_there():
    assert {"exact", "flat", "hnsw", "ivf", "multi_hash"} <= set(classes("indexes"))


@pytest.mark.parametrize(("name", "piece"), classes("indexes").items())
def test_kinds_follow_the_registry_names(name, piece):
    assert issubclass(piece, Index)
    assert piece.kind == f"index.{name}"


@EVERY
@pytest.mark.parametrize("n_bits", [5, 16])
def test_results_are_ordered_by_distance_and_id(piece, ids_of, n_bits):
    codes, queries = random_codes(30, n_bits, 0), random_codes(4, n_bits, 1)
    given = ids_of(30)
    ids = np.arange(30) if given is None else given
    index = piece(n_bits)
    for part in np.array_split(np.arange(30), 3):
        index.add(codes[part], None if given is None else ids[part])
    assert len(index) == index.ntotal == 30
    assert index.ids.tolist() == sorted(ids)
    differing = np.bitwise_count(queries[:, None] ^ codes[None]).sum(axis=2)
    distances, found = index.search(queries, 33)
    assert (distances.dtype, found.dtype) == (np.int32, ids.dtype)
    lims, within, near = index.radius(queries, 3)
    assert (lims.dtype, within.dtype, near.dtype) == (np.int64, np.int32, ids.dtype)
    for q, row in enumerate(differing):
        pairs = sorted(zip(row.tolist(), ids.tolist()))
        assert (
            list(zip(distances[q].tolist(), found[q].tolist()))
            == pairs + [(NO_CODE, "" if ids.dtype == object else -1)] * 3
        )
        mine = slice(lims[q], lims[q + 1])
        assert list(zip(within[mine].tolist(), near[mine].tolist())) == [pair for pair in pairs if pair[0] <= 3]


@EVERY
@pytest.mark.parametrize("n", [0, 3])
def test_a_saved_index_comes_back(piece, ids_of, n, tmp_path):
    index, queries = piece(12), random_codes(5, 12, 1)
    index.add(random_codes(n, 12, 0), ids_of(n))
    index.source = "a model"
    index.save(tmp_path / "index")
    assert files.header(tmp_path / "index")["kind"] == piece.kind
    for loaded in (piece.load(tmp_path / "index"), load_index(tmp_path / "index")):
        assert (type(loaded), loaded.n_bits, loaded.ntotal, loaded.source) == (piece, 12, n, "a model")
        for mine, theirs in zip(index.search(queries, 4), loaded.search(queries, 4)):
            np.testing.assert_array_equal(mine, theirs)


@EVERY
def test_an_index_is_not_saved_over_a_data_file(piece, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(FileExistsError, match=r"is a \.npy file; give another name"):
        piece(8).save(tmp_path / "x.npy")
    assert len(np.load(tmp_path / "x.npy")) == 3
    piece(8).save(tmp_path / "x.npy", force=True)


@EVERY
def test_an_index_without_weights_says_so(piece):
    assert piece(8).weights is None
    assert piece(8).source is None
    assert repr(piece(8)) == f"{piece.__name__}(n_bits=8, ntotal=0)"


@EVERY
def test_lengths_and_arguments_are_refused(piece):
    queries = np.zeros((1, 1), dtype=np.uint8)
    with pytest.raises(ValueError, match="n_bits must be at least 1"):
        piece(0)
    with pytest.raises(TypeError, match="n_bits must be a whole number"):
        piece(1.5)
    with pytest.raises(ValueError, match="k must be at least 1"):
        piece(8).search(queries, 0)
    with pytest.raises(ValueError, match="the radius must be at least 0"):
        piece(8).radius(queries, -1)
    with pytest.raises(ValueError, match="queries of 8 bits must have 1 bytes"):
        piece(8).search(np.zeros((1, 2), dtype=np.uint8), 1)


# arguments of every index

TO_TEXT = r"convert them to text with astype\(str\)"
CONVERT = r"convert them with astype\(np.int64\)"


@EVERY
@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (["a", 1], TypeError, "ids must be all whole numbers or all text, got 'a' and 1; give one kind"),
        ([1, "a"], TypeError, "ids must be all whole numbers or all text, got 'a' and 1; give one kind"),
        (np.array(["a", 1], dtype=object), TypeError, "all text, got 'a' and 1"),
        (pd.Series(["a", None]), TypeError, "all text, got 'a' and nan"),
        ([b"a", b"b"], TypeError, rf"got \|S1 such as b'a'; {TO_TEXT}"),
        (["a", ""], ValueError, "id '': give text of 1 to 512 bytes in UTF-8, without the character 0"),
        (["a", "a\0"], ValueError, r"id 'a\\x00': give text of 1 to 512 bytes"),
        (["a", 257 * "é"], ValueError, "id 'é.*: give text of 1 to 512 bytes"),
        (["a", "\ud800"], ValueError, r"id '\\ud800' holds half a character; give valid text"),
        (["a", "a"], ValueError, "ids must be unique, but 'a' comes 2 times"),
        ([["a", "b"]], ValueError, r"shape \(2,\), one for each code, got \(1, 2\)"),
        ("ab", ValueError, r"shape \(2,\), one for each code, got \(\)"),
        (pd.Series([3, None]), TypeError, "got nan; give every code an id"),
        (
            pd.to_datetime(["2020-01-01", "2020-01-02"]),
            TypeError,
            f"got datetime64.* such as .*; {TO_TEXT}",
        ),
        (pd.DataFrame({"id": [3, 4]}), ValueError, r"shape \(2,\), one for each code, got \(2, 1\)"),
        ([1.5, 2.5], TypeError, f"got float64 such as 1.5; {TO_TEXT}"),
        ([1.0, 2.0], TypeError, f"got float64 such as 1.0; {CONVERT}"),
        (np.array([1, 2], dtype=object), TypeError, f"got object such as 1; {CONVERT}"),
        ([True, False], TypeError, "got bool; give the ids of a mask"),
        ([None, 1], TypeError, "got None; give every code an id"),
        (np.ma.masked_equal([1, 2], 2), TypeError, "got a masked array; give ids without a mask"),
        ([[1], [2, 3]], ValueError, r"shape \(2,\), one for each code, got \[\[1\], \[2, 3\]\]"),
        ({1, 2}, TypeError, f"got object such as {{1, 2}}; {TO_TEXT}"),
        (5, ValueError, r"shape \(2,\), one for each code, got \(\)"),
    ],
)
def test_ids_that_are_neither_whole_numbers_nor_text_are_refused(piece, ids, error, message):
    index = piece(8)
    with pytest.raises(error, match=message):
        index.add(np.zeros((2, 1), dtype=np.uint8), ids)
    assert index.ntotal == 0


@EVERY
@pytest.mark.parametrize("ids", [pd.Series([7, 3], index=[9, 9]), pd.Series([7, 3], dtype="Int64"), (7, 3)])
def test_whole_numbers_of_any_container_are_ids(piece, ids):
    index = piece(8)
    index.add(np.array([[0], [1]], dtype=np.uint8), ids)
    assert index.search(np.array([[0]], dtype=np.uint8), 2)[1].tolist() == [[7, 3]]


@EVERY
@pytest.mark.parametrize(
    "ids",
    [
        ["é", "b"],
        np.array(["é", "b"]),
        np.array(["é", "b"], dtype=object),
        np.array(["é", "b"], dtype=np.dtypes.StringDType()),
        pd.Series(["é", "b"], index=[9, 9]),
        pd.Series(["é", "b"], dtype="category"),
    ],
)
def test_text_of_any_container_is_ids(piece, ids):
    index = piece(8)
    index.add(np.array([[0], [1]], dtype=np.uint8), ids)
    for found in (index.search(np.array([[0]], dtype=np.uint8), 3)[1][0], index.ids):
        assert found.dtype == object
        assert all(type(each) is str for each in found)
    assert index.search(np.array([[0]], dtype=np.uint8), 3)[1].tolist() == [["é", "b", ""]]
    assert index.ids.tolist() == ["b", "é"]


@EVERY
def test_ids_of_two_kinds_never_meet(piece):
    code = np.zeros((1, 1), dtype=np.uint8)
    numbers, names, running = piece(8), piece(8), piece(8)
    numbers.add(code, [7])
    names.add(code, ["7"])
    running.add(code)
    for index, other, message in (
        (numbers, ["7"], "this index has ids that are whole numbers, got text such as '7'; give whole numbers"),
        (names, [7], "this index has ids that are text, got whole numbers such as 7; give text"),
        (running, ["0"], "whole numbers, got text such as '0'"),
    ):
        calls = {
            index.remove: (other,),
            index.replace: (other, code),
            index.search: (code, 1, other),
            index.radius: (code, 1, other),
        }
        for call, words in calls.items():
            with pytest.raises(TypeError, match=message):
                call(*words)
    for index, other, message in (
        (numbers, ["8"], "are whole numbers, got text such as '8'"),
        (names, [8], "are text, got whole numbers such as 8"),
    ):
        with pytest.raises(TypeError, match=message):
            index.add(code, other)
    for index, other, error, message in (
        (numbers, names, TypeError, "are whole numbers, got text such as '7'"),
        (names, numbers, TypeError, "are text, got whole numbers such as 7"),
        (names, running, ValueError, "this index has ids of its own"),
        (running, names, ValueError, "this index has row numbers"),
    ):
        with pytest.raises(error, match=message):
            index.merge(other)
        assert len(index) == 1


@EVERY
@pytest.mark.parametrize("k", [True, np.True_, 2.0, "2", None, np.array([2])])
def test_a_number_of_neighbours_that_is_no_whole_number_is_refused(piece, k):
    with pytest.raises(TypeError, match="k must be a whole number, got"):
        piece(8).search(np.zeros((1, 1), dtype=np.uint8), k)


@EVERY
def test_more_neighbours_than_codes_need_no_memory(piece):
    index = piece(8)
    index.add(random_codes(3, 8, 0))
    for k in (np.int8(2), np.uint64(2), np.array(2)):
        assert index.search(random_codes(2, 8, 1), k)[1].shape == (2, 2)
    for k in (2**27, 2**63, 10**400):
        with pytest.raises(ValueError, match=r"there are only 3 codes.*give k of at most 3"):
            index.search(random_codes(2, 8, 1), k)


@EVERY
@pytest.mark.filterwarnings("error")
def test_a_radius_is_any_real_number_of_at_least_0(piece):
    index, queries = piece(8), np.zeros((1, 1), dtype=np.uint8)
    index.add(np.array([[0], [1], [255]], dtype=np.uint8))
    for r, found in (
        (0, 1),
        (-0.0, 1),
        (np.float16(1), 2),
        (np.int8(1), 2),
        (1.5, 2),
        (np.inf, 3),
        (10**400, 3),
    ):
        assert index.radius(queries, r)[0].tolist() == [0, found]
    for r in (True, np.True_, "1", None, 1j):
        with pytest.raises(TypeError, match="the radius must be a number, got"):
            index.radius(queries, r)
    for r in (np.nan, np.float32(np.nan), -np.inf, -(10**400)):
        with pytest.raises(ValueError, match="the radius must be at least 0, got"):
            index.radius(queries, r)


def test_the_places_of_a_result_that_hold_a_neighbour(ids_of):
    index, ids = Exact(8), ids_of(3)
    index.add(random_codes(3, 8, 0), ids)
    found = index.search(random_codes(2, 8, 1), 5)[1]
    np.testing.assert_array_equal(holds_neighbour(found), [[True] * 3 + [False] * 2] * 2)
    assert not holds_neighbour(Exact(8).search(random_codes(2, 8, 1), 5)[1]).any()
    assert sorted(found[holds_neighbour(found)][:3]) == sorted(index.ids)
    in_file = found.astype(str) if found.dtype == object else found
    np.testing.assert_array_equal(holds_neighbour(in_file), holds_neighbour(found))
    np.testing.assert_array_equal(holds_neighbour(found.tolist()), holds_neighbour(found))


@pytest.mark.parametrize(
    ("ids", "what"),
    [
        (np.array([3.0, -1.0]), "float64"),
        (np.array([3, -1]).astype(np.uint64), "uint64"),
        (np.array([b"b", b""]), "bytes"),
        (np.array([True, False]), "bool"),
        (np.array([3, -1], dtype=object), "other objects than text"),
        (np.array(["b", None], dtype=object), "other objects than text"),
    ],
)
def test_ids_whose_empty_places_are_not_known(ids, what):
    with pytest.raises(TypeError, match=f"ids hold {what}.*; give ids as a search returns them"):
        holds_neighbour(ids)


# the base class


def test_a_subclass_must_implement_add_search_and_table():
    index, codes = Index(8), np.zeros((1, 1), dtype=np.uint8)
    for call in (lambda: index.add(codes), lambda: index.search(codes, 1), index.table):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(ValueError, match="Index does not take weights"):
        Index(8, np.ones(8))


@pytest.mark.parametrize("weights", [None, np.arange(12) / 4])
def test_the_default_radius_agrees_with_exact(weights):
    index, queries = Exact(12, weights), random_codes(5, 12, 1)
    for _ in range(2):  # empty at first
        for r in (0, 2.25, 4, np.inf):
            for mine, theirs in zip(Index.radius(index, queries, r), index.radius(queries, r)):
                assert mine.dtype == theirs.dtype
                np.testing.assert_array_equal(mine, theirs)
        index.add(random_codes(40, 12, 0))


def test_a_kind_of_its_own_is_kept_and_not_inherited():
    class Named(Index):
        kind = "index.another"

    class NamedAgain(Named):
        pass

    assert (Named.kind, NamedAgain.kind) == ("index.another", "index.named_again")


# files of any kind


def test_load_index_refuses_other_kinds(tmp_path):
    files.save(tmp_path / "file", {}, {}, kind="model")
    with pytest.raises(ValueError, match="it holds 'model', not 'index'; structhash index makes indexes"):
        load_index(tmp_path / "file")
    files.save(tmp_path / "later", {}, {}, kind="index.later")
    with pytest.raises(
        ValueError,
        match=r"it holds 'index\.later', not 'index\.exact' or 'index\.flat' or .*; upgrade structhash",
    ):
        load_index(tmp_path / "later")
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"it is a \.npy file, no index; structhash index makes indexes"):
        load_index(tmp_path / "x.npy")
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_index(tmp_path / "nothing")


# a new file


def test_a_new_file_in_the_folder_is_a_new_index(toy, tmp_path):
    assert toy.kind == "index.toy_index"
    codes = random_codes(9, 8, 0)
    index, exact = toy(8), Exact(8)
    for each in (index, exact):
        each.add(codes)
    index.save(tmp_path / "index")
    loaded = load_index(tmp_path / "index")
    assert type(loaded) is toy
    for mine, theirs in zip(loaded.radius(codes, 2), exact.radius(codes, 2)):
        np.testing.assert_array_equal(mine, theirs)
    files.save(tmp_path / "later", {}, {}, kind="index.later")
    with pytest.raises(ValueError, match=r"not 'index\.exact' or .* or 'index\.toy_index'"):
        load_index(tmp_path / "later")


def test_the_command_line_takes_a_new_index_without_another_edit(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    codes, run = random_codes(9, 8, 0), CliRunner().invoke
    write_npy("codes.npy", codes)
    found = run(app, ["index", "codes.npy", "-o", "new", "--backend", "toy_index", "--json"])
    assert found.exit_code == 0, found.stderr
    expected = {
        "codes": 9,
        "bits": 8,
        "ids": "row numbers",
        "backend": "toy_index",
        "weighted": False,
        "file": "new",
    }
    assert json.loads(found.stdout) == expected
    assert type(load_index("new")) is toy
    found = run(app, ["search", "new", "codes.npy", "-k", "3", "--json"])
    exact = Exact(8)
    exact.add(codes)
    distances, ids = exact.search(codes, 3)
    results = json.loads(found.stdout)["results"]
    assert [each["ids"] for each in results] == ids.tolist()
    assert [each["distances"] for each in results] == distances.tolist()
    assert json.loads(run(app, ["info", "new", "--json"]).stdout)["kind"] == "index.toy_index"
    found = run(app, ["index", "codes.npy", "-o", "other", "--backend", "magic"])
    assert "--backend 'magic': give one of exact, flat, hnsw, ivf, multi_hash, toy_index" in found.stderr


def test_the_command_line_names_the_indexes_that_take_weights(toy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 10)
    X = rng.standard_normal((3, 4))[y] + 0.3 * rng.standard_normal((30, 4))
    model = StructHash(n_bits=4, random_state=0, ranking="auc", schedule="totally_corrective").fit(X, y)
    model.save("model")
    write_npy("codes.npy", model.encode(X))
    words = ["index", "codes.npy", "-o", "new", "--model", "model", "--backend"]
    assert model.search_weights_ is not None
    found = CliRunner().invoke(app, [*words, "toy_index"])
    assert found.exit_code == 2
    assert (
        "model weighs its bits, which toy_index cannot; use --backend exact, flat, ivf, or give --bits"
        in found.stderr
    )
    assert CliRunner().invoke(app, [*words, "exact"]).exit_code == 0
    np.testing.assert_array_equal(load_index("new").weights, model.search_weights_)


def test_the_toy_is_gone_again():
    assert "toy_index" not in classes("indexes")


@pytest.mark.slow
def test_the_page_about_search_runs():
    page = Path(structhash.search.__file__).parents[3] / "docs" / "search.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 10
    assert failed == 0
