"""benchmarks/worlds.py writes a comparison a world and set, and skips what is finished; pages.py tabulates."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.evaluation.compare import compare

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
X, Y = load_digits(return_X_y=True)
X, Y = X[:400], Y[:400] % 4
METHODS = "lsh,predicted_class,float"


@pytest.fixture
def worlds(monkeypatch):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # the script sets them
    return runpy.run_path(str(BENCHMARKS / "worlds.py"))


@pytest.fixture
def data(tmp_path):
    np.savez(tmp_path / "usps.npz", X=X, y=Y)
    return tmp_path / "usps.npz"


def test_a_file_is_the_comparison_and_is_skipped_when_finished(worlds, data, tmp_path):
    worlds["run"](data, "few-2", tmp_path, METHODS, "8", "0,1")
    found = tmp_path / "usps_few-2.json"
    lines = json.loads(found.read_text())["lines"]
    expected = [
        list(compare([method], X, Y, "few-2", [8], [0, 1], worlds["MEASURES"])) for method in METHODS.split(",")
    ]
    for line in lines:
        values = [
            each.scores.mean
            for results in expected
            for each in results
            if (each.method, each.distance) == (line["method"], line["distance"])
        ]
        assert line["by_seed"] == {name: [each[name] for each in values] for name in worlds["MEASURES"]}
    found.write_text(text := found.read_text() + " ")
    worlds["run"](data, "few-2", tmp_path, "lsh,float", "8", "1")  # all of it is there
    assert found.read_text() == text
    worlds["run"](data, "few-2", tmp_path, METHODS, "8,16", "0,1")
    assert json.loads(found.read_text())["options"]["bits"] == [8, 16]


def test_what_failed_is_tried_again(worlds, data, tmp_path, capsys):
    bad = "mdsh:bandwidth=1e-100"
    for _ in range(2):
        worlds["run"](data, "coarse", tmp_path, f"lsh,{bad}", "8", "0")
        out = capsys.readouterr().out
        assert "usps_coarse.json: 1 of 2 lines failed, the others are right" in out
    assert (tmp_path / "usps_coarse.json.part").exists()
    table = runpy.run_path(str(BENCHMARKS / "pages.py"))["worlds"](tmp_path, 8)
    assert table[-1] == f"| coarse | 1 | mAP / P@10 | `{bad}` | failed |  |  |  |  |"


def test_the_table_has_every_world_in_order(worlds, data, tmp_path):
    pages = runpy.run_path(str(BENCHMARKS / "pages.py"))
    for world in ("instances", "few-20", "few-2", "seen"):
        worlds["run"](data, world, tmp_path, METHODS, "64", "0")
    head, _, *rows = pages["worlds"](tmp_path)
    columns = "world splits measures method usps isolet mnist cifar10_gist512 banking77_minilm"
    assert head.strip("| ").split(" | ") == columns.split()
    cells = [row.strip("| ").split(" | ")[:5] for row in rows]
    methods = ["`lsh`", "`predicted_class`", "`predicted_class`, posterior", "`float`"]
    names = {"seen": "NDCG@100 / mAP", "instances": "ten nearest in the first tenth"}
    order = ("seen", "few-2", "few-20", "instances")
    assert [row[:4] for row in cells] == [
        [world, "1", names.get(world, "mAP / P@10"), method] for world in order for method in methods
    ]
    line = json.loads((tmp_path / "usps_few-2.json").read_text())["lines"][0]
    assert cells[4][4] == f"{line['mean']['map']:.3f} / {line['mean']['precision@10']:.3f}"


def test_every_world_is_a_protocol_and_a_place_in_the_table(worlds):
    pages = runpy.run_path(str(BENCHMARKS / "pages.py"))
    assert sorted(worlds["WORLDS"], key=pages["world_order"]) == list(worlds["WORLDS"])
    for world in worlds["WORLDS"]:
        assert set(pages["measures_of"](world)) <= set(worlds["measures_of"](world))
        assert set(pages["measures_of"](world)) <= set(pages["MEASURES"])
