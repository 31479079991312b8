"""benchmarks/peers.py goes on where it stopped, and its numbers are those of a comparison."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.evaluation.compare import compare
from structhash.pieces import names

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "peers.py"
X, Y = (array[:160] for array in load_digits(return_X_y=True))
METHODS = ["itq", "itq@database", "one_hot", "binary_quantization", "float"]


@pytest.fixture
def peers(monkeypatch):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # the script sets them
    return runpy.run_path(str(SCRIPT))


def test_a_line_a_fit_and_what_failed_again(peers, tmp_path, capsys):
    np.savez(tmp_path / "digits.npz", X=X, y=Y)
    run = peers["run"]
    words = (tmp_path / "digits.npz", tmp_path, "seen", METHODS)
    run(*words, [2, 16], [0])
    text = (tmp_path / "digits_seen.json").read_text()
    lines = json.loads(text)["lines"]
    assert [(line["method"], line["bits"]) for line in lines] == [
        ("itq", 2),
        ("itq", 16),
        ("itq@database", 2),
        ("itq@database", 16),
        ("one_hot", 2),
        ("one_hot", 16),
        ("binary_quantization", 0),
        ("float", 0),
    ]
    assert [line["method"] for line in lines if "error" in line] == ["one_hot"]  # 10 classes in 2 bits
    assert len([line for line in text.splitlines() if "method" in line]) == len(lines)
    scored = [line for line in lines if "error" not in line]
    for line in scored:
        for result in compare([line["method"]], X, Y, bits=[line["bits"] or 1], seeds=[0]):
            held = line[result.distance]
            assert held["n_bits"] == result.n_bits
            assert {name: held[name] for name in result.scores.mean} == pytest.approx(
                result.scores.mean, abs=1e-4
            )
        assert line["seconds"]["all"] >= line["seconds"]["fit"]
    capsys.readouterr()
    run(*words, [2, 16], [0, 1])
    told = [json.loads(line[len("digits seen ") :]) for line in capsys.readouterr().out.splitlines()]
    assert [(line["method"], line["bits"], line["seed"]) for line in told] == [
        ("one_hot", 2, 0),
        *((line["method"], line["bits"], 1) for line in lines),
    ]
    again = json.loads((tmp_path / "digits_seen.json").read_text())["lines"]
    assert [line for line in again if line["seed"] == 0 and "error" not in line] == scored


def test_judged(peers, tmp_path, capsys):
    qrels = np.array([[q, j, int(Y[j + 20] == Y[q])] for q in range(20) for j in range(100)])
    np.savez(tmp_path / "d.npz", X=X[20:120], Q=X[:20], qrels=qrels)
    assert [peers["suits"](tmp_path / "d.npz", protocol) for protocol in ("seen", "judged")] == [False, True]
    peers["run"](tmp_path / "d.npz", tmp_path, "judged", METHODS, [8], [0])
    lines = json.loads((tmp_path / "d_judged.json").read_text())["lines"]
    assert [line["method"] for line in lines] == ["itq", "binary_quantization", "float"]
    assert all(
        0 < line[distance]["map"] < 1 for line in lines for distance in line if distance in ("plain", "L2")
    )


def test_everything_is_compared_by_default(peers):
    specs = peers["every_spec"]()
    assert len(set(specs)) == len(specs)
    assert {"structhash", "distilhash", "cghash", "float", "itq@database", "classifier_lsh:of=scores"} <= set(
        specs
    )
    assert set(names("baselines")) <= set(specs)
