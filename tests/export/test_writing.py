"""Formats, and the JavaScript module under node."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from structhash.export import ENCODERS, FORMATS, export_model, write_export
from structhash.export.encoder import Encoder
from structhash.export.writing import json_text

SCRIPT = """
import { readFileSync } from "node:fs";
import { Encoder } from "./encoder.mjs";
const read = (name) => JSON.parse(readFileSync(name, "utf8"));
const encoder = new Encoder(read("model.json"));
const found = { codes: [], query_codes: [], values: [], coefficients: [], refused: [] };
for (const row of read("rows.json")) {
  found.codes.push(Array.from(encoder.encode(row)));
  found.query_codes.push(Array.from(encoder.encode(row, { queries: true })));
  found.values.push(Array.from(encoder.values(row)));
  found.coefficients.push(Array.from(encoder.coefficients(row)));
}
const spoiled = [NaN, Infinity, null, "1"].map((each) => Array(64).fill(each));
for (const bad of [[1, 2], null, ...spoiled]) {
  try { encoder.encode(bad); } catch (error) { found.refused.push(error.message); }
}
console.log(JSON.stringify(found));
"""


@pytest.fixture
def by_node(tmp_path):
    """A function that encodes rows with a model under node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")

    def run(model, rows):
        shutil.copy(ENCODERS["json"], tmp_path)
        (tmp_path / "run.mjs").write_text(SCRIPT)
        (tmp_path / "rows.json").write_text(json.dumps(rows.astype(float).tolist()))
        write_export(export_model(model), tmp_path / "model.json", "json")
        done = subprocess.run([node, "run.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["posterior", "centered", "weighted", "mixture", "multilabel", "rbf", "stump", "tree"]
)
def test_javascript_gives_the_codes_of_the_model(model_of, rows, by_node, assert_same_codes, name):
    model, rows = model_of(name), rows[500:1500]
    found = by_node(model, rows)
    assert_same_codes(model, np.array(found["codes"], np.uint8), rows)
    assert_same_codes(model, np.array(found["query_codes"], np.uint8), rows, queries=True)
    close = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(found["values"], model._values(rows.astype(float)), **close)
    expected = model.prepare_queries(rows, reader="real").values
    np.testing.assert_allclose(found["coefficients"], expected, **close)
    assert found["refused"] == ["give 64 finite numbers"] * 6


MANY = """
import { readFileSync, writeFileSync } from "node:fs";
import { Encoder } from "./encoder.mjs";
const encoder = new Encoder(JSON.parse(readFileSync("model.json", "utf8")));
const bytes = readFileSync("rows.bin");
const rows = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const width = encoder.about.n_features;
for (const [name, queries] of [["codes", false], ["query_codes", true]]) {
  const codes = [];
  for (let at = 0; at < rows.length; at += width) {
    codes.push(encoder.encode(rows.subarray(at, at + width), { queries }));
  }
  writeFileSync(name, Buffer.concat(codes));
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "labelled"),
    [
        ("banking77_minilm", True),  # a minute
        ("banking77_minilm", False),
        ("cifar10_gist512", False),
        ("mnist", False),
    ],
)
def test_ten_thousand_rows_of_real_data(real_model_of, assert_same_codes, tmp_path, name, labelled):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    model, rows = real_model_of(name, labelled)
    shutil.copy(ENCODERS["json"], tmp_path)
    write_export(export_model(model), tmp_path / "model.json", "json")
    (tmp_path / "rows.bin").write_bytes(np.ascontiguousarray(rows).tobytes())
    (tmp_path / "run.mjs").write_text(MANY)
    subprocess.run([node, "run.mjs"], cwd=tmp_path, check=True)
    for queries, file in ((False, "codes"), (True, "query_codes")):
        codes = np.fromfile(tmp_path / file, np.uint8).reshape(len(rows), -1)
        assert assert_same_codes(model, codes, rows, queries) <= 1e-4


def test_json_holds_what_the_npz_holds(model_of, tmp_path):
    exported = export_model(model_of("posterior"))
    document = json.loads(json_text(exported))
    write_export(exported, tmp_path / "m.npz", "npz")
    assert document["about"] == Encoder(tmp_path / "m.npz").about
    assert {name: each["shape"] for name, each in document["arrays"].items()} == {
        name: list(array.shape) for name, array in exported.arrays.items()
    }


def test_formats_have_names_and_files_are_whole(model_of, tmp_path):
    exported = export_model(model_of("posterior"))
    with pytest.raises(ValueError, match="to='tflite': give one of onnx, npz, json, sql, postgresql"):
        write_export(exported, tmp_path / "m", "tflite")
    with pytest.raises(ValueError, match="are not planes among the rows, so SQL cannot express"):
        write_export(exported, tmp_path / "m", "sql")
    assert list(tmp_path.iterdir()) == []
    assert set(ENCODERS) < set(FORMATS)
    assert all(Path(path).is_file() for path in ENCODERS.values())
