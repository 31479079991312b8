"""``structhash evaluate``."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import AdditiveHash, load_model, load_reader
from structhash.evaluation import (
    MEASURES,
    code_blocks,
    compare,
    judged_relevance,
    prepared_blocks,
    retrieval,
    same_label,
    seen_classes,
)

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def test_scores_are_those_of_the_library(machine, here, tmp_path):
    words = ("--queries", 40, "--seed", 3, "--measure", "map,precision@5", "--measure", "pr_area")
    found = machine("evaluate", "w", "test.npz", *words, "-o", tmp_path / "e.json")
    split = seen_classes(Y[200:500], 3, 40)
    model = load_model("w")
    codes = [model.encode(X[200:500][rows]) for rows in (split.queries, split.database)]
    relevance = same_label(Y[200:500][split.queries], Y[200:500][split.database])
    for line, weights in zip(found["lines"], (None, model.weights_)):
        scores = retrieval(code_blocks(*codes, relevance, weights), ["map", "precision@5", "pr_area"])
        assert line["mean"] == pytest.approx(scores.mean)
    assert [line["distance"] for line in found["lines"]] == ["plain", "weighted", "real"]
    real = model.prepare_queries(X[200:500][split.queries], reader="real")
    scores = retrieval(prepared_blocks(real, codes[1], relevance), ["map", "precision@5", "pr_area"])
    assert found["lines"][2]["mean"] == pytest.approx(scores.mean)
    assert (found["n_queries"], found["n_database"], found["relevance"]) == (40, 260, "labels")
    assert (found["model"], found["data"]) == ("w", "test.npz")
    assert json.loads((tmp_path / "e.json").read_text())["lines"] == found["lines"]


@pytest.mark.parametrize("bits", [16, 9])
def test_a_fitted_reader_has_a_line(machine, here, tmp_path, bits):
    machine("reader", "m", "x.npy", "-o", tmp_path / "r", "--reader", "tables", "--bits", bits)
    before = machine("evaluate", "m", "judged.npz")["lines"]
    *others, read = machine("evaluate", "m", "judged.npz", "--reader", tmp_path / "r")["lines"]
    assert others == before
    model = load_model("m")
    queries = load_reader(tmp_path / "r", model).prepare(X[:2])
    relevance = judged_relevance(np.load("judged.npz")["qrels"], 2, 60)
    scores = retrieval(prepared_blocks(queries, model.encode(X[200:260], bits), relevance))
    assert read["mean"] == pytest.approx(scores.mean)
    assert read["distance"] == ("reader tables" if bits == 16 else "reader tables, 9 bits")


def test_people_read_a_table(done, here):
    text = done("evaluate", "m", "test.npz")
    assert text.startswith("75 queries against 225 rows by labels, 16 bits\n")
    assert "weighted" not in text
    assert all(name in text for name in MEASURES)


def test_judgements(machine, here):
    found = machine("evaluate", "m", "judged.npz", "--ties", "id")
    model, qrels = load_model("m"), np.load("judged.npz")["qrels"]
    relevance = judged_relevance(qrels, 2, 60)
    blocks = code_blocks(model.encode_queries(X[:2]), model.encode(X[200:260]), relevance)
    assert found["lines"][0]["mean"] == pytest.approx(retrieval(blocks, ties="id").mean)
    assert (found["relevance"], found["n_queries"]) == ("judgements", 2)


def test_a_distance_of_the_methods_own(machine, done, here, tmp_path):
    model = tmp_path / "b"
    done("fit", "train.npz", "-o", model, "--method", "binary_quantization:top=2")
    assert load_model(model).n_bits_ == 64
    found = machine("evaluate", model, "test.npz", "--measures", "map,precision@8")["lines"]
    assert [line["distance"] for line in found] == ["plain", "rescored", "real"]
    (_, expected) = compare(["binary_quantization:top=2"], X[200:500], Y[200:500], seeds=[0], measures=["map"])
    mean_of_other_rows = pytest.approx(expected.scores.mean["map"], abs=0.05)
    assert found[1]["mean"]["map"] == mean_of_other_rows


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("m test.npz --measure magic", ["magic"]),
        ("m test.npz --ties magic", ["magic"]),
        ("m test.npz --reader real", ["--reader real: give the file of a fitted reader"]),
        ("m test.npz --reader r", ["no such file: r"]),
        ("m test.npz --reader w", ["w: it holds 'model', not 'reader'"]),
        ("m x.npy", ["an evaluation needs them (or queries Q and judgements qrels)"]),
        ("m own_label.npz", ["no query shares its label with a row of the database; give more rows"]),
        ("m three_rows.npz", ["give at least 4"]),
        ("m qrels_wide.npz", ["qrels of qrels_wide.npz: ", "give integer rows (query, document, grade)"]),
        ("m qrels_far.npz", ["documents run from 60 to 60; give 0 to 59"]),
        ("m qrels_low.npz", ["grades run from -1 to -1"]),
        ("m qrels_none.npz", ["call no document relevant"]),
        ("test.npz m", ["test.npz: it is a .npz or other zip file, no model", "structhash fit makes models"]),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"evaluate {words} -o new", *parts)


def test_codes_that_are_no_bits_have_one_reader(done, assert_refused, here, tmp_path):
    model = tmp_path / "pq"
    done("fit", "x.npy", "-o", model, "--method", "pq", "--bits", 16)
    words = ("evaluate", model, "test.npz", "--measure", "map")
    assert done(*words, "--reader", "auto") == done(*words)
    message = "--reader real: codes of PQ are numbers, not bits, and each way to read them has a line; leave"
    assert_refused([*words, "--reader", "real"], message)


def test_codes_that_hold_classes_and_rows_are_read_both_ways(machine, here, tmp_path):
    model = AdditiveHash(16, random_state=0).fit(X[:200], Y[:200])
    model.save(tmp_path / "sums")
    found = machine("evaluate", tmp_path / "sums", "test.npz", "--measure", "map")["lines"]
    assert [line["distance"] for line in found] == ["tables", "near"]
    split = seen_classes(Y[200:500], 0)
    queries, rows = X[200:500][split.queries], X[200:500][split.database]
    prepared = model.prepare_queries(queries, reader="near")
    relevance = same_label(Y[200:500][split.queries], Y[200:500][split.database])
    expected = retrieval(prepared_blocks(prepared, model.encode(rows), relevance), ["map"])
    assert found[1]["mean"] == pytest.approx(expected.mean)


def test_queries_and_judgements_come_from_files_of_their_own(machine, here, tmp_path):
    data = np.load("judged.npz")
    np.save(tmp_path / "x.npy", data["X"])
    np.save(tmp_path / "q.npy", data["Q"])
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in data["qrels"]))
    words = ("--query-file", tmp_path / "q.npy", "--qrels", tmp_path / "qrels.txt")
    found, expected = (
        machine("evaluate", "m", tmp_path / "x.npy", *words),
        machine("evaluate", "m", "judged.npz"),
    )
    assert found["lines"] == expected["lines"]
    assert found["relevance"] == expected["relevance"]
    machine("fit", tmp_path / "x.npy", "-o", tmp_path / "a", "--bits", 8, *words)
    machine("fit", "judged.npz", "-o", tmp_path / "b", "--bits", 8)
    assert load_model(tmp_path / "a").fingerprint() == load_model(tmp_path / "b").fingerprint()


def test_several_labels_a_row(machine, assert_refused, here, tmp_path):
    words = ("--queries", 60, "--seed", 2, "--measures", "map,ndcg@5")
    found = machine("evaluate", "m", "several.npz", *words)
    labels = np.load("several.npz")["y"]
    split, model = seen_classes(labels, 2, 60), load_model("m")
    queries = np.array([row for row in split.queries if labels[row].any()])
    relevance = np.array([[int(sum(labels[a] & labels[b])) for b in split.database] for a in queries])
    codes = model.encode_queries(X[200:500][queries]), model.encode(X[200:500][split.database])
    expected = retrieval(code_blocks(*codes, lambda rows: relevance[rows]), ["map", "ndcg@5"])
    assert found["lines"][0]["mean"] == pytest.approx(expected.mean)
    assert (found["n_queries"], found["n_database"], found["relevance"]) == (len(queries), 240, "labels")
    assert len(queries) < 60
    alone = np.zeros((300, 2), int)
    alone[split.queries, 0] = alone[split.database, 1] = alone[split.database[0], 0] = 1
    alone[split.database[0]] = 0
    np.savez(tmp_path / "alone.npz", X=X[200:500], y=alone)
    words = f"evaluate m {tmp_path / 'alone.npz'} --queries 60 --seed 2"
    assert_refused(words, "no query shares its label with a row of the database; give more rows")
