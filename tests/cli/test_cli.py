import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import structhash
from structhash import CGHash, Neighbours, Qrels, StructHash, load_model
from structhash.cli.commands import USUAL, app
from structhash.evaluation.compare import (
    MEASURES,
    code_blocks,
    compare,
    judged,
    retrieval,
    same_label,
    seen_classes,
)
from structhash.evaluation.judged import compare_judged
from structhash.evaluation.methods import every_method
from structhash.pieces import KINDS, names, spell
from structhash.search import Exact, load_index
from structhash.training.selection import alternatives, split

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
COMMANDS = ("fit", "encode", "index", "search", "evaluate", "compare", "demo", "pieces", "info")
CLI = [sys.executable, "-m", "structhash"]


def run(*words):
    """Result of one command line."""
    return CliRunner().invoke(app, [str(word) for word in words])


def done(*words):
    """stdout of a command that works, and says nothing on stderr."""
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, ""), (result.output, result.exception)
    return result.stdout


def machine(*words):
    """The JSON document of a command that works."""
    return json.loads(done(*words, "--json"))


def write_data(folder):
    """Data sets, good and bad."""
    rng = np.random.default_rng(0)
    x, y = X[:200], Y[:200]
    np.savez(folder / "train.npz", X=x, y=y)
    np.savez(folder / "test.npz", X=X[200:500], y=Y[200:500])
    qrels = np.array([[0, 3, 2], [0, 5, 1], [1, 7, 1]])
    np.savez(folder / "judged.npz", X=X[200:260], Q=X[:2], qrels=qrels)
    np.save(folder / "x.npy", X[200:500])
    np.save(folder / "ids.npy", np.arange(300)[::-1] * 10)
    np.save(folder / "twice.npy", np.zeros(300, int))
    table = np.column_stack([x, y])
    header = ",".join([*(f"p{j}" for j in range(64)), "label"])
    np.savetxt(folder / "train.csv", table, "%d", ",", header=header, comments="")

    def spoiled(value):
        bad = x.copy()
        bad[3, 2] = value
        return bad

    np.savez(folder / "nan.npz", X=spoiled(np.nan), y=y)
    np.savez(folder / "inf.npz", X=spoiled(np.inf), y=y)
    np.savez(folder / "narrow.npz", X=x[:, :5], y=y)
    np.savez(folder / "one_class.npz", X=x, y=y * 0)
    np.savez(folder / "one_row.npz", X=x[:1], y=y[:1])
    np.savez(folder / "three_rows.npz", X=x[:3], y=y[:3] * 0)
    np.savez(folder / "constant.npz", X=x * 0 + 1, y=y)
    np.savez(folder / "own_label.npz", X=x, y=np.arange(200))
    np.savez(folder / "two_labels.npz", X=x, y=np.column_stack([y, y]))
    np.savez(folder / "nan_label.npz", X=x, y=np.where(y == 3, np.nan, y))
    np.savez(folder / "three_classes.npz", X=x, y=y % 3)
    for name, rows in {"wide": [[0, 3]], "far": [[0, 60, 1]], "low": [[0, 1, -1]], "none": [[0, 1, 0]]}.items():
        np.savez(folder / f"qrels_{name}.npz", X=X[200:260], Q=X[:2], qrels=np.array(rows))
    (folder / "garbage.npz").write_bytes(rng.bytes(500))
    (folder / "garbage.npy").write_bytes(rng.bytes(500))
    (folder / "data.txt").write_text("1 2\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with data, two models, their codes and indexes, all made by the commands."""
    folder = tmp_path_factory.mktemp("cli")
    write_data(folder)
    done("fit", folder / "train.npz", "-o", folder / "m", "--bits", 16)
    done("fit", folder / "train.npz", "-o", folder / "w", "--bits", 12, "--method", "cghash:n_near=5,n_far=9")
    for model in "mw":
        codes, index = folder / f"{model}.npy", folder / f"{model}.index"
        done("encode", folder / model, folder / "x.npy", "-o", codes)
        done("index", codes, "-o", index, "--model", folder / model)
    damaged = bytearray((folder / "m").read_bytes())
    (folder / "damaged").write_bytes(damaged[: len(damaged) // 2])
    return folder


@pytest.fixture
def here(place, monkeypatch):
    """`place` as the current folder."""
    monkeypatch.chdir(place)
    return place


@pytest.mark.slow
def test_fit_equals_the_library(here):
    expected = StructHash(n_bits=16, random_state=0).fit(X[:200], Y[:200])
    model = load_model("m")
    np.testing.assert_array_equal(model.encode(X), expected.encode(X))
    np.testing.assert_array_equal(np.load("m.npy"), expected.encode(X[200:500]))
    weighted = CGHash(12, n_near=5, n_far=9, random_state=0).fit(X[:200], Y[:200])
    np.testing.assert_array_equal(load_model("w").weights_, weighted.weights_)


def test_search_equals_the_library(here):
    for name in "mw":
        model = load_model(name)
        index = Exact(model.n_bits_, model.search_weights_)
        index.add(model.encode(X[200:500]))
        distances, ids = index.search(model.encode_queries(X[:2]), 4)
        options = ("--model", name, "-k", 4)
        found = machine("search", f"{name}.index", "judged.npz", *options)
        assert found["bits"] == model.n_bits_
        assert found["k"] == 4
        assert [each["ids"] for each in found["results"]] == ids.tolist()
        assert [each["distances"] for each in found["results"]] == distances.tolist()
    assert model.search_weights_ is not None


def test_search_files_and_tables(here, tmp_path):
    index, codes = load_index("m.index"), np.load("m.npy")
    text = done("search", "m.index", "m.npy", "-k", 2, "-o", tmp_path / "o.npz")
    assert "... and 297 more queries" in text
    with np.load(tmp_path / "o.npz") as found:
        np.testing.assert_array_equal([found["distances"], found["ids"]], index.search(codes, 2))
    machine("search", "m.index", "m.npy", "--radius", 1, "-o", tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as found:
        for got, expected in zip(found.values(), index.radius(codes, 1), strict=True):
            np.testing.assert_array_equal(got, expected)
    lines = done("search", "m.index", "m.npy", "--radius", 1).splitlines()  # no terminal: all of them
    lims, distances, ids = index.radius(codes, 1)
    rows = [(q, r + 1) for q, n in enumerate(np.diff(lims).tolist()) for r in range(n)]
    expected = [(*row, i, d) for row, i, d in zip(rows, ids.tolist(), distances.tolist(), strict=True)]
    assert [tuple(map(int, line.split())) for line in lines[1:]] == expected
    assert os.listdir(tmp_path) == ["o.npz"]


def test_more_neighbours_than_codes(here, tmp_path):
    np.save(tmp_path / "two.npy", np.load("m.npy")[:2])
    done("index", tmp_path / "two.npy", "-o", tmp_path / "i")
    found = machine("search", tmp_path / "i", tmp_path / "two.npy")
    assert [sorted(each["ids"]) for each in found["results"]] == [[0, 1], [0, 1]]


def test_prefix_ids_and_backend(here, tmp_path):
    codes, out = tmp_path / "c.npy", tmp_path / "i"
    assert machine("encode", "w", "x.npy", "-o", codes, "--bits", 5)["bits"] == 5
    np.testing.assert_array_equal(np.load(codes), load_model("w").encode(X[200:500], 5))
    done("index", codes, "-o", out, "--model", "w", "--bits", 5)
    np.testing.assert_array_equal(load_index(out).weights, load_model("w").weights_at(5))
    assert len(machine("search", out, "judged.npz", "--model", "w")["results"]) == 2
    facts = machine("index", codes, "-o", out, "--bits", 5, "--backend", "flat", "--ids", "ids.npy")
    assert facts == {"codes": 300, "bits": 5, "backend": "flat", "weighted": False, "file": str(out)}
    assert type(load_index(out)).__name__ == "Flat"
    assert machine("search", out, codes, "-k", 1)["results"][0]["ids"][0] % 10 == 0
    done("index", codes, "-o", out)
    assert load_index(out).n_bits == 8


def test_encode_queries(here, tmp_path):
    model, m, q = load_model("m"), tmp_path / "m", tmp_path / "q.npy"
    model.query_powers_[:] = 1.0
    model.save(m)
    facts = machine("encode", m, "judged.npz", "-o", q, "--queries")
    assert facts == {"rows": 2, "bits": 16, "bytes": 4, "coded as": "queries", "file": str(q)}
    np.testing.assert_array_equal(np.load(q), model.encode_queries(X[:2]))
    done("encode", m, "x.npy", "-o", q, "--queries")  # a file of queries alone
    np.testing.assert_array_equal(np.load(q), model.encode_queries(X[200:500]))
    assert machine("encode", m, "x.npy", "-o", q)["coded as"] == "database"
    assert (model.encode_queries(X[200:500]) != np.load(q)).any()


def test_fit_from_csv_and_without_labels(here, tmp_path):
    facts = machine("fit", "train.csv", "-o", tmp_path / "m", "--bits", 3, "--seed", 5)
    assert (facts["rows"], facts["features"], facts["bits"]) == (200, 64, 3)
    assert facts["objective"] > 0
    assert facts["seconds"] > 0
    assert load_model(tmp_path / "m").random_state == 5
    text = done("fit", "x.npy", "-o", tmp_path / "m", "--method", "lsh")
    assert "objective" not in text
    assert type(load_model(tmp_path / "m")).__name__ == "LSH"


@pytest.mark.parametrize("method", names("baselines"))
def test_fit_with_every_peer(here, tmp_path, method):
    facts = machine("fit", "train.csv", "-o", tmp_path / "m", "--bits", 4, "--method", method)
    assert facts["bits"] == load_model(tmp_path / "m").n_bits_ == 4


def test_fit_with_two_lengths(here, tmp_path):
    options = ("-o", tmp_path / "m", "--bits", 12, "--method", "binary_quantization:n_bits=4")
    result = run("fit", "x.npy", *options)
    assert (result.exit_code, (tmp_path / "m").exists()) == (2, False)
    assert "give the length of the code once" in result.stderr


@pytest.mark.parametrize("method", ["structhash", "cghash"])
def test_fit_from_judgements(here, tmp_path, method):
    cls = {"structhash": StructHash, "cghash": CGHash}[method]
    facts = machine("fit", "judged.npz", "-o", tmp_path / "m", "--bits", 4, "--method", method)
    assert (facts["rows"], facts["bits"]) == (60, 4)
    qrels = Qrels(np.load("judged.npz")["qrels"], X[:2])
    expected = cls(4, random_state=0).fit(X[200:260], qrels)
    np.testing.assert_array_equal(load_model(tmp_path / "m").encode(X[:50]), expected.encode(X[:50]))
    both = {"X": X[200:260], "Q": X[:2], "qrels": np.load("judged.npz")["qrels"], "y": Y[200:260]}
    np.savez(tmp_path / "both.npz", **both)  # labels come first
    done("fit", tmp_path / "both.npz", "-o", tmp_path / "m", "--bits", 4, "--method", method)
    expected = cls(4, random_state=0).fit(X[200:260], Y[200:260])
    np.testing.assert_array_equal(load_model(tmp_path / "m").encode(X[:50]), expected.encode(X[:50]))


@pytest.mark.slow
def test_fit_from_judgements_that_help_or_do_not(here, tmp_path):
    rng = np.random.default_rng(0)
    helps = [
        (q, d, 1) for q in range(60) for d in rng.permutation(np.flatnonzero(Y[:300] == Y[q]))[:9] if d != q
    ]
    np.savez(tmp_path / "helps.npz", X=X[:300], qrels=np.array(helps))  # queries are rows
    done("fit", tmp_path / "helps.npz", "-o", tmp_path / "m", "--bits", 8)
    expected = StructHash(8, random_state=0).fit(X[:300], Qrels(np.array(helps)))
    np.testing.assert_array_equal(load_model(tmp_path / "m").encode(X), expected.encode(X))
    assert expected.embedding_ is None
    facts = machine("info", tmp_path / "m")
    assert (facts["ranking"], "embedding" in facts) == ("sndcg", False)
    facts = machine("info", "m")
    assert (facts["embedding"], "ranking" in facts) == ("posterior", False)
    done("fit", "judged.npz", "-o", tmp_path / "m", "--bits", 4, "--method", "structhash:embedding=cosine")
    expected = StructHash(4, embedding="cosine", random_state=0).fit(X[200:260])
    np.testing.assert_array_equal(load_model(tmp_path / "m").encode(X), expected.encode(X))


@pytest.mark.parametrize("method", ["structhash:embedding=manifold", "structhash:embedding=metric|manifold"])
def test_fit_with_unlabeled_rows(here, tmp_path, method):
    words = ("-o", tmp_path / "m", "--bits", 4, "--method", method, "--unlabeled", "x.npy")
    facts = machine("fit", "train.npz", *words)
    model = load_model(tmp_path / "m")
    assert facts["embedding"] == model.embedding
    expected = StructHash(4, embedding=model.embedding, random_state=0).fit(
        X[:200], Y[:200], unlabeled=X[200:500]
    )
    np.testing.assert_array_equal(model.encode(X), expected.encode(X))


@pytest.mark.parametrize("data", ["x.npy", "test.npz"])
def test_fit_from_neighbours(here, tmp_path, data):
    machine("fit", data, "-o", tmp_path / "m", "--bits", 4, "--neighbours")
    expected = StructHash(4, random_state=0).fit(X[200:500], Neighbours())
    np.testing.assert_array_equal(load_model(tmp_path / "m").encode(X[:50]), expected.encode(X[:50]))


def test_fit_chooses(here, tmp_path):
    words = ("--bits", 4, "--method", "structhash:ranking=auc,C=3|30")
    facts = machine("fit", "train.npz", "-o", tmp_path / "m", *words)
    assert "StructHash(" in facts["method"]
    assert load_model(tmp_path / "m").ranking == "auc"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "encoder", "words"),
    [
        (
            "structhash",
            StructHash(6),
            ["as set", "start=several", "ranking=sndcg,family=rbf"],
        ),
        ("cghash:C=30", CGHash(6, C=30), ["as set", "C=3", "C=300", "family=rbf"]),
    ],
)
def test_fit_tunes_on_training_rows(here, tmp_path, method, encoder, words):
    options = ("-o", tmp_path / "m", "--bits", 6, "--seed", 2, "--tune", 600, "--method", method)
    facts = machine("fit", "train.npz", *options)
    grid = [each.set_params(random_state=2) for _, each in alternatives(encoder)]
    learn, judge = split(200, 2)
    scores = [clone(each).fit(X[learn], Y[learn]).score(X[judge], Y[judge]) for each in grid]
    best = int(np.argmax(scores))
    assert [line["settings"] for line in facts["tried"]] == words
    assert [line["map"] for line in facts["tried"]] == scores
    assert [line["chosen"] for line in facts["tried"]] == [place == best for place in range(len(words))]
    assert facts["method"] == repr(grid[best])
    model, expected = load_model(tmp_path / "m"), grid[best].fit(X[:200], Y[:200])
    assert model.get_params() == expected.get_params()
    np.testing.assert_array_equal(model.encode(X), expected.encode(X))


def test_fit_says_what_it_had_no_time_to_try(here, tmp_path):
    options = ("fit", "train.npz", "-o", tmp_path / "m", "--bits", 4, "--method", "cghash", "--tune", 1e-9)
    first, *others = machine(*options)["tried"]
    assert (first["settings"], first["chosen"], first["map"] > 0) == ("as set", True, True)
    assert others == [
        {"settings": words, "map": None, "chosen": False} for words in ("C=30", "C=3000", "family=rbf")
    ]
    lines = done(*options).splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["tried", "held-out", "mAP"],
        ["as", "set", f"{first['map']:.4g}", "chosen"],
        ["C=30", "no", "time", "left"],
        ["C=3000", "no", "time", "left"],
    ]
    assert lines[5].startswith("method ")
    assert load_model(tmp_path / "m").C == 300


def test_fit_without_tune_tries_nothing(here, tmp_path):
    assert "tried" not in machine("fit", "train.npz", "-o", tmp_path / "m", "--bits", 2)


def test_fit_chooses_C(here, tmp_path):
    options = ("-o", tmp_path / "m", "--bits", 4, "--method", "cghash:C=auto")
    machine("fit", "train.npz", *options)
    assert load_model(tmp_path / "m").C_ == CGHash(4, C="auto", random_state=0).fit(X[:200], Y[:200]).C_


def test_evaluate_equals_the_library(here, tmp_path):
    words = ("--queries", 40, "--seed", 3, "--measure", "map,precision@5", "--measure", "pr_area")
    found = machine("evaluate", "w", "test.npz", *words, "-o", tmp_path / "e.json")
    split = seen_classes(Y[200:500], 3, 40)
    model = load_model("w")
    codes = [model.encode(X[200:500][rows]) for rows in split[1:]]
    relevance = same_label(*(Y[200:500][rows] for rows in split[1:]))
    for line, weights in zip(found["lines"], (None, model.weights_), strict=True):
        scores = retrieval(code_blocks(*codes, relevance, weights), ["map", "precision@5", "pr_area"])
        assert line["mean"] == pytest.approx(scores.mean)
    assert [line["distance"] for line in found["lines"]] == ["plain", "weighted"]
    assert (found["n_queries"], found["n_database"], found["relevance"]) == (40, 260, "labels")
    assert (found["model"], found["data"]) == ("w", "test.npz")
    assert json.loads((tmp_path / "e.json").read_text())["lines"] == found["lines"]
    text = done("evaluate", "m", "test.npz")
    assert "weighted" not in text
    assert all(name in text for name in MEASURES)


def test_evaluate_by_judgements(here):
    found = machine("evaluate", "m", "judged.npz", "--ties", "id")
    model, qrels = load_model("m"), np.load("judged.npz")["qrels"]
    blocks = code_blocks(model.encode_queries(X[:2]), model.encode(X[200:260]), judged(qrels, 2, 60))
    assert found["lines"][0]["mean"] == pytest.approx(retrieval(blocks, ties="id").mean)
    assert (found["relevance"], found["n_queries"]) == ("judgements", 2)


def test_compare(here, tmp_path):
    words = ("--methods", "structhash:ranking=auc,C=3,lsh,float", "--bits", "4,8,8", "--seeds", "0,1")
    sizes = ("--queries", 30, "--train", 60, "--measures", "map", "-o", tmp_path / "r.json")
    text = done("compare", here / "test.npz", *words, *sizes)
    assert [line.split()[0] for line in text.splitlines()[4:-1]] == ["structhash:ranking=auc,C=3"] * 2 + [
        "lsh",
        "lsh",
        "float",
    ]
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["data"] == "test.npz"
    assert found["options"]["bits"] == [4, 8]
    assert found["options"]["methods"] == ["structhash:ranking=auc,C=3", "lsh", "float"]
    assert set(found["versions"]) == {"structhash", "numpy", "scipy", "scikit-learn", "numba"}
    assert found["date"].startswith("20")
    assert all(line["seeds"] == [0, 1] for line in found["lines"])
    assert str(tmp_path) not in (tmp_path / "r.json").read_text()


@pytest.mark.slow
def test_compare_all_unseen(here):
    words = ("--methods", "all", "--bits", 8, "--seeds", 0, "--train", 60, "--protocol", "unseen")
    found = machine("compare", "test.npz", *words)
    assert found["options"]["methods"] == every_method()
    assert {line["method"] for line in found["lines"]} == set(every_method())
    assert found["options"]["train"] == 60


@pytest.mark.slow
def test_compare_judged(here, tmp_path):
    qrels = np.array([[q, j, int(Y[j + 200] == Y[q])] for q in range(10) for j in range(60)])
    np.savez(tmp_path / "d.npz", X=X[200:260], Q=X[:10], qrels=qrels)
    words = ("--methods", "structhash:n_near=5,lsh,float", "--bits", 4, "--seeds", 0, "--measures", "map")
    found = machine("compare", tmp_path / "d.npz", *words, "--protocol", "judged")
    methods = ["structhash:n_near=5", "lsh", "float"]
    expected = compare_judged(methods, X[200:260], X[:10], qrels, [4], [0], ["map"])
    for line, result in zip(found["lines"], expected, strict=True):
        assert (line["method"], line["mean"]) == (result.method, pytest.approx(result.scores.mean))
    assert found["protocol"] == "judged"


@pytest.mark.slow
def test_compare_all_judged(here, tmp_path):
    qrels = np.array([[q, j, int(Y[j + 200] == Y[q])] for q in range(10) for j in range(60)])
    np.savez(tmp_path / "d.npz", X=X[200:260], Q=X[:10], qrels=qrels)
    words = ("--methods", "all", "--bits", 4, "--seeds", 0, "--measures", "map", "--protocol", "judged")
    methods = machine("compare", tmp_path / "d.npz", *words)["options"]["methods"]
    assert {"structhash", "cghash", "itq", "lsh", "float"} <= set(methods)
    assert not {"one_hot", "cca_itq", "itq@database"} & set(methods)


def test_a_method_with_a_length_and_a_distance_of_its_own(here, tmp_path):
    model = tmp_path / "b"
    done("fit", "train.npz", "-o", model, "--method", "binary_quantization:top=2")
    assert load_model(model).n_bits_ == 64
    found = machine("evaluate", model, "test.npz", "--measures", "map,precision@8")["lines"]
    assert [line["distance"] for line in found] == ["plain", "rescored"]
    (_, expected) = compare(["binary_quantization:top=2"], X[200:500], Y[200:500], seeds=[0], measures=["map"])
    assert found[1]["mean"]["map"] == pytest.approx(
        expected.scores.mean["map"], abs=0.05
    )  # of other rows' mean
    for words in (("--bits", 10), ("--method", "binary_quantization:n_bits=10")):
        done("fit", "train.npz", "-o", model, "--method", "binary_quantization", *words)
        assert load_model(model).n_bits_ == 10


@pytest.mark.slow
def test_demo(tmp_path):
    folder = tmp_path / "out"
    text = done("demo", "-o", folder, "--bits", 6)
    assert f"Saved in {folder}" in text
    assert sorted(os.listdir(folder)) == ["codes.npy", "index.structhash", "model.structhash", "results.json"]
    codes = np.load(folder / "codes.npy")
    assert len(load_index(folder / "index.structhash")) == len(codes)
    assert load_model(folder / "model.structhash").n_bits_ == 6
    found = json.loads((folder / "results.json").read_text())
    lines = [(line["method"], line["distance"]) for line in found["lines"]]
    others = ["one_hot plain", "itq plain", "lsh plain", "float L2"]
    expected = ["structhash plain", "cghash plain", "cghash weighted", *others]
    assert lines == [tuple(line.split()) for line in expected]
    assert all(f"{name} " in text for name in os.listdir(folder))
    again = machine("demo", "-o", folder, "--bits", 6)
    assert again["lines"][0]["mean"] == found["lines"][0]["mean"]


def test_pieces():
    assert machine("pieces").keys() == KINDS.keys()
    for kind in KINDS:
        found = machine("pieces", kind)[kind]
        assert list(found) == names(kind)
        assert all(each["what"] and each["source"] for each in found.values())
    text = done("pieces", "rankings")
    assert "  ndcg:k=100,normalizer=ideal\n" in text
    assert "doi:10.1145/1401890.1401906" in text


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("m", {"kind": "model", "class": "StructHash", "bits": 16, "features": 64, "weighted": False}),
        ("w", {"kind": "model", "class": "CGHash", "bits": 12, "weighted": True}),
        ("m.index", {"kind": "index.exact", "class": "Exact", "bits": 16, "codes": 300, "weighted": False}),
        ("w.index", {"bits": 12, "weighted": True}),
        ("m.npy", {"kind": "codes", "rows": 300, "bits": 16}),
        ("x.npy", {"kind": "data", "rows": 300, "features": 64, "dtype": "float32"}),
        ("ids.npy", {"kind": "array", "shape": [300]}),
        ("train.csv", {"kind": "data", "rows": 200, "features": 64, "classes": 10, "labels": "int64"}),
        ("judged.npz", {"kind": "data", "rows": 60, "queries": 2, "judgements": 3}),
    ],
)
def test_info(here, name, facts):
    found = machine("info", name)
    assert found["file"] == name
    assert {key: found[key] for key in facts} == facts
    assert str(facts[next(reversed(facts))]) in done("info", name)


def test_info_tells_parameters_and_answers(here, tmp_path):
    assert machine("info", "w")["parameters"]["n_far"] == 9
    done("search", "m.index", "m.npy", "-k", 2, "-o", tmp_path / "o.npz")
    assert machine("info", tmp_path / "o.npz")["ids"] == "int64 [300, 2]"


FIT, NEW = ("fit", "train.npz", "-o", "new"), ("-o", "new")
BAD = {
    "missing file": ("fit", "nowhere.npz", *NEW),
    "NaN": ("fit", "nan.npz", *NEW),
    "infinity": ("fit", "inf.npz", *NEW),
    "one class": ("fit", "one_class.npz", *NEW),
    "one class, one_hot": ("fit", "one_class.npz", *NEW, "--method", "one_hot"),
    "one row": ("fit", "one_row.npz", *NEW),
    "constant rows": ("fit", "constant.npz", *NEW),
    "constant rows, itq": ("fit", "constant.npz", *NEW, "--method", "itq"),
    "a label for each row": ("fit", "own_label.npz", *NEW),
    "two labels a row": ("fit", "two_labels.npz", *NEW),
    "label NaN": ("fit", "nan_label.npz", *NEW),
    "no labels": ("fit", "x.npy", *NEW, "--method", "structhash:ranking=auc"),
    "no labels, one_hot": ("fit", "judged.npz", *NEW, "--method", "one_hot"),
    "judgements to choose by": ("fit", "judged.npz", *NEW, "--method", "structhash:C=3|30"),
    "judgements of two columns": ("fit", "qrels_wide.npz", *NEW),
    "judgements beyond the rows": ("fit", "qrels_far.npz", *NEW),
    "none judged relevant": ("fit", "qrels_none.npz", *NEW),
    "neighbours, itq": ("fit", "x.npy", *NEW, "--neighbours", "--method", "itq"),
    "neighbours to choose by": ("fit", "x.npy", *NEW, "--neighbours", "--method", "structhash:C=3|30"),
    "no labels to choose by": ("fit", "x.npy", *NEW, "--method", "itq:max_iter=5|9"),
    "unlabeled of another width": (*FIT, "--unlabeled", "narrow.npz"),
    "unlabeled with NaN": (*FIT, "--unlabeled", "nan.npz"),
    "no unlabeled file": (*FIT, "--unlabeled", "nowhere.npy"),
    "unlabeled, itq": (*FIT, "--unlabeled", "x.npy", "--method", "itq"),
    "unlabeled, a ranking": (*FIT, "--unlabeled", "x.npy", "--method", "structhash:ranking=auc"),
    "tune 0": (*FIT, "--tune", "0"),
    "tune NaN": (*FIT, "--tune", "nan"),
    "tune for ever": (*FIT, "--tune", "inf"),
    "tune, no number": (*FIT, "--tune", "long"),
    "tune, itq": (*FIT, "--tune", "9", "--method", "itq"),
    "tune, one_hot": (*FIT, "--tune", "9", "--method", "one_hot"),
    "tune, alternatives": (*FIT, "--tune", "9", "--method", "structhash:ranking=auc,C=3|30"),
    "tune, neighbours": (*FIT, "--tune", "9", "--neighbours"),
    "tune, no labels": ("fit", "x.npy", *NEW, "--tune", "9"),
    "tune, judgements": ("fit", "judged.npz", *NEW, "--tune", "9"),
    "tune, a label for each row": ("fit", "own_label.npz", *NEW, "--tune", "9"),
    "tune, two labels a row": ("fit", "two_labels.npz", *NEW, "--tune", "9"),
    "tune, unlabeled": (*FIT, "--tune", "9", "--unlabeled", "x.npy"),
    "C=auto by judgements": ("fit", "judged.npz", *NEW, "--method", "cghash:C=auto"),
    "C=auto by neighbours": (*FIT, "--neighbours", "--method", "structhash:C=auto"),
    "unknown extension": ("fit", "data.txt", *NEW),
    "garbage npz": ("fit", "garbage.npz", *NEW),
    "n_bits 0": (*FIT, "--bits", "0"),
    "n_bits no number": (*FIT, "--bits", "many"),
    "n_bits in the method": (*FIT, "--method", "structhash:n_bits=8"),
    "unknown method": (*FIT, "--method", "magic"),
    "unknown setting": (*FIT, "--method", "structhash:magic=3"),
    "unknown ranking": (*FIT, "--method", "structhash:ranking=magic"),
    "bad C": (*FIT, "--method", "structhash:C=-3"),
    "two methods": (*FIT, "--method", "structhash,lsh"),
    "float has no model": (*FIT, "--method", "float"),
    "fit on the database": (*FIT, "--method", "itq@database"),
    "output folder missing": ("fit", "train.npz", "-o", "nowhere/new"),
    "output is a folder": ("fit", "train.npz", "-o", "."),
    "output is the input": ("fit", "train.npz", "-o", "./train.npz"),
    "output is a device": ("fit", "train.npz", "-o", "/dev/null"),
    "no output": ("fit", "train.npz"),
    "damaged model": ("encode", "damaged", "x.npy", "-o", "new.npy"),
    "no model": ("encode", "m.index", "x.npy", "-o", "new.npy"),
    "data as model": ("encode", "train.npz", "x.npy", "-o", "new.npy"),
    "wrong width": ("encode", "m", "narrow.npz", "-o", "new.npy"),
    "more bits than learned": ("encode", "m", "x.npy", "-o", "new.npy", "--bits", "17"),
    "codes need .npy": ("encode", "m", "x.npy", *NEW),
    "codes are floats": ("index", "x.npy", *NEW),
    "bits do not fit codes": ("index", "m.npy", *NEW, "--bits", "17"),
    "model does not fit codes": ("index", "m.npy", *NEW, "--model", "w", "--bits", "7"),
    "unknown backend": ("index", "m.npy", *NEW, "--backend", "magic"),
    "weights in flat": ("index", "w.npy", *NEW, "--model", "w", "--backend", "flat"),
    "ids repeat": ("index", "m.npy", *NEW, "--ids", "twice.npy"),
    "ids are codes": ("index", "m.npy", *NEW, "--ids", "m.npy"),
    "ids are garbage": ("index", "m.npy", *NEW, "--ids", "garbage.npy"),
    "ids missing": ("index", "m.npy", *NEW, "--ids", "nowhere.npy"),
    "no index": ("search", "m", "m.npy"),
    "garbage index": ("search", "garbage.npy", "m.npy"),
    "k 0": ("search", "m.index", "m.npy", "-k", "0"),
    "k and radius": ("search", "m.index", "m.npy", "-k", "3", "--radius", "2"),
    "negative radius": ("search", "m.index", "m.npy", "--radius", "-1"),
    "radius NaN": ("search", "m.index", "m.npy", "--radius", "nan"),
    "vectors as codes": ("search", "m.index", "x.npy"),
    "data as codes": ("search", "m.index", "train.npz"),
    "codes of another width": ("search", "m.index", "ids.npy"),
    "model with fewer bits": ("search", "m.index", "x.npy", "--model", "w"),
    "answers need .npz": ("search", "m.index", "m.npy", *NEW),
    "unknown measure": ("evaluate", "m", "test.npz", "--measure", "magic", *NEW),
    "unknown ties": ("evaluate", "m", "test.npz", "--ties", "magic", *NEW),
    "nothing to judge by": ("evaluate", "m", "x.npy", *NEW),
    "nothing relevant": ("evaluate", "m", "own_label.npz", *NEW),
    "too few rows": ("evaluate", "m", "three_rows.npz", *NEW),
    "qrels of two columns": ("evaluate", "m", "qrels_wide.npz", *NEW),
    "qrels beyond the rows": ("evaluate", "m", "qrels_far.npz", *NEW),
    "negative grade": ("evaluate", "m", "qrels_low.npz", *NEW),
    "nothing judged relevant": ("evaluate", "m", "qrels_none.npz", *NEW),
    "unknown method of compare": ("compare", "test.npz", "--methods", "magic", *NEW),
    "no method": ("compare", "test.npz", "--methods", " ", *NEW),
    "labels on the database": ("compare", "test.npz", "--methods", "cghash@database", *NEW),
    "length of a method": ("compare", "test.npz", "--methods", "lsh:n_bits=8", *NEW),
    "setting of a method": ("compare", "test.npz", "--methods", "lsh,structhash:C=-1", *NEW),
    "unknown protocol": ("compare", "test.npz", "--protocol", "magic", *NEW),
    "unknown measure of compare": ("compare", "test.npz", "--measures", "map,magic", *NEW),
    "bits 0 of compare": ("compare", "test.npz", "--bits", "16,0", *NEW),
    "seeds no numbers": ("compare", "test.npz", "--seeds", "0,,1", *NEW),
    "compare without labels": ("compare", "x.npy", *NEW),
    "no judgements": ("compare", "test.npz", "--protocol", "judged", *NEW),
    "too few judged queries": ("compare", "judged.npz", "--protocol", "judged", "--methods", "lsh", *NEW),
    "one_hot by judgements": ("compare", "judged.npz", "--protocol", "judged", "--methods", "one_hot", *NEW),
    "too few classes": ("compare", "three_classes.npz", "--protocol", "unseen", *NEW),
    "demo into a file": ("demo", "-o", "x.npy"),
    "demo nowhere": ("demo", "-o", "nowhere/new"),
    "unknown kind": ("pieces", "magic"),
    "info of nothing": ("info", "nowhere"),
    "info of garbage": ("info", "garbage.npz"),
    "info of text": ("info", "data.txt"),
    "info of a damaged model": ("info", "damaged"),
    "protocol misspelt": ("compare", "judged.npz", "--protocol", "judge", *NEW),
    "model as data": ("fit", "m", *NEW),
    "index as data": ("encode", "m", "m.index", "-o", "new.npy"),
    "model as codes": ("index", "m", *NEW),
    "index as ids": ("index", "m.npy", *NEW, "--ids", "m.index"),
    "data as index": ("search", "train.npz", "m.npy"),
    "table as index": ("search", "train.csv", "m.npy"),
    "data as model of evaluate": ("evaluate", "test.npz", "m", *NEW),
    "unknown command": ("magic",),
    "unknown option": ("pieces", "--magic"),
}


@pytest.mark.slow
@pytest.mark.parametrize("words", BAD.values(), ids=BAD.keys())
def test_bad_input(here, words):
    before = {path: path.stat().st_mtime_ns for path in here.iterdir()}
    result = run(*words)
    assert result.exit_code == 2, (result.output, result.exception)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command):
    text = done(command, "--help")
    assert f"Example: structhash {command} " in text
    assert "--json" in text


def test_help_of_all():
    text = done("--help")
    assert all(f" {command} " in text for command in COMMANDS)
    assert done() == text
    assert done("--version") == f"structhash {structhash.__version__}\n"
    assert ",".join(MEASURES) == USUAL


def test_warnings_are_lines(here, tmp_path):
    y = Y[:200].copy()
    y[7] = 77
    np.savez(tmp_path / "d.npz", X=X[:200], y=y)
    result = run("fit", tmp_path / "d.npz", "-o", tmp_path / "m", "--bits", 2, "--json", "--method", "cghash")
    assert json.loads(result.stdout)["bits"] == 2
    assert result.stderr.startswith("warning: 1 of 200 points ")
    assert result.stderr.count("\n") == 1


def interrupt_in_compiled_code():
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error


def defect():
    raise ZeroDivisionError


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(("act", "status"), [(interrupt, 130), (interrupt_in_compiled_code, 130), (defect, 1)])
def test_interrupt_and_defect(here, tmp_path, monkeypatch, act, status):
    def steps(self, X, y=None, **more):
        yield
        act()

    monkeypatch.setattr(StructHash, "steps", steps)
    result = run("fit", "train.npz", "-o", tmp_path / "m")
    assert result.exit_code == status
    assert (result.stdout, result.stderr) == ("", "")
    assert isinstance(result.exception, ZeroDivisionError if act is defect else SystemExit)
    assert os.listdir(tmp_path) == []


def test_overwrites_whole_files(here, tmp_path):
    (tmp_path / "c.npy").write_text("old")
    done("encode", "m", "x.npy", "-o", tmp_path / "c.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.load("m.npy"))
    assert os.listdir(tmp_path) == ["c.npy"]


def test_help_loads_nothing_heavy():
    code = """
import sys, structhash.cli.commands
try:
    structhash.cli.commands.app(["fit", "--help"])
finally:
    print(*sys.modules, file=sys.stderr)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "sklearn", "scipy", "faiss"} & set(ended.stderr.split())


@pytest.mark.slow
def test_a_pipe_sees_results_only(here, tmp_path):
    words = ["fit", "train.npz", "-o", str(tmp_path / "m"), "--bits", "2", "--json"]
    ended = subprocess.run([*CLI, *words], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert json.loads(ended.stdout)["file"] == str(tmp_path / "m")
    ended = subprocess.run([*CLI, "info", "nowhere"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "error: no such file: nowhere\n"


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(here):
    with subprocess.Popen([*CLI, "search", "m.index", "m.npy"], stdout=-1, stderr=-1) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_terminal_sees_progress(here, tmp_path):
    ours, theirs = pty.openpty()
    words = [*CLI, "fit", "train.npz", "-o", str(tmp_path / "m"), "--bits", "2"]
    ended = subprocess.run(words, stdout=-1, stderr=theirs, check=True, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    assert b"2 of 2 bits" in os.read(ours, 1 << 16)
    os.close(ours)
    assert Path(tmp_path / "m").is_file()
    assert b"seconds" in ended.stdout


def test_columns_in_another_order_are_refused(tmp_path):
    for name, head in (("a.csv", "p,q,y"), ("b.csv", "q,p,y")):
        lines = [f"{i % 7},{i % 3},{i % 2}" for i in range(40)]
        (tmp_path / name).write_text("\n".join([head, *lines]))
    done("fit", tmp_path / "a.csv", "-o", tmp_path / "m", "--method", "lsh", "--bits", 4)
    done("encode", tmp_path / "m", tmp_path / "a.csv", "-o", tmp_path / "c.npy")
    found = run("encode", tmp_path / "m", tmp_path / "b.csv", "-o", tmp_path / "d.npy")
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert "has the columns q, p; the model needs p, q" in found.stderr
    assert not (tmp_path / "d.npy").exists()


def test_models_do_not_take_the_names_of_data_files(here, tmp_path):
    found = run("fit", here / "train.npz", "-o", tmp_path / "m.npy")
    assert (found.exit_code, os.listdir(tmp_path)) == (2, [])
    assert ".npy files hold data" in found.stderr


def test_far_more_neighbours_than_codes(here):
    assert (
        len(machine("search", "w.index", "judged.npz", "--model", "w", "-k", 10**11)["results"][0]["ids"])
        == 300
    )


def test_an_index_is_searched_with_its_own_model_only(here, tmp_path):
    codes = tmp_path / "c.npy"
    done("encode", here / "m", here / "x.npy", "-o", codes)
    done("index", codes, "-o", tmp_path / "known", "--model", here / "m")
    assert load_index(tmp_path / "known").source == load_model(here / "m").fingerprint()
    found = run("search", tmp_path / "known", here / "x.npy", "--model", here / "w")
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert "made with another model" in found.stderr


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("train.npz --tune 0", "--tune=0.0: give a finite number above 0"),
        ("train.npz --tune 9 --method itq", "--tune: 'itq' has no grid; name structhash or cghash"),
        (
            "train.npz --tune 9 --method cghash:C=3|30",
            "names its own alternatives; leave out the one or the other",
        ),
        ("train.npz --tune 9 --neighbours", "--tune judges by labels, and --neighbours takes none; leave out"),
        ("x.npy --tune 9", "x.npy holds no labels y, but --tune judges by them; use a .npz with y"),
        ("own_label.npz --tune 9", "no two of these 50 have the same label; give more rows of each class"),
        ("judged.npz --method cghash:C=auto", "C='auto' is chosen by labels, one a row"),
    ],
)
def test_errors_of_a_choice_say_what_to_do(here, words, part):
    found = run("fit", *words.split(), "-o", "new")
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert part in found.stderr


FITS, INDEXES = "structhash fit makes models", "structhash index makes indexes"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("search train.npz m.npy", ["train.npz: it is a .npz or other zip file, no index", INDEXES]),
        ("search m m.npy", ["m: it holds 'model', not 'index'", INDEXES]),
        ("search damaged m.npy", ["damaged: it is damaged or no safetensors file", INDEXES]),
        ("encode m.npy x.npy -o new.npy", ["m.npy: it is a .npy file, no model", FITS]),
        ("encode train.csv x.npy -o new.npy", ["train.csv: it is text, no model", FITS]),
        ("encode m.index x.npy -o new.npy", ["m.index: it holds 'index.exact', not 'model'", FITS]),
        ("index m.npy -o new --model train.npz", ["train.npz: it is a .npz or other zip file, no model", FITS]),
        ("evaluate test.npz m", ["test.npz: it is a .npz or other zip file, no model", FITS]),
        ("fit m -o new", ["known are .csv, .npy, .npz", "it is a structhash file of kind 'model'"]),
        ("compare m.index", ["known are .csv, .npy, .npz", "it is a structhash file of kind 'index.exact'"]),
        ("index m -o new", ["it is a structhash file of kind 'model'", "structhash encode makes codes"]),
        ("index x.npy -o new", ["must be uint8", "got float32", "structhash encode makes codes"]),
        ("index m.npy -o new --ids m", ["it is a structhash file of kind 'model', not a .npy file"]),
        ("info data.txt", ["data.txt: it is text", FITS, INDEXES, "data files end in .csv, .npy, .npz"]),
        ("info garbage.npz", ["garbage.npz: it is damaged or holds Python objects", "save arrays of numbers"]),
        ("compare train.npz --protocol unsen", ["--protocol 'unsen': give one of seen, unseen, judged"]),
        ("compare x.npy --protocol unsen", ["--protocol 'unsen': give one of seen, unseen, judged"]),
    ],
)
def test_errors_say_what_was_given_and_what_to_do(here, words, parts):
    found = run(*words.split())
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert [part for part in parts if part not in found.stderr] == [], found.stderr


def test_every_protocol_that_an_error_names_is_taken(here):
    named = (
        run("compare", "x.npy", "--protocol", "magic").stderr.strip().partition("give one of ")[2].split(", ")
    )
    assert {"seen", "unseen", "judged"} == set(named)
    for protocol in named:
        assert "--protocol 'x'" not in run("compare", "x.npy", "--protocol", protocol).stderr


def test_info_tells_what_was_distilled(here, tmp_path):
    assert machine("info", "m")["embedding"] == spell(load_model("m").embedding_) == "posterior"
    assert "embedding   posterior\n" in done("info", "m")
    assert "embedding" not in machine("info", "w")
    for method, learned in (
        ("structhash:embedding=posterior:anchors=50", "posterior:anchors=50"),
        ("structhash:ranking=auc", None),
    ):
        done("fit", "train.npz", "-o", tmp_path / "e", "--bits", 2, "--method", method)
        assert machine("info", tmp_path / "e").get("embedding") == learned


def test_long_lists_of_columns_are_cut(tmp_path):
    names = [f"p{j}" for j in range(40)]
    for file, head in (("a.csv", names), ("b.csv", [*names[:20], "new", *names[21:]])):
        rows = [",".join(str((i * j) % 7) for j in range(41)) for i in range(1, 30)]
        (tmp_path / file).write_text("\n".join([",".join([*head, "y"]), *rows]))
    done("fit", tmp_path / "a.csv", "-o", tmp_path / "m", "--method", "lsh", "--bits", 4)
    found = run("encode", tmp_path / "m", tmp_path / "b.csv", "-o", tmp_path / "d.npy").stderr
    assert "p7, ... (40 in all) in this order; the first to differ is column 21" in found
    assert "p9" not in found
