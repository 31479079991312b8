"""benchmarks/bytes.py goes on where it stopped, and its numbers are those of a comparison."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.evaluation import compare_judged, compare_neighbours

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "bytes.py"
X, Y = (array[:320] for array in load_digits(return_X_y=True))
DATA = X[20:].astype(np.float32), X[:20].astype(np.float32)


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, for two methods, beside a small data set."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # the script sets them
    qrels = np.array([[q, j, int(Y[j + 20] == Y[q])] for q in range(20) for j in range(300)])
    np.savez(tmp_path / "digits.npz", X=X[20:], Q=X[:20], qrels=qrels)
    np.savez(tmp_path / "bare.npz", X=X[20:], Q=X[:20])
    found = runpy.run_path(str(SCRIPT))
    methods = {"itq": ("bits", "auto"), "rabitq": ("",), "rq": ("",)}
    monkeypatch.setitem(found["run"].__globals__, "READERS", methods)
    monkeypatch.setitem(found["run"].__globals__, "WHOLE", ())
    return found


@pytest.mark.slow
def test_lines_are_those_of_comparisons_and_come_once(script, tmp_path, capsys):
    out = tmp_path / "r.json"
    script["run"](tmp_path, out, ["digits", "bare"], [2], [0])
    lines = json.loads(out.read_text())["lines"]
    expected = [("itq", "bits"), ("itq", "auto"), ("rq", "")]  # 2 bytes are too few for rabitq
    assert [(line["method"], line["reader"]) for line in lines] == expected + expected
    qrels = np.load(tmp_path / "digits.npz")["qrels"]
    for line in lines:
        spec = line["method"] + f"@{line['reader']}" * bool(line["reader"])
        near = next(compare_neighbours([spec], *DATA, [16], [0]))
        expected = dict(near.scores.mean)
        if line["set"] == "digits":
            judged = compare_judged([spec], *DATA, qrels, [16], [0], ["ndcg@10"])
            expected |= next(judged).scores.mean
        assert {name: line[name] for name in expected} == pytest.approx(expected, abs=1e-4)
        assert line["chosen"] == near.chosen
    capsys.readouterr()
    script["run"](tmp_path, out, ["digits"], [2, 9], [0])
    again = json.loads(out.read_text())["lines"]
    assert again[: len(lines)] == lines
    assert [line["method"] for line in again[len(lines) :]] == ["itq", "itq", "rabitq", "rq"]
    assert len(capsys.readouterr().out.splitlines()) == 3  # fits


@pytest.mark.slow
def test_factors_of_a_row_count_as_bytes(script, tmp_path):
    script["run"](tmp_path, tmp_path / "r.json", ["bare"], [10], [0])
    (line,) = [
        each for each in json.loads((tmp_path / "r.json").read_text())["lines"] if each["method"] == "rabitq"
    ]
    plain, factors = compare_neighbours(["rabitq"], *DATA, [16], [0])
    assert line["recall@10"] == pytest.approx(factors.scores.mean["recall@10"], abs=1e-4)
    assert plain.scores.mean != factors.scores.mean


def test_signs_and_vectors_have_a_line_of_their_own_length(script, monkeypatch, tmp_path):
    readers = {"binary_quantization": ("bits",), "float": ("",)}
    monkeypatch.setitem(script["run"].__globals__, "READERS", readers)
    monkeypatch.setitem(script["run"].__globals__, "WHOLE", tuple(readers))
    for _ in range(2):
        script["run"](tmp_path, tmp_path / "r.json", ["digits"], [2, 8, 16], [0])
        first, signs, vectors = json.loads((tmp_path / "r.json").read_text())["lines"]
    assert (first["bytes"], signs["bytes"], vectors["bytes"]) == (2, 8, 256)
    assert vectors["recall@10"] == 1
    qrels = np.load(tmp_path / "digits.npz")["qrels"]
    judged = next(compare_judged(["float"], *DATA, qrels, [16], [0], ["ndcg@10"]))
    assert vectors["ndcg@10"] == pytest.approx(judged.scores.mean["ndcg@10"], abs=1e-4)
    for line, spec in ((first, "binary_quantization@bits:n_bits=16"), (signs, "binary_quantization@bits")):
        near = next(compare_neighbours([spec], *DATA, [16], [0]))
        assert line["recall@10"] == pytest.approx(near.scores.mean["recall@10"], abs=1e-4)
