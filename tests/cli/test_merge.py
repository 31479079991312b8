"""``structhash merge``."""

import numpy as np
import pytest

from structhash import load_model
from structhash.search import load_index


def test_indexes_are_joined(machine, done, here, tmp_path):
    out, codes = tmp_path / "i", np.load("m.npy")
    (tmp_path / "other").write_bytes((here / "m.index").read_bytes())
    facts = machine("merge", "m.index", tmp_path / "other", "-o", out)
    assert facts == {"codes": 600, "bits": 16, "ids": "row numbers", "weighted": False, "file": str(out)}
    np.testing.assert_array_equal(load_index(out).table()[0], np.concatenate([codes, codes]))
    assert load_index(out).source == load_model("m").fingerprint()
    done("merge", "w.index", "-o", out)
    np.testing.assert_array_equal(load_index(out).weights, load_model("w").search_weights_)


def test_an_index_of_an_unknown_model_is_warned_of(run, done, here, tmp_path):
    done("index", "m.npy", "-o", tmp_path / "i")
    result = run("merge", "m.index", tmp_path / "i", "-o", tmp_path / "o")
    assert result.stderr == (
        f"warning: {tmp_path / 'i'} does not say which model made its codes, so {tmp_path / 'o'} does not "
        "either\n"
    )


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("m.index ./m.index -o new", ["m.index is given twice, so each of its codes would be there twice"]),
        ("m.index w.index -o new", ["another length or other weights"]),
        ("m.index m -o new", ["m: it holds 'model', not 'index'"]),
        ("m.index nowhere -o new", ["no such file: nowhere"]),
        ("m.index m.index -o m.index", ["cannot write m.index: this command reads it; give another name"]),
        ("m.index -o m", ["cannot write m: it is a structhash file of kind 'model', not index"]),
        ("m.index -o x.npy", ["give another ending"]),
        ("-o new", []),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"merge {words}", *parts)


def test_files_that_share_an_id_are_named(machine, assert_refused, here, tmp_path):
    for name, first in (("a", 0), ("b", 300), ("c", 599)):
        np.save(tmp_path / "ids.npy", np.arange(first, first + 300))
        machine("index", "m.codes", "-o", tmp_path / name, "--ids", tmp_path / "ids.npy")
    a, b, c = (tmp_path / name for name in "abc")
    assert machine("merge", a, b, "-o", tmp_path / "new")["codes"] == 600
    assert machine("merge", a, b, "-o", tmp_path / "new")["replaced"] == "an index of 600 codes"
    assert_refused(["merge", a, b, c, "-o", "new"], f"{b} and {c} both have the id 599")
