"""``structhash search``."""

import os
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from structhash import DistilHash, fit_reader, load_model
from structhash.io import save_codes
from structhash.search import Exact, Rescored, load_index

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


@pytest.mark.parametrize("name", ["m", "w"])
def test_answers_are_those_of_the_library(machine, here, name):
    model = load_model(name)
    index = Exact(model.n_bits_, model.search_weights_)
    index.add(model.encode(X[200:500]))
    distances, ids = index.search(model.encode_queries(X[:2]), 4)
    found = machine("search", f"{name}.index", "judged.npz", "--model", name, "-k", 4)
    assert found["bits"] == model.n_bits_
    assert found["k"] == 4
    assert [each["ids"] for each in found["results"]] == ids.tolist()
    assert [each["distances"] for each in found["results"]] == distances.tolist()
    assert (index.weights is None) == (name == "m")


def test_the_nearest_in_a_file(done, here, tmp_path):
    text = done("search", "m.index", "m.codes", "-k", 2, "-o", tmp_path / "o.npz")
    assert "... and 297 more queries" in text
    assert f"wrote 300 queries to {tmp_path / 'o.npz'}" in text
    with np.load(tmp_path / "o.npz") as found:
        expected = load_index("m.index").search(np.load("m.npy"), 2)
        np.testing.assert_array_equal([found["distances"], found["ids"]], expected)


def test_all_within_a_radius(machine, done, here, tmp_path):
    lims, distances, ids = load_index("m.index").radius(np.load("m.npy"), 1)
    document = machine("search", "m.index", "m.codes", "--radius", 1, "-o", tmp_path / "o.npz")
    assert (document["radius"], "k" in document) == (1, False)
    assert [len(each["ids"]) for each in document["results"]] == np.diff(lims).tolist()
    with np.load(tmp_path / "o.npz") as found:
        for got, expected in zip(found.values(), (lims, distances, ids), strict=True):
            np.testing.assert_array_equal(got, expected)
    lines = done("search", "m.index", "m.codes", "--radius", 1).splitlines()  # no terminal: all of them
    rows = [(q, r + 1) for q, n in enumerate(np.diff(lims).tolist()) for r in range(n)]
    expected = [(*row, i, d) for row, i, d in zip(rows, ids.tolist(), distances.tolist(), strict=True)]
    assert [tuple(map(int, line.split())) for line in lines[1:]] == expected
    assert os.listdir(tmp_path) == ["o.npz"]


def test_more_neighbours_than_codes(machine, done, here, tmp_path):
    np.save(tmp_path / "two.npy", np.load("m.npy")[:2])
    done("index", tmp_path / "two.npy", "-o", tmp_path / "i")
    found = machine("search", tmp_path / "i", tmp_path / "two.npy")
    assert [sorted(each["ids"]) for each in found["results"]] == [[0, 1], [0, 1]]
    found = machine("search", "w.index", "judged.npz", "--model", "w", "-k", 10**11)
    assert len(found["results"][0]["ids"]) == 300


def test_a_prefix_index_with_ids_is_searched_by_the_whole_model(machine, done, here, tmp_path):
    codes, out = tmp_path / "c.codes", tmp_path / "i"
    done("encode", "w", "x.npy", "-o", codes, "--bits", 5)
    done("index", codes, "-o", out, "--model", "w", "--bits", 5)
    assert len(machine("search", out, "judged.npz", "--model", "w")["results"]) == 2
    done("index", codes, "-o", out, "--bits", 5, "--ids", "ids.npy", "--backend", "flat", "--model", "w")
    assert machine("search", out, codes, "-k", 1)["results"][0]["ids"][0] % 10 == 0


UNNAMED = "does not say which model made its codes: that it is the model of"


def test_only_one_that_names_its_model_is_warned_of(run, done, here, tmp_path):
    done("index", "m.npy", "-o", tmp_path / "i")
    asked = {
        (tmp_path / "i", "x.npy", "--model", "m"): f"{tmp_path / 'i'} {UNNAMED} m",
        (tmp_path / "i", "m.codes"): f"{tmp_path / 'i'} {UNNAMED} m.codes",
        ("m.index", "m.npy"): f"m.npy {UNNAMED} m.index",
    }
    for words, text in asked.items():
        result = run("search", *words, "--json")
        assert result.exit_code == 0
        assert result.stderr == f"warning: {text} is not checked, and results are wrong otherwise\n"
    assert run("search", tmp_path / "i", "m.npy").stderr == ""  # neither is said to be of any model


def test_a_longer_model_than_an_index_that_names_none_is_warned_of(run, done, here, tmp_path):
    index = tmp_path / "i"
    done("index", "short.npy", "-o", index, "--bits", 8)
    lines = run("search", index, "x.npy", "--model", "w").stderr.splitlines()
    assert lines[0].startswith(f"warning: {index} {UNNAMED} w is not checked")
    assert lines[1:] == [f"warning: {index} holds codes of 8 bits, w makes 12: only the first 8 are used"]
    done("encode", "m", "x.npy", "-o", tmp_path / "c", "--bits", 9)
    done("index", tmp_path / "c", "-o", index)  # of a known model: a prefix is as good as any code
    assert run("search", index, "x.npy", "--model", "m").stderr == ""


def test_codes_of_rows_as_queries_are_warned_of_where_they_differ(run, done, here, tmp_path):
    codes, about = tmp_path / "c", {"n_rows": 300, "n_bits": 16, "source": load_model("m").fingerprint()}
    save_codes(codes, [np.load("m.npy")], **about, coded_as="rows", queries_differ=True)
    assert run("search", "m.index", codes).stderr == (
        f"warning: {codes} holds codes of rows, and its model codes queries differently: unless you look for "
        "near duplicates, encode queries with --queries\n"
    )
    for coded_as, differ in (("queries", True), ("rows", False)):
        save_codes(codes, [np.load("m.npy")], **about, coded_as=coded_as, queries_differ=differ)
        done("search", "m.index", codes)


def test_blocks_of_queries_give_the_answers_of_one_call(done, here, tmp_path, monkeypatch):
    monkeypatch.setattr("structhash.cli.search._QUERIES_AT_ONCE", 7)
    queries = np.load("m.npy")
    nearest, within = load_index("m.index").search(queries, 3), load_index("m.index").radius(queries, 1)
    for option, expected in ({("-k", 3): nearest, ("--radius", 1): within}).items():
        done("search", "m.index", "m.codes", *option, "-o", tmp_path / "o.npz")
        with np.load(tmp_path / "o.npz") as found:
            for got, wanted in zip(found.values(), expected, strict=True):
                np.testing.assert_array_equal(got, wanted)
                assert got.dtype == wanted.dtype


def test_no_query_has_no_answer(machine, here, tmp_path):
    save_codes(tmp_path / "c", [], 0, 16, load_model("m").fingerprint())
    for option in (("-k", 2), ("--radius", 1)):
        assert machine("search", "m.index", tmp_path / "c", *option)["results"] == []


def test_many_vectors_have_the_codes_of_one_call(done, here, tmp_path, monkeypatch):
    monkeypatch.setattr("structhash.cli.encode.ROWS_AT_ONCE", 1024)
    queries = np.tile(X, (2, 1))
    np.save(tmp_path / "q.npy", queries)
    done("search", "w.index", tmp_path / "q.npy", "--model", "w", "-k", 2, "-o", tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as found:
        expected = load_index("w.index").search(load_model("w").encode_queries(queries), 2)
        np.testing.assert_array_equal(found["ids"], expected[1])


def test_an_index_of_longer_codes_than_the_model_makes_is_refused(run, done, here, tmp_path):
    done("index", "m.npy", "-o", tmp_path / "i")
    result = run("search", tmp_path / "i", "x.npy", "--model", "w")
    assert result.exit_code == 2
    assert "i holds codes of 16 bits, w makes 12; give the model that made the codes" in result.stderr


@pytest.mark.parametrize("reader", ["real", "auto", "bits", "file"])
def test_queries_are_read_as_asked(machine, done, here, tmp_path, reader):
    DistilHash(12, random_state=0).fit(X[:200]).save(tmp_path / "m")
    done("encode", tmp_path / "m", "x.npy", "-o", tmp_path / "c")
    done("index", tmp_path / "c", "-o", tmp_path / "i")
    model, index = load_model(tmp_path / "m"), load_index(tmp_path / "i")
    fitted = fit_reader(model, X[:200], reader="tables")
    fitted.save(tmp_path / "file")
    asked = fitted.prepare(X[:2]) if reader == "file" else model.prepare_queries(X[:2], reader=reader)
    words = tmp_path / "i", "judged.npz", "--model", tmp_path / "m"
    word = tmp_path / "file" if reader == "file" else reader
    found = machine("search", *words, "-k", 4, "--reader", word)["results"]
    distances, ids = index.search(asked, 4)
    assert [each["ids"] for each in found] == ids.tolist()
    assert [each["distances"] for each in found] == distances.tolist()
    lims, _, ids = index.radius(asked, 2.0)
    found = machine("search", *words, "--radius", 2, "--reader", word)["results"]
    assert [each["ids"] for each in found] == [ids[a:b].tolist() for a, b in pairwise(lims)]
    facts = machine("info", tmp_path / "file")
    assert (facts["kind"], facts["reader"], facts["bits"]) == ("reader", "tables", 12)
    assert (facts["bytes"], facts["model"]) == (fitted.nbytes, model.fingerprint())
    assert machine("info", tmp_path / "m")["reader"] == "real"


def test_a_search_among_some_codes(machine, here, tmp_path):
    mask = np.arange(300) % 3 == 0
    np.save(tmp_path / "mask.npy", mask)
    np.save(tmp_path / "some.npy", np.flatnonzero(mask))
    expected = load_index("m.index").search(np.load("m.npy"), 3, among=mask)[1]
    for name in ("mask.npy", "some.npy"):
        found = machine("search", "m.index", "m.codes", "-k", 3, "--among", tmp_path / name)
        assert [each["ids"] for each in found["results"]] == expected.tolist()
    assert (expected % 3 == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["bits", "real"])
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("metric", [None, "euclidean"])
def test_vectors_order_the_nearest_codes(machine, done, here, tmp_path, reader, named, metric):
    DistilHash(12, random_state=0).fit(X[:200]).save(tmp_path / "m")
    names, words = (
        np.array([f"d{i}" for i in range(300)]),
        [tmp_path / "i", "judged.npz", "--model", tmp_path / "m"],
    )
    np.save(tmp_path / "names.npy", names)
    np.save(
        tmp_path / "x16.npy", X[200:500][::-1].astype(np.float16) if named else X[200:500].astype(np.float16)
    )
    (tmp_path / "order.txt").write_text("\n".join(names[::-1]))
    done("encode", tmp_path / "m", "x.npy", "-o", tmp_path / "c")
    done("index", tmp_path / "c", "-o", tmp_path / "i", *(("--ids", tmp_path / "names.npy") if named else ()))
    more = ["--rescore", tmp_path / "x16.npy", "--reader", reader, "-k", 5]
    more += ["--rescore-ids", tmp_path / "order.txt"] if named else []
    more += ["--metric", metric] if metric else []
    model, index = load_model(tmp_path / "m"), load_index(tmp_path / "i")
    for factor in (None, 3, 60):
        found = machine("search", *words, *more, *(("--factor", factor) if factor else ()))["results"]
        given = dict(ids=names) if named else {}
        rescored = Rescored(index, X[200:500], metric or "cosine", factor or 10, **given)
        distances, ids = rescored.search(model.prepare_queries(X[:2], reader=reader), X[:2], 5)
        assert [each["ids"] for each in found] == ids.tolist()
        assert [each["distances"] for each in found] == distances.tolist()
    order = np.argsort(cdist(X[:2], X[200:500], metric or "cosine"), axis=1)[:, :5]  # 60 times 5 are all
    assert ids.tolist() == (names[order] if named else order).tolist()


def test_vectors_of_an_index_with_own_ids_need_ids(assert_refused, done, here, tmp_path):
    done("index", "m.codes", "-o", tmp_path / "i", "--ids", "ids.npy")
    assert_refused(
        f"search {tmp_path / 'i'} x.npy --model m --rescore x.npy",
        "--rescore x.npy: the index has ids of its own; give --rescore-ids too",
    )


def test_text_ids_are_printed_and_written(machine, done, here, tmp_path):
    names = [f"{'éa'[i % 2]}{i}" for i in range(300)]
    (tmp_path / "ids.txt").write_text("\n".join(names), encoding="utf-8")
    done("index", "m.codes", "-o", tmp_path / "i", "--ids", tmp_path / "ids.txt")
    words = "search", tmp_path / "i", "m.codes"
    index, queries = load_index(tmp_path / "i"), np.load("m.npy")
    lims, _, within = index.radius(queries, 1)
    assert [each["ids"] for each in machine(*words, "--radius", 1)["results"]] == [
        within[first:end].tolist() for first, end in pairwise(lims)
    ]
    assert done(*words, "-k", 1, "-o", tmp_path / "o.npz").splitlines()[1].split()[2] in names
    with np.load(tmp_path / "o.npz") as found:
        assert found["ids"].dtype.kind == "U"
        np.testing.assert_array_equal(found["ids"], index.search(queries, 1)[1].astype(str))
    np.save(tmp_path / "some.npy", names[:2])
    (tmp_path / "some.txt").write_text("\n".join(names[:2]), encoding="utf-8")
    for some in ("some.npy", "some.txt"):
        found = machine(*words, "-k", 3, "--among", tmp_path / some)["results"]
        assert all(sorted(each["ids"]) == sorted(names[:2]) for each in found)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("m.index m.codes --rescore x.npy", ["--rescore compares vectors: give them as QUERIES, and --model"]),
        ("m.index x.npy --model m --radius 1 --rescore x.npy", ["--rescore and --radius ask for different"]),
        ("m.index x.npy --model m --factor 3", ["--factor goes with --rescore VECTORS; give that too"]),
        ("m.index x.npy --model m --rescore-ids ids.npy", ["--rescore-ids goes with --rescore VECTORS"]),
        ("m.index x.npy --model m --rescore ids.npy", ["--rescore ids.npy: vectors=", "give a matrix"]),
        ("m.index x.npy --model m --rescore x.npy --metric l2", ["--rescore x.npy: metric='l2'"]),
        ("m.index x.npy --model m --rescore m.npy", ["m.npy holds 2 numbers a row, a query has 64; give"]),
        (
            "m.index x.npy --model m --rescore x.npy --rescore-ids ids.npy",
            ["270 ids have no vector, such as 1"],
        ),
        ("m.index x.npy --model m --rescore nowhere.npy", ["no such file: nowhere.npy"]),
        ("m.index m.codes --reader real", ["--reader real reads vectors: give them as QUERIES, and --model"]),
        (
            "m.index x.npy --model m --reader reel",
            ["--reader reel: give one of auto, bits, real, or a file of a"],
        ),
        ("m.index x.npy --model m --reader m", ["m: it holds 'model', not 'reader'"]),
        ("m.index m.codes --among nowhere.npy", ["no such file: nowhere.npy"]),
        ("m.index m.codes --among twice.npy -o twice.npy", ["twice.npy"]),
        ("m.index m.codes --among x.npy", ["among: ids must be whole numbers or text, got float32"]),
        ("m m.npy", ["m: it holds 'model', not 'index'", "structhash index makes indexes"]),
        ("train.npz m.npy", ["train.npz: it is a .npz or other zip file, no index"]),
        ("train.csv m.npy", ["train.csv: it is text, no index"]),
        ("damaged m.npy", ["damaged: it holds 'model', not 'index'", "structhash index makes indexes"]),
        ("garbage.npy m.npy", []),
        ("m.index m.npy -k 0", ["-k"]),
        ("m.index m.npy -k 3 --radius 2", ["-k and --radius ask for different things; give one of them"]),
        ("m.index m.npy --radius -1", ["--radius"]),
        ("m.index m.npy --radius nan", []),
        (
            "m.index x.npy",
            ["x.npy holds float32 of shape (300, 64); for vectors, give --model MODEL too; codes"],
        ),
        (
            "m.index pixels.npy",
            ["pixels.npy holds 64 bytes a row, codes of m.index have 2; for vectors, give --m"],
        ),
        ("m.index train.npz", ["train.npz is not a file of codes; for vectors, give --model MODEL too"]),
        ("m.index ids.npy", ["ids.npy holds int64 of shape (300,)"]),
        ("m.index nowhere.npy", ["no such file: nowhere.npy"]),
        (
            "m.index w.codes",
            ["was made with another model than w.codes; give that one, or make m.index again from codes"],
        ),
        ("m.index short.codes", ["short.codes holds codes of 9 bits, m.index of 16; give codes of one length"]),
        ("m.index x.npy --model w", ["m.index was made with another model than w; give that one"]),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"search {words}", *parts)


@pytest.mark.parametrize("ids", [[f"q-{i}" for i in range(4)], [70, 50, 90, 60]], ids=["text", "numbers"])
@pytest.mark.parametrize("where", ["vectors", "codes"])
def test_queries_are_called_by_their_ids(run, machine, done, here, tmp_path, ids, where):
    path = tmp_path / "q.parquet"
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X[:4].ravel()), 64)
    pq.write_table(pa.table({"query_id": ids, "v": vectors}), path)
    note = f"no column of ids in {path} (columns left out: query_id): rows are numbered"
    assert note in run("search", "m.index", path, "--model", "m").stderr
    given = (path, "--model", "m", "--id", "query_id")
    if where == "codes":
        machine("encode", "m", path, "-o", tmp_path / "q.codes", "--id", "query_id", "--queries")
        given = (tmp_path / "q.codes",)
    place = f"sqlite:{tmp_path / 'codes.db'}"
    done("store", "export", "m.index", "--to", place)
    for search in (("search", "m.index"), ("store", "search", place)):
        found = machine(*search, *given, "-k", 2)
        assert (found["queries"], [each["query"] for each in found["results"]]) == (4, ids)
        lines = done(*search, *given, "-k", 2).splitlines()[1:]
        assert [line.split()[0] for line in lines] == [str(each) for each in ids for _ in range(2)]
    for _ in range(2):  # the file may be replaced
        done("search", "m.index", *given, "-o", tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as answer:
        assert answer["query_ids"].tolist() == ids
