"""``structhash encode``."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def test_codes_are_those_of_the_library(here):
    np.testing.assert_array_equal(np.load("m.npy"), load_model("m").encode(X[200:500]))


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
    done("encode", m, "x.npy", "-o", q, "--queries")  # a file of queries alone
    np.testing.assert_array_equal(np.load(q), model.encode_queries(X[200:500]))
    assert machine("encode", m, "x.npy", "-o", q)["coded as"] == "rows"
    assert (model.encode_queries(X[200:500]) != np.load(q)).any()


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
