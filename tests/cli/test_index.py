"""``structhash index``."""

import numpy as np
import pytest

from structhash import load_model
from structhash.search import load_index


def test_a_prefix_has_the_weights_of_its_bits(done, here, tmp_path):
    codes, out = tmp_path / "c.npy", tmp_path / "i"
    done("encode", "w", "x.npy", "-o", codes, "--bits", 5)
    done("index", codes, "-o", out, "--model", "w", "--bits", 5)
    np.testing.assert_array_equal(load_index(out).weights, load_model("w").weights_at(5))


def test_backend_and_ids(machine, here, tmp_path):
    out = tmp_path / "i"
    facts = machine("index", "w.npy", "-o", out, "--bits", 12, "--backend", "flat", "--ids", "ids.npy")
    assert facts == {"codes": 300, "bits": 12, "backend": "flat", "weighted": False, "file": str(out)}
    index = load_index(out)
    assert type(index).__name__ == "Flat"
    assert (index.ids % 10 == 0).all()


def test_without_a_model_a_byte_has_8_bits(done, here, tmp_path):
    done("index", "w.npy", "-o", tmp_path / "i")
    assert load_index(tmp_path / "i").n_bits == 16
    assert load_index(tmp_path / "i").source is None


def test_an_index_knows_its_model(here):
    for name in "mw":
        assert load_index(f"{name}.index").source == load_model(name).fingerprint()
        assert load_index(f"{name}.index").n_bits == load_model(name).n_bits_


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("x.npy", ["must be uint8", "got float32", "structhash encode makes codes"]),
        ("m", ["it is a structhash file of kind 'model'", "structhash encode makes codes"]),
        ("m.npy --bits 17", []),
        ("m.npy --model w --bits 7", []),
        ("m.npy --model train.npz", ["no model", "structhash fit makes models"]),
        ("m.npy --backend magic", ["--backend 'magic': give one of exact, flat"]),
        ("w.npy --model w --backend flat", ["w weighs its bits, which flat cannot; use --backend exact"]),
        ("m.npy --ids twice.npy", []),
        ("m.npy --ids m.npy", []),
        ("m.npy --ids m", ["it is a structhash file of kind 'model', not a .npy file"]),
        ("m.npy --ids m.index", ["it is a structhash file of kind 'index.exact'"]),
        ("m.npy --ids garbage.npy", []),
        ("m.npy --ids nowhere.npy", ["no such file: nowhere.npy"]),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"index {words} -o new", *parts)
