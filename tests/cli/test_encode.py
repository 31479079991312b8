"""``structhash encode``."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model
from structhash.io import load_codes

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def test_codes_are_those_of_the_library(here):
    np.testing.assert_array_equal(np.load("m.npy"), load_model("m").encode(X[200:500]))


@pytest.mark.parametrize("coded_as", ["rows", "queries"])
def test_codes_say_how_they_were_made(done, here, tmp_path, coded_as):
    for model, weighted in (("m", False), ("w", True)):
        done("encode", model, "x.npy", "-o", tmp_path / "c", *(["--queries"] if coded_as == "queries" else []))
        differ = load_model(model).queries_differ()
        assert load_codes(tmp_path / "c")[3:] == (coded_as, differ, weighted)


def test_a_prefix_of_the_bits(machine, here, tmp_path):
    facts = machine("encode", "w", "x.npy", "-o", tmp_path / "c.npy", "--bits", 5)
    assert facts == {"rows": 300, "bits": 5, "bytes": 300, "coded as": "rows", "file": str(tmp_path / "c.npy")}
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
    assert facts == {"rows": 2, "bits": 16, "bytes": 4, "coded as": "queries", "file": str(q)}
    np.testing.assert_array_equal(np.load(q), model.encode_queries(X[:2]))
    done("encode", m, "judged.npz", "-o", tmp_path / "q", "--queries")
    assert load_codes(tmp_path / "q")[3:] == ("queries", True, False)
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
encode(Path("m"), Path({str(name)!r}), Path({str(tmp_path / "c.npy")!r}), bits=None, as_queries=False,
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
