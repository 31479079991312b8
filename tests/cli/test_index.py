"""``structhash index``."""

import numpy as np
import pytest

from structhash import load_model
from structhash.io import save_codes
from structhash.search import load_index


def test_a_prefix_has_the_weights_of_its_bits(done, here, tmp_path):
    codes, out = tmp_path / "c.codes", tmp_path / "i"
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
    done("index", "m.npy", "-o", tmp_path / "i")
    assert load_index(tmp_path / "i").n_bits == 16
    assert load_index(tmp_path / "i").source is None


@pytest.mark.parametrize(
    ("codes", "zeros", "length"), [([[0, 8], [0, 3]], 4, 12), ([[7, 0]], 7, 9), ([[1], [0]], 7, 1)]
)
def test_bare_codes_that_may_have_padding_are_warned_of(run, done, tmp_path, codes, zeros, length):
    path, out = tmp_path / "c.npy", tmp_path / "i"
    np.save(path, np.array(codes, np.uint8))
    bits = 8 * len(codes[0])
    assert run("index", path, "-o", out).stderr == (
        f"warning: {path} does not say how many bits its codes have, and the last {zeros} of {bits} are 0 in "
        f"all codes: give --bits {length} if the codes have {length} bits\n"
    )
    assert load_index(out).n_bits == bits
    done("index", path, "-o", out, "--bits", bits)
    done("index", path, "-o", out, "--bits", length)


def test_a_model_that_makes_longer_codes_does_not_hide_padding(run, done, here, tmp_path):
    done("encode", "m", "x.npy", "-o", tmp_path / "c.npy", "--bits", 12)
    lines = run("index", tmp_path / "c.npy", "-o", tmp_path / "i", "--model", "m").stderr.splitlines()
    assert len(lines) == 2
    assert "the last 4 of 16 are 0 in all codes: give --bits 12" in lines[1]
    lines = run("index", "w.npy", "-o", tmp_path / "i", "--model", "w").stderr.splitlines()
    assert ["which model made its codes" in line for line in lines] == [True]


def test_an_index_knows_its_model(here):
    for name in "mw":
        assert load_index(f"{name}.index").source == load_model(name).fingerprint()
        assert load_index(f"{name}.index").n_bits == load_model(name).n_bits_


def test_codes_name_their_model(machine, here, tmp_path):
    facts = machine("index", "w.codes", "--model", "w", "-o", tmp_path / "i", "--backend", "flat")
    assert (facts["bits"], facts["weighted"]) == (12, True)
    assert load_index(tmp_path / "i").source == load_model("w").fingerprint()


def test_a_plain_index_of_a_model_that_weighs_its_bits_is_warned_of(run, here, tmp_path):
    assert run("index", "w.codes", "-o", tmp_path / "i").stderr == (
        "warning: the model that made w.codes weighs its bits: give --model for distances by weight\n"
    )
    made = load_index(tmp_path / "i")
    assert made.weights is None
    assert made.source == load_model("w").fingerprint()


def test_codes_of_queries_in_an_index_are_warned_of_where_they_differ(run, done, tmp_path):
    codes, about = tmp_path / "c", {"n_rows": 2, "n_bits": 8, "source": "a1b2", "coded_as": "queries"}
    save_codes(codes, [np.array([[7], [255]], np.uint8)], **about, queries_differ=True)
    assert run("index", codes, "-o", tmp_path / "i").stderr == (
        f"warning: {codes} holds codes of queries, and its model codes rows differently: to index rows, encode "
        "them without --queries\n"
    )
    save_codes(codes, [np.array([[7], [255]], np.uint8)], **about, queries_differ=False)
    done("index", codes, "-o", tmp_path / "i")


def test_bare_codes_and_a_model_are_warned_of(run, here, tmp_path):
    result = run("index", "m.npy", "-o", tmp_path / "i", "--model", "m")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: m.npy does not say which model made its codes: that it was m is")
    assert load_index(tmp_path / "i").source == load_model("m").fingerprint()


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("x.npy", ["must be uint8", "got float32", "structhash encode makes codes"]),
        ("m", ["m: it holds 'model', not 'codes'", "structhash encode makes codes"]),
        ("m.npy --bits 17", []),
        ("m.codes --bits 15", ["--bits 15: m.codes holds codes of 16 bits; leave --bits out"]),
        ("m.codes --model w", ["m.codes holds codes of another model than w; give that one, or encode again"]),
        ("short.npy --model w", ["short.npy holds codes of 1 bytes; w makes codes of 12 bits; give the model"]),
        ("m.npy --model w --bits 16", ["m.npy holds codes of 2 bytes; w makes codes of 12 bits"]),
        ("m.npy --model w --bits 7", []),
        ("m.npy --model train.npz", ["no model", "structhash fit makes models"]),
        ("m.npy --backend magic", ["--backend 'magic': give one of exact, flat"]),
        ("m.npy --ids twice.npy", []),
        ("m.npy --ids m.npy", []),
        ("m.npy --ids m", ["it is a structhash file of kind 'model', not a .npy file"]),
        ("m.npy --ids m.index", ["it is a structhash file of kind 'index.exact'"]),
        ("m.npy --ids garbage.npy", []),
        ("m.npy --ids nowhere.npy", ["no such file: nowhere.npy"]),
        ("m.npy --ids .", ["cannot read .: it is not a file but a folder"]),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"index {words} -o new", *parts)


def test_a_backend_with_settings(done, machine, here, tmp_path):
    facts = machine("index", "m.npy", "-o", tmp_path / "i", "--backend", "ivf:n_lists=20,n_probe=3")
    assert facts["backend"] == "ivf:n_lists=20,n_probe=3"
    index = load_index(tmp_path / "i")
    assert (type(index).__name__, index.n_lists, index.n_probe) == ("IVF", 20, 3)
    told = machine("info", tmp_path / "i")
    assert (told["class"], told["n_lists"], told["n_probe"]) == ("IVF", 20, 3)
    done("encode", "w", "x.npy", "-o", tmp_path / "c")
    facts = machine("index", tmp_path / "c", "-o", tmp_path / "i", "--model", "w", "--backend", "ivf:n_probe=3")
    assert facts["weighted"]
    assert load_index(tmp_path / "i").n_probe == 3


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("ivf:n_probe=0", "n_probe=0: give a whole number from 1 to 1048576"),
        ("ivf:n_probe=few", "--backend 'ivf:n_probe=few': n_probe='few': give a whole number"),
        ("ivf:n_bits=3", "--backend 'ivf:n_bits=3': n_bits is no setting; it has n_lists, n_probe"),
        ("ivf:ef=3", "'ef=3' is not one of its settings"),
        ("exact:n_bits=3", "n_bits is no setting; it has none"),
        ("nosuch:n_bits=3", "give one of exact, flat"),
    ],
)
def test_settings_that_a_backend_does_not_have_are_refused(assert_refused, backend, message):
    assert_refused(f"index m.npy -o new --backend {backend}", message)
