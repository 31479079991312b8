"""``structhash encode``."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_digits

from structhash import AdditiveHash, DistilHash, load_model
from structhash.io import load_codes
from structhash.search import Exact, load_index

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def test_codes_are_those_of_the_library(here):
    np.testing.assert_array_equal(np.load("m.npy"), load_model("m").encode(X[200:500]))


@pytest.mark.parametrize("coded_as", ["rows", "queries"])
def test_codes_say_how_they_were_made(done, here, tmp_path, coded_as):
    for model, weighted in (("m", False), ("w", True)):
        done("encode", model, "x.npy", "-o", tmp_path / "c", *(["--queries"] if coded_as == "queries" else []))
        differ = load_model(model).queries_differ()
        assert load_codes(tmp_path / "c")[3:6] == (coded_as, differ, weighted)


def test_a_prefix_of_the_bits(machine, here, tmp_path):
    facts = machine("encode", "w", "x.npy", "-o", tmp_path / "c.npy", "--bits", 5)
    assert facts == {
        "rows": 300,
        "bits": 5,
        "bytes": 300,
        "ids": "row numbers",
        "coded as": "rows",
        "file": str(tmp_path / "c.npy"),
    }
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), load_model("w").encode(X[200:500], 5))


@pytest.mark.slow
def test_queries(machine, done, here, tmp_path):
    m, q = tmp_path / "m", tmp_path / "q.npy"
    rng = np.random.default_rng(0)
    blurred = X[:600] + rng.normal(scale=6, size=(600, 64)).astype(np.float32)
    model = DistilHash(16, random_state=0).fit(blurred, Y[:600])
    assert model.queries_differ()
    model.save(m)
    facts = machine("encode", m, "judged.npz", "-o", q, "--queries")
    assert facts == {
        "rows": 2,
        "bits": 16,
        "bytes": 4,
        "ids": "row numbers",
        "coded as": "queries",
        "file": str(q),
    }
    np.testing.assert_array_equal(np.load(q), model.encode_queries(X[:2]))
    done("encode", m, "judged.npz", "-o", tmp_path / "q", "--queries")
    assert load_codes(tmp_path / "q")[3:6] == ("queries", True, False)
    done("encode", m, "x.npy", "-o", q, "--queries")  # a file of queries alone
    np.testing.assert_array_equal(np.load(q), model.encode_queries(X[200:500]))
    assert machine("encode", m, "x.npy", "-o", q)["coded as"] == "rows"
    assert (model.encode_queries(X[200:500]) != np.load(q)).any()


@pytest.mark.filterwarnings("ignore:many of these rows")  # 60 to 200 rows by other writers train
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_codes_of_blocks_are_those_of_all_rows(machine, here, tmp_path, monkeypatch, name):
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 64)
    rows = np.tile(X, (3, 1)).astype(np.float16)  # 5391 rows: 6 blocks
    np.save(tmp_path / "x.npy", rows)
    np.savez(tmp_path / "x.npz", X=rows)
    for model in ("m", "w"):
        machine("encode", model, tmp_path / name, "-o", tmp_path / "c.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), load_model(model).encode(rows))


@pytest.mark.filterwarnings("ignore:many of these rows", "default:most rows of X")
def test_rows_in_another_unit_are_warned_of_once(run, here, tmp_path, monkeypatch):
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 64)
    np.save(tmp_path / "x.npy", np.tile(10 * X, (3, 1)))  # 6 blocks
    found = run("encode", "m", tmp_path / "x.npy", "-o", tmp_path / "c.structhash")
    assert found.exit_code == 0
    assert found.stderr.count("warning: most rows of X of x.npy are over 2 times as long") == 1


@pytest.mark.filterwarnings("default:many of these rows")
@pytest.mark.parametrize(("n_known", "n_new", "n_block", "warned"), [(8192, 1024, 2, 0), (900, 900, 1, 1)])
def test_new_classes_are_judged_in_the_whole_file(run, tmp_path, monkeypatch, n_known, n_new, n_block, warned):
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", n_block * 512 * 64)
    monkeypatch.setattr("structhash.io.formats.base.BLOCK_ROWS", n_block * 512)
    known = Y < 7
    DistilHash(n_bits=16, random_state=0).fit(X[known], Y[known]).save(tmp_path / "m")
    rows = [np.resize(X[each], (n, 64)) for each, n in ((known, n_known), (~known, n_new))]
    np.save(tmp_path / "x.npy", np.vstack(rows))
    found = run("encode", tmp_path / "m", tmp_path / "x.npy", "-o", tmp_path / "c.structhash")
    assert found.exit_code == 0
    assert found.stderr.count("many of these rows are like no class") == warned


@pytest.mark.filterwarnings("ignore:many of these rows", "default:most rows of X")
def test_each_file_in_another_unit_is_named(run, here, tmp_path):
    for name, rows in (("a", 10 * X), ("b", X), ("c", 10 * X)):
        np.save(tmp_path / f"{name}.npy", rows[:200])
    files = [tmp_path / f"{name}.npy" for name in "abc"]
    found = run("encode", "m", *files, "-o", tmp_path / "codes")
    assert re.findall(r"most rows of X of (\w)", found.stderr) == ["a", "c"]


@pytest.mark.filterwarnings("ignore:many of these rows", "default:most rows of X")
@pytest.mark.parametrize("queries", [[], ["--queries"]])
def test_a_last_block_of_long_rows_is_not_most_rows(run, here, tmp_path, monkeypatch, queries):
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 64)
    rows = np.tile(X, (3, 1))[: 5 * 1024 + 9]
    rows[-9:] *= 10
    np.save(tmp_path / "x.npy", rows)
    found = run("encode", "m", tmp_path / "x.npy", "-o", tmp_path / "c.structhash", *queries)
    assert found.exit_code == 0
    assert "most rows" not in found.stderr


@pytest.mark.filterwarnings("ignore:many of these rows")  # 60 to 200 rows by other writers train
@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_nan_in_the_last_block_leaves_no_file(run, here, tmp_path, monkeypatch, name):
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 64)
    rows = np.tile(X, (3, 1))
    rows[5390, 2] = np.nan
    np.save(tmp_path / "x.npy", rows)
    np.savez(tmp_path / "x.npz", X=rows)
    before = sorted(path.name for path in tmp_path.iterdir())
    found = run("encode", "m", tmp_path / name, "-o", tmp_path / "c.npy")
    assert found.exit_code == 2
    assert (
        "(rows 5120 to 5390) holds 1 NaN and 0 infinite values, the first at row 5390, column 2" in found.stderr
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="/proc names the peak")
@pytest.mark.slow
def test_the_memory_is_that_of_a_block(here, tmp_path):
    """200 MB of float16 would be 400 MB of float32."""
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float16, (1_600_000, 64))
    rows[:] = X[0]
    del rows
    peaks = []
    for name in ("x.npy", tmp_path / "x.npy"):
        code = f"""
from structhash.cli.encode import encode
from pathlib import Path
encode(Path("m"), [Path({str(name)!r})], Path({str(tmp_path / "c.npy")!r}), bits=None, as_queries=False,
       force=False, as_json=True, choices={{}})
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        peaks.append(int(ended.stdout.split()[-1]) / 1000)  # MB
    assert np.load(tmp_path / "c.npy").shape == (1_600_000, 2)
    assert peaks[1] - peaks[0] < 150


@pytest.mark.parametrize("name", ["none.npy", "none.npz"])
def test_no_row_gives_no_code(machine, here, tmp_path, name):
    np.save(tmp_path / "none.npy", X[:0])
    np.savez(tmp_path / "none.npz", X=X[:0])
    assert machine("encode", "m", tmp_path / name, "-o", tmp_path / "c.npy", "--bits", 9)["rows"] == 0
    codes = np.load(tmp_path / "c.npy")
    assert (codes.shape, codes.dtype) == ((0, 2), np.uint8)
    machine("index", tmp_path / "c.npy", "-o", tmp_path / "i")


FITS = "structhash fit makes models"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("damaged x.npy", ["damaged: it is damaged"]),
        ("m.index x.npy", ["m.index: it holds 'index.exact', not 'model'", FITS]),
        ("train.npz x.npy", ["train.npz: it is a .npz or other zip file, no model", FITS]),
        ("m.npy x.npy", ["m.npy: it is a .npy file, no model", FITS]),
        ("train.csv x.npy", ["train.csv: it is text, no model", FITS]),
        ("m m.index", ["it is a structhash file of kind 'index.exact'"]),
        ("m narrow.npz", ["5 features", "64 features"]),
        ("m x.npy --bits 17", ["n_bits=17: this model has 16 bits; give 1 to 16"]),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"encode {words} -o new.npy", *parts)


IDS = [f"doc {i}" for i in range(300)]


@pytest.fixture
def vectors(tmp_path):
    """The rows of x.npy as vectors of a Parquet file, with ids."""
    column = pa.FixedSizeListArray.from_arrays(pa.array(X[200:500].ravel()), 64)
    pq.write_table(pa.table({"doc": IDS, "embedding": column}), tmp_path / "x.parquet", row_group_size=70)
    return tmp_path / "x.parquet"


@pytest.mark.parametrize("name", ["c.parquet", "c.codes"])
def test_ids_go_from_vectors_to_codes_to_an_index(machine, run, here, tmp_path, vectors, name):
    codes, index = tmp_path / name, tmp_path / "i"
    facts = machine("encode", "m", vectors, "-o", codes, "--column", "embedding", "--id", "doc")
    assert (facts["ids"], facts["id column"], facts["rows"]) == ("text", "doc", 300)
    found = load_codes(codes)
    np.testing.assert_array_equal(found.table, np.load("m.npy"))
    assert (found.ids.tolist(), found.source) == (IDS, load_model("m").fingerprint())
    machine("encode", "m", vectors, "-o", codes, "--id", "doc")  # codes may be replaced
    assert (machine("info", codes)["kind"], machine("info", codes)["ids"]) == ("codes", "text")
    machine("index", codes, "-o", index, "--model", "m")
    hits = machine("search", index, codes, "-k", "1")
    assert {each["ids"][0] for each in hits["results"]} <= {*IDS}
    found = load_index(index).search(np.load("m.npy"), 300)
    np.testing.assert_array_equal(found[0], exact_of("m.npy").search(np.load("m.npy"), 300)[0])
    refused = run("index", codes, "-o", tmp_path / "j", "--model", "w")
    assert "holds codes of another model than w" in refused.stderr


def exact_of(path):
    """An index of bare codes."""
    index = Exact(16)
    index.add(np.load(path))
    return index


def test_a_bare_array_keeps_no_ids_and_says_so(run, here, tmp_path, vectors):
    found = run("encode", "m", vectors, "-o", tmp_path / "c.npy", "--id", "doc")
    assert found.exit_code == 0
    assert "c.npy is a bare array, which keeps no ids" in found.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.load("m.npy"))


def test_codes_do_not_replace_vectors(run, here, tmp_path, vectors):
    content = vectors.read_bytes()
    pq.write_table(pa.table({"v": [[1.0], [2.0]]}), tmp_path / "y.parquet")
    for out in (vectors, tmp_path / "y.parquet"):
        found = run("encode", "m", vectors, "-o", out)
        assert (found.exit_code, "cannot write" in found.stderr) == (2, True)
    assert vectors.read_bytes() == content


def test_a_model_of_named_columns_takes_them_from_a_table(machine, run, here, tmp_path):
    frame = pd.DataFrame(X[:200], columns=[f"p{j}" for j in range(64)]).assign(label=Y[:200])
    frame.to_parquet(tmp_path / "train.parquet")
    machine("fit", tmp_path / "train.parquet", "-o", tmp_path / "n", "--bits", 16)
    assert load_model(tmp_path / "n").column_names_ == [f"p{j}" for j in range(64)]
    frame[frame.columns[::-1]].to_parquet(tmp_path / "turned.parquet")
    found = run(
        "encode", tmp_path / "n", tmp_path / "turned.parquet", "-o", tmp_path / "c.npy", "--label", "label"
    )
    assert found.exit_code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), load_model(tmp_path / "n").encode(X[:200]))


@pytest.mark.parametrize(("name", "warned"), [("c.npy", True), ("c", False), ("c.parquet", False)])
def test_a_bare_array_cannot_say_that_codes_are_numbers(run, name, warned, tmp_path):
    AdditiveHash(16, random_state=0).fit(X[:300]).save(tmp_path / "sums")
    np.save(tmp_path / "x.npy", X[:20])
    found = run("encode", tmp_path / "sums", tmp_path / "x.npy", "-o", tmp_path / name)
    assert found.exit_code == 0
    message = "does not say that its codes are numbers of centroids: dedup and an index of it compare"
    assert (message in found.stderr) == warned


@pytest.fixture
def unnamed(tmp_path):
    """The rows of x.npy as vectors of a Parquet file, with ids in a column that is not called id."""
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X[200:500].ravel()), 64)
    columns = {"title": IDS, "doc_id": range(1000, 1300), "price": X[200:500, 9], "label": Y[200:500]}
    pq.write_table(pa.table({**columns, "v": vectors}), tmp_path / "unnamed.parquet")
    return tmp_path / "unnamed.parquet"


def test_a_table_without_a_column_of_ids_is_reported(run, machine, here, tmp_path, unnamed):
    note = (
        f"note: no column of ids in {unnamed} (columns left out: doc_id, title): rows are numbered; "
        "--id NAME (id='NAME') takes one\n"
    )
    (tmp_path / "parts").mkdir()
    for out in ("c.parquet", "c.codes", "c.npy", "parts"):
        found = run("encode", "m", unnamed, "-o", tmp_path / out)
        assert (found.exit_code, found.stderr) == (0, note)
        assert re.search("^ids +row numbers$", found.stdout, re.M)
    for kind, column in (("numbers", "doc_id"), ("text", "title")):
        facts = machine("encode", "m", unnamed, "-o", tmp_path / f"{kind}.codes", "--id", column)
        assert (facts["ids"], facts["id column"]) == (kind, column)
        facts = machine("index", tmp_path / f"{kind}.codes", "-o", tmp_path / "i")
        assert facts["ids"] == kind
        place = f"sqlite:{tmp_path / kind}"
        assert machine("store", "export", tmp_path / "i", "--to", place)["ids"] == kind
    facts = machine("encode", "m", unnamed, "-o", tmp_path / "c.codes", "--id", "none")
    assert facts["ids"] == "row numbers"
    assert machine("index", tmp_path / "c.codes", "-o", tmp_path / "i")["ids"] == "row numbers"
    assert (
        machine("store", "export", tmp_path / "i", "--to", f"sqlite:{tmp_path / 'n'}")["ids"] == "row numbers"
    )


def test_arrays_and_csv_files_name_what_may_hold_ids(run, machine, here, tmp_path):
    note = "rows are numbered; structhash index --ids FILE takes ids"
    np.savez(tmp_path / "x.npz", X=X[:3], doc_ids=np.arange(3), other=np.arange(3))
    found = run("encode", "m", tmp_path / "x.npz", "-o", tmp_path / "c")
    assert f"x.npz (columns left out: doc_ids): {note}" in found.stderr
    frame = pd.DataFrame(X[:200], columns=[f"p{j}" for j in range(64)])
    frame.to_csv(tmp_path / "train.csv", index=False)
    machine("fit", tmp_path / "train.csv", "-o", tmp_path / "n", "--bits", 8, "--method", "lsh")
    frame.assign(doc_id=range(200), price=0.5).to_csv(tmp_path / "x.csv", index=False)
    found = run("encode", tmp_path / "n", tmp_path / "x.csv", "-o", tmp_path / "c")
    assert f"x.csv (columns left out: doc_id): {note}" in found.stderr
