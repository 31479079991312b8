"""``structhash export``."""

import json
import shutil

import numpy as np
import pytest

from structhash import load_model
from structhash.export.encoder import Encoder


def test_a_file_encodes_without_the_model(machine, here, tmp_path):
    found = machine("export", "m", "--to", "npz", "-o", tmp_path / "m.npz")
    model = load_model("m")
    assert found["fingerprint"] == model.fingerprint()
    assert (found["bits"], found["features"], found["queries differ"]) == (16, 64, model.queries_differ())
    assert found["bytes"] == (tmp_path / "m.npz").stat().st_size
    assert found["encoder"].endswith("encoder.py")
    rows = np.load("x.npy")
    np.testing.assert_array_equal(Encoder(tmp_path / "m.npz").encode(rows), model.encode(rows))


def test_bits_cut_the_code(machine, here, tmp_path):
    machine("export", "w", "--to", "json", "-o", tmp_path / "w.json", "--bits", 9)
    about = json.loads((tmp_path / "w.json").read_text())["about"]
    assert (about["n_bits"], len(about["weights"])) == (9, 9)
    machine("export", "w", "--to", "json", "-o", tmp_path / "w.json")  # which an export replaces


def test_people_see_what_reads_the_file(done, here, tmp_path):
    assert "encoder.mjs" in done("export", "m", "--to", "json", "-o", tmp_path / "m.json")


def test_onnx_has_no_encoder_of_ours(machine, done, here, tmp_path):
    pytest.importorskip("onnx")
    words = "export", "m", "--to", "onnx", "-o", tmp_path / "m.onnx"
    assert "encoder  " not in done(*words)
    found = machine(*words, "--force")
    assert "encoder" not in found
    assert found["bytes"] == (tmp_path / "m.onnx").stat().st_size


@pytest.mark.parametrize("to", ["onnx", "npz", "json", "sql", "postgresql"])
def test_an_export_replaces_an_export_and_nothing_else(machine, run, done, here, tmp_path, to):
    done("fit", here / "x.npy", "-o", tmp_path / "lsh", "--method", "lsh", "--bits", 8)
    out = tmp_path / f"e.{to}"
    for _ in range(2):
        machine("export", tmp_path / "lsh", "--to", to, "-o", out)
    out.write_text("-- my own SQL for structhash\n")
    refused = run("export", tmp_path / "lsh", "--to", to, "-o", out)
    assert (refused.exit_code, "not export; give another name" in refused.stderr) == (2, True)
    shutil.copy(here / "train.npz", out)
    assert run("export", tmp_path / "lsh", "--to", to, "-o", out).exit_code == 2


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("export m --to tflite -o new", "to='tflite': give one of onnx, npz"),
        ("export m --to sql -o new", "so SQL cannot express them; export to onnx, npz or json"),
        ("export m --to npz -o new --bits 17", "n_bits=17: give an integer of at least 1 and at most 16"),
        ("export m --to npz -o m", "this command reads it"),
        ("export m --to npz -o m.codes", "not export; give another name, or --force"),
        ("export m.codes --to npz -o new", "m.codes"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_nothing_is_written(assert_refused, words, part):
    assert_refused(words, part)
