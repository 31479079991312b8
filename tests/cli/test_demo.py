"""``structhash demo``."""

import json
import os

import numpy as np
import pytest

from structhash import DistilHash, load_model
from structhash.search import load_index

FILES = ["codes.npy", "index.structhash", "model.structhash", "results.json"]


@pytest.mark.slow
def test_the_demonstration(done, machine, tmp_path):
    folder = tmp_path / "out"
    text = done("demo", "-o", folder, "--bits", 6)
    assert f"Saved in {folder}" in text
    assert sorted(os.listdir(folder)) == FILES
    assert all(f"{name} " in text for name in FILES)
    codes = np.load(folder / "codes.npy")
    assert len(load_index(folder / "index.structhash")) == len(codes)
    model = load_model(folder / "model.structhash")
    assert (type(model), model.n_bits_) == (DistilHash, 6)
    found = json.loads((folder / "results.json").read_text())
    lines = [f"{line['method']} {line['distance']}" for line in found["lines"]]
    peers = ["structhash plain", "cghash plain", "cghash weighted", "one_hot plain", "itq plain", "lsh plain"]
    assert lines == ["distilhash plain", *peers, "float L2"]
    again = machine("demo", "-o", folder, "--bits", 6)
    assert again["lines"][0]["mean"] == found["lines"][0]["mean"]
    assert sorted(again["files"]) == FILES
