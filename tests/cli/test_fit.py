"""``structhash fit``."""

import json
import tempfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from structhash import AdditiveHash, CGHash, DistilHash, Neighbours, Qrels, StructHash, load_model
from structhash.io import load_codes, read
from structhash.pieces import names
from structhash.training.selection import split

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
OURS = {"distilhash": DistilHash, "structhash": StructHash, "cghash": CGHash}


def assert_same(model, expected):
    """The model of a file encodes as an estimator does."""
    model = load_model(model)
    assert model.get_params() == expected.get_params()
    some = X[:900]  # of 1,000 rows, an encoder asks whether they are like those it has learned from
    np.testing.assert_array_equal(model.encode(some), expected.encode(some))


# what is learned from


@pytest.mark.slow
def test_models_are_those_of_the_library(here):
    assert_same("m", DistilHash(16, random_state=0).fit(X[:200], Y[:200]))
    assert_same("w", CGHash(12, n_near=5, n_far=9, random_state=0).fit(X[:200], Y[:200]))


def test_a_table(machine, here, tmp_path):
    facts = machine("fit", "train.csv", "-o", tmp_path / "m", "--bits", 3, "--seed", 5)
    assert (facts["rows"], facts["features"], facts["bits"]) == (200, 64, 3)
    assert facts["objective"] > 0
    assert facts["seconds"] > 0
    model = load_model(tmp_path / "m")
    assert model.random_state == 5
    assert model.column_names_ == [f"p{j}" for j in range(64)]


def test_rows_alone(machine, done, here, tmp_path):
    text = done("fit", "x.npy", "-o", tmp_path / "m", "--method", "lsh")
    assert "objective" not in text
    assert type(load_model(tmp_path / "m")).__name__ == "LSH"
    assert load_model(tmp_path / "m").column_names_ is None


def test_learning_without_labels_is_said(run, done, here, tmp_path):
    found = run("fit", "x.npy", "-o", tmp_path / "m", "--bits", 4)
    assert (found.exit_code, found.stderr) == (0, "note: no labels found in x.npy: learning without them\n")
    assert_same(tmp_path / "m", DistilHash(4, random_state=0).fit(X[200:500]))
    header = ",".join(f"p{j}" for j in range(64))
    np.savetxt(tmp_path / "x.csv", X[200:260], "%d", ",", header=header, comments="")
    words = ("fit", tmp_path / "x.csv", "-o", tmp_path / "m", "--bits", 2)
    held = "it holds p0, p1, p2, p3, p4, p5, p6, p7, ... (64 in all)"
    where = f"({held}, and labels are y or label; name others by --label)"
    note = f"note: no labels found in {tmp_path / 'x.csv'} {where}: learning without them\n"
    assert run(*words).stderr == note
    assert run(*words, "--method", "lsh").stderr == ""


@pytest.fixture
def table(tmp_path):
    """A table with ids, and with labels in a column that is called neither y nor label."""
    path = tmp_path / "table.csv"
    head = ",".join(["id", *(f"p{j}" for j in range(64)), "target"])
    np.savetxt(
        path, np.column_stack([np.arange(200) * 7, X[:200], Y[:200]]), "%d", ",", header=head, comments=""
    )
    return path


def test_labels_and_ids_are_named(run, machine, table, tmp_path):
    words = ("fit", table, "-o", tmp_path / "m", "--bits", 4)
    for more, question in (
        (
            (),
            "does 'target' hold labels? Give label='target' or label='none' (--label 'target' or --label none)",
        ),
        (("--label", "target"), "are the columns 'id' features? Give ignore=['id'] to leave them out"),
    ):
        found = run(*words, *more)
        assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
        assert question in found.stderr
    assert not (tmp_path / "m").exists()
    facts = machine(*words, "--label", "target", "--ignore", "id")
    assert (facts["features"], facts["labels"]) == (64, "target")
    assert_same(tmp_path / "m", DistilHash(4, random_state=0).fit(X[:200].astype(float), Y[:200]))


def test_a_model_knows_its_columns(run, machine, done, table, tmp_path):
    """Columns that the model has not are left out, aloud, where it encodes, searches and evaluates."""
    m, codes, index = (tmp_path / name for name in ("m", "c", "i"))
    said = "left out the columns id, target, which are no features\n"
    words = ("--bits", 4, "--label", "target", "--ignore", "id", "--unlabeled", table)
    numbered = f"note: no column of ids in {table} (columns left out: id): rows are numbered; "
    numbered += "structhash index --ids FILE takes ids\n"
    for command, note in ((("fit", table, "-o", m, *words), ""), (("encode", m, table, "-o", codes), numbered)):
        found = run(*command)
        assert (found.exit_code, found.stderr) == (0, f"warning: {table}: {said}{note}")
    np.testing.assert_array_equal(load_codes(codes).table, load_model(m).encode(X[:200]))
    done("index", codes, "-o", index, "--model", m)
    answers = ("--ignore", "id", "--label", "target")
    assert (
        machine("search", index, table, "--model", m, "--ignore", "id", "--ignore", "target")["queries"] == 200
    )
    assert machine("evaluate", m, table, *answers, "--queries", 20)["n_queries"] == 20
    assert machine("info", table, "--label", "target", "--ignore", "id")["features"] == 64
    result = machine("compare", table, "--label", "target", "--ignore", "id", "--methods", "lsh", "--bits", 4)
    assert result["features"] == 64


def test_a_first_line_of_numbers(run, machine, here, tmp_path):
    path = tmp_path / "x.csv"
    np.savetxt(path, X[:200], "%d", ",", header=",".join(map(str, range(64))), comments="")
    words = ("fit", path, "-o", tmp_path / "m", "--bits", 2, "--method", "lsh")
    found = run(*words)
    assert found.exit_code == 2
    assert "is it a header or a row? Give header=True or header=False (--header or --no-header)" in found.stderr
    assert machine(*words, "--header")["rows"] == 200
    assert machine(*words, "--no-header")["rows"] == 201
    assert "--header and --no-header contradict each other" in run(*words, "--header", "--no-header").stderr
    assert ".npy files have no such choice" in run("fit", "x.npy", "-o", tmp_path / "n", "--header").stderr


@pytest.mark.slow
@pytest.mark.parametrize("method", names("baselines"))
def test_every_baseline(machine, here, tmp_path, method):
    facts = machine("fit", "train.csv", "-o", tmp_path / "m", "--bits", 4, "--method", method)
    assert facts["bits"] == load_model(tmp_path / "m").n_bits_ == 4


@pytest.mark.parametrize("method", OURS)
def test_judgements(machine, done, here, tmp_path, method):
    facts = machine("fit", "judged.npz", "-o", tmp_path / "m", "--bits", 4, "--method", method)
    assert (facts["rows"], facts["bits"]) == (60, 4)
    qrels = np.load("judged.npz")["qrels"]
    assert facts["judgements"] == ("not used" if method == "distilhash" else "learned from")
    assert_same(tmp_path / "m", OURS[method](4, random_state=0).fit(X[200:260], Qrels(qrels, X[:2])))
    np.savez(tmp_path / "both.npz", X=X[200:260], Q=X[:2], qrels=qrels, y=Y[200:260])  # labels come first
    text = done("fit", tmp_path / "both.npz", "-o", tmp_path / "m", "--bits", 4, "--method", method)
    assert "\njudgements  not used\n" in text
    assert_same(tmp_path / "m", OURS[method](4, random_state=0).fit(X[200:260], Y[200:260]))


def test_facts_say_what_was_taken(done, run, here, tmp_path):
    words = ("-o", tmp_path / "m", "--bits", 2)
    text = done("fit", "train.csv", *words)
    assert "\nfeatures   64 (p0, p1, p2, ..., p61, p62, p63)\nlabels     label\n" in text
    assert " (loss on the training points, lower is better)\n" in text
    assert "labels    y (not used by itq)\n" in done("fit", "train.npz", *words, "--method", "itq")
    mixed = done("fit", "train.npz", "-o", tmp_path / "m", "--bits", 24)
    assert "\nrow bits   1 (they follow the rows themselves: order inside a class)\n" in mixed
    near = ("--method", "cghash", "--neighbours")
    assert "labels     y (not used by cghash)\n" in done("fit", "train.npz", *words, *near)
    np.savez(tmp_path / "own.npz", X=X[:60], qrels=np.array([[0, 3, 2], [0, 5, 1], [1, 7, 1]]))
    said = f"note: {tmp_path / 'own.npz'} holds no queries Q: rows of X are the queries of qrels\n"
    assert said in run("fit", tmp_path / "own.npz", *words).stderr


def test_judgements_are_drawn_as_the_settings_say(machine, here, tmp_path):
    machine("fit", "judged.npz", "-o", tmp_path / "m", "--bits", 4, "--method", "structhash:n_near=1,n_far=2")
    qrels = Qrels(np.load("judged.npz")["qrels"], X[:2], n_near=1, n_far=2)
    assert_same(tmp_path / "m", StructHash(4, n_near=1, n_far=2, random_state=0).fit(X[200:260], qrels))


def test_an_embedding_that_is_named_learns_from_the_documents_alone(run, here, tmp_path):
    run("fit", "judged.npz", "-o", tmp_path / "m", "--bits", 4, "--method", "distilhash:embedding=centered")
    assert_same(tmp_path / "m", DistilHash(4, embedding="centered", random_state=0).fit(X[200:260]))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["distilhash:embedding=manifold", "distilhash:embedding=metric|manifold"])
def test_unlabeled_rows(machine, here, tmp_path, method):
    words = ("-o", tmp_path / "m", "--bits", 4, "--method", method, "--unlabeled", "x.npy")
    facts = machine("fit", "train.npz", *words)
    embedding = load_model(tmp_path / "m").embedding
    assert facts["embedding"] == embedding
    expected = DistilHash(4, embedding=embedding, random_state=0)
    assert_same(tmp_path / "m", expected.fit(X[:200], Y[:200], unlabeled=X[200:500]))


def test_unlabeled_rows_beside_labels_for_sums(machine, here, tmp_path):
    words = ("-o", tmp_path / "m", "--bits", 8, "--method", "additivehash", "--unlabeled", "x.npy")
    assert machine("fit", "train.npz", *words)["embedding"] == "mixture"
    assert_same(tmp_path / "m", AdditiveHash(8, random_state=0).fit(X[:200], Y[:200], unlabeled=X[200:500]))


@pytest.mark.parametrize("data", ["x.npy", "test.npz"])
def test_neighbours(machine, here, tmp_path, data):
    words = ("--bits", 4, "--neighbours", "--method", "structhash:n_far=20")
    machine("fit", data, "-o", tmp_path / "m", *words)
    expected = StructHash(4, n_far=20, random_state=0)
    assert_same(tmp_path / "m", expected.fit(X[200:500], Neighbours(n_far=20)))


# what is said about it


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train.npz", {"embedding": "posterior", "because": "there are labels"}),
        (
            "x.npy",
            {
                "embedding": "centered",
                "because": "there are no labels (ITQ is better on some such data: compare)",
            },
        ),
        (
            "train.npz --unlabeled few.npy",
            {"embedding": "posterior", "because": "the unlabeled rows are of the labelled classes"},
        ),
        (
            "two.npz --unlabeled x.npy",
            {"embedding": "metric", "because": "unlabeled rows are of classes without labels"},
        ),
        ("judged.npz", {"embedding": "centered", "because": "judgements do not help held-out queries"}),
        (
            "train.npz --method distilhash:embedding=metric",
            {"embedding": "metric", "queries": "coded like rows"},
        ),
        ("train.npz --method structhash:ranking=auc", {"ranking": "auc", "C": 30.0}),
        ("train.npz --method cghash:C=30", {"loss": "squared_hinge", "C": 30}),
        ("train.npz --method lsh", {}),
    ],
)
def test_what_was_learned_and_why(run, machine, here, tmp_path, words, said):
    np.save(here / "few.npy", X[:200][::2])
    np.savez(here / "two.npz", X=X[:300][Y[:300] < 2], y=Y[:300][Y[:300] < 2])
    found = run("fit", *words.split(), "-o", tmp_path / "m", "--bits", 3, "--json")
    facts = json.loads(found.stdout)
    told = {"embedding", "because", "queries", "ranking", "loss", "C"}
    assert {name: facts[name] for name in said} == said
    assert (facts.keys() & told) - {"queries"} == said.keys() - {"queries"}
    assert (
        machine("info", tmp_path / "m").items() >= {name: facts[name] for name in facts.keys() & told}.items()
    )


@pytest.mark.slow
def test_judgements_that_help(run, here, tmp_path):
    rng = np.random.default_rng(0)
    helps = [
        (q, d, 1) for q in range(60) for d in rng.permutation(np.flatnonzero(Y[:300] == Y[q]))[:9] if d != q
    ]
    np.savez(tmp_path / "helps.npz", X=X[:300], qrels=np.array(helps))  # queries are rows
    facts = json.loads(run("fit", tmp_path / "helps.npz", "-o", tmp_path / "m", "--bits", 8, "--json").stdout)
    assert_same(tmp_path / "m", DistilHash(8, random_state=0).fit(X[:300], Qrels(np.array(helps))))
    assert (facts["ranking"], facts["because"]) == ("sndcg", "judgements help held-out queries")
    assert "embedding" not in facts


def test_people_read_it_line_by_line(done, here, tmp_path):
    text = done("fit", "train.npz", "-o", tmp_path / "m", "--bits", 3)
    assert "\nembedding  posterior\nbecause    there are labels\n" in text


# lengths


@pytest.mark.parametrize("words", [("--bits", 10), ("--method", "binary_quantization:n_bits=10")])
def test_a_length_of_its_own_may_be_changed(done, here, tmp_path, words):
    done("fit", "train.npz", "-o", tmp_path / "m", "--method", "binary_quantization", *words)
    assert load_model(tmp_path / "m").n_bits_ == 10


def test_a_length_is_given_once(assert_refused):
    words = "fit x.npy -o new --bits 12 --method binary_quantization:n_bits=4"
    assert_refused(words, "give the length of the code once")


# choices


def test_alternatives(machine, here, tmp_path):
    words = ("--bits", 4, "--method", "structhash:ranking=auc,C=3|30")
    facts = machine("fit", "train.npz", "-o", tmp_path / "m", *words)
    assert "StructHash(" in facts["method"]
    assert load_model(tmp_path / "m").ranking == "auc"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "encoder", "words"),
    [
        ("distilhash", DistilHash(6), ["as set", "start=several", "structhash:family=rbf"]),
        ("cghash:C=30", CGHash(6, C=30), ["as set", "C=3", "C=300", "family=rbf"]),
    ],
)
def test_tune_tries_settings_on_training_rows(machine, here, tmp_path, method, encoder, words):
    options = ("-o", tmp_path / "m", "--bits", 6, "--seed", 2, "--tune", 600, "--method", method)
    facts = machine("fit", "train.npz", *options)
    grid = [each.set_params(random_state=2) for _, each in encoder.alternatives()]
    learn, judge = split(200, 2)
    scores = [clone(each).fit(X[learn], Y[learn]).score(X[judge], Y[judge]) for each in grid]
    best = int(np.argmax(scores))
    assert [line["settings"] for line in facts["tried"]] == words
    assert [line["map"] for line in facts["tried"]] == scores
    assert [line["chosen"] for line in facts["tried"]] == [place == best for place in range(len(words))]
    assert facts["method"] == repr(grid[best])
    assert_same(tmp_path / "m", grid[best].fit(X[:200], Y[:200]))


def test_tune_says_what_it_had_no_time_to_try(machine, done, here, tmp_path):
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


def test_without_tune_nothing_is_tried(machine, here, tmp_path):
    assert "tried" not in machine("fit", "train.npz", "-o", tmp_path / "m", "--bits", 2)


def test_the_C_that_was_chosen_is_told(machine, here, tmp_path):
    facts = machine("fit", "train.npz", "-o", tmp_path / "m", "--bits", 4, "--method", "cghash:C=auto")
    expected = CGHash(4, C="auto", random_state=0).fit(X[:200], Y[:200])
    assert facts["C"] == load_model(tmp_path / "m").C_ == expected.C_


# bad input

BAD = {
    "missing file": ("nowhere.npz", "no such file"),
    "NaN": ("nan.npz", "NaN"),
    "infinity": ("inf.npz", "infinite"),
    "one class": ("one_class.npz", ""),
    "one class, one_hot": ("one_class.npz --method one_hot", ""),
    "one row": ("one_row.npz", ""),
    "constant rows": ("constant.npz", ""),
    "constant rows, itq": ("constant.npz --method itq", ""),
    "a label for each row": ("own_label.npz", ""),
    "two labels a row": ("two_labels.npz", ""),
    "two labels a row, cghash": ("two_labels.npz --method cghash", "give one label a row"),
    "label NaN": ("nan_label.npz", "NaN"),
    "no labels": ("x.npy --method structhash:ranking=auc", "x.npy holds no labels y"),
    "no labels for an embedding": ("x.npy --method distilhash:embedding=posterior", "learns from them"),
    "no labels, one_hot": ("judged.npz --method one_hot", "'one_hot' learns from them"),
    "judgements to choose by": ("judged.npz --method structhash:C=3|30", "holds no labels y"),
    "judgements of two columns": ("qrels_wide.npz", "qrels of qrels_wide.npz: "),
    "judgements beyond the rows": ("qrels_far.npz", "documents run from 60 to 60; give 0 to 59"),
    "none judged relevant": ("qrels_none.npz", "call no document relevant; give grades above 0"),
    "neighbours, default": (
        "x.npy --neighbours",
        "'distilhash' cannot learn from them; name structhash or cghash",
    ),
    "neighbours, itq": ("x.npy --neighbours --method itq", "cannot learn from them"),
    "neighbours to choose by": ("x.npy --neighbours --method structhash:C=3|30", "cannot learn from them"),
    "no labels to choose by": ("x.npy --method itq:max_iter=5|9", "holds no labels y"),
    "unlabeled of another width": ("train.npz --unlabeled narrow.npz", "unlabeled"),
    "unlabeled with NaN": ("train.npz --unlabeled nan.npz", "NaN"),
    "no unlabeled file": ("train.npz --unlabeled nowhere.npy", "no such file: nowhere.npy"),
    "unlabeled, itq": ("train.npz --unlabeled x.npy --method itq", "not learn from such rows; name distilhash"),
    "unlabeled, a ranking": ("train.npz --unlabeled x.npy --method structhash:ranking=auc", "name distilhash"),
    "tune 0": ("train.npz --tune 0", "--tune=0.0: give a finite number above 0"),
    "tune NaN": ("train.npz --tune nan", "--tune=nan"),
    "tune for ever": ("train.npz --tune inf", "--tune=inf"),
    "tune, no number": ("train.npz --tune long", "--tune"),
    "tune, itq": ("train.npz --tune 9 --method itq", "no grid; name distilhash, structhash or cghash"),
    "tune, one_hot": ("train.npz --tune 9 --method one_hot", "has no grid"),
    "tune, alternatives": (
        "train.npz --tune 9 --method cghash:C=3|30",
        "names its own alternatives; leave out",
    ),
    "tune, neighbours": (
        "train.npz --tune 9 --neighbours",
        "--tune judges by labels, and --neighbours takes none; leave out",
    ),
    "tune, no labels": (
        "x.npy --tune 9",
        "x.npy holds no labels y, but --tune judges by them; use a .npz or .csv with y",
    ),
    "tune, judgements": ("judged.npz --tune 9", "--tune judges by them"),
    "tune, a label for each row": (
        "own_label.npz --tune 9",
        "no two of these 50 have the same label; give more",
    ),
    "tune, two labels a row": ("two_labels.npz --tune 9", "give one label a row"),
    "tune, unlabeled": ("train.npz --tune 9 --unlabeled x.npy", "leave out the one or the other"),
    "C=auto by judgements": ("judged.npz --method cghash:C=auto", "'cghash:C=auto' learns from them"),
    "C=auto by neighbours": (
        "train.npz --neighbours --method structhash:C=auto",
        "C='auto' is chosen by labels",
    ),
    "unknown extension": ("data.txt", "known are .csv, .csv.gz, .hdf5"),
    "model as data": ("m", "it is a structhash file of kind 'model'"),
    "garbage": ("garbage.npz", ""),
    "n_bits 0": ("train.npz --bits 0", "--bits"),
    "n_bits no number": ("train.npz --bits many", "--bits"),
    "n_bits in the method": ("train.npz --method structhash:n_bits=8", "give the length of the code by --bits"),
    "unknown method": ("train.npz --method magic", "no method is called 'magic'; there are distilhash"),
    "unknown setting": ("train.npz --method structhash:magic=3", "magic=3"),
    "unknown ranking": ("train.npz --method structhash:ranking=magic", "magic"),
    "bad C": ("train.npz --method structhash:C=-3", "C=-3"),
    "two methods": ("train.npz --method distilhash,lsh", "name one method that learns from DATA"),
    "float has no model": ("train.npz --method float", "name one method that learns from DATA"),
    "fit on the database": ("train.npz --method itq@database", "name one method that learns from DATA"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("words", "part"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused(assert_refused, words, part):
    assert_refused(f"fit {words} -o new", part)


def test_models_do_not_take_the_names_of_data_files(assert_refused):
    assert_refused("fit train.npz -o new.npy", ".npy files hold data")


def test_a_model_that_cannot_be_saved_is_saved_elsewhere(run, here, tmp_path, monkeypatch):
    """The folder is removed while the model is trained."""
    folder, other = tmp_path / "folder", tmp_path / "tmp"
    folder.mkdir()
    other.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(other))
    steps = DistilHash.steps

    def steps_and_loss(self, X, y=None, **more):
        yield from steps(self, X, y, **more)
        folder.rmdir()

    monkeypatch.setattr(DistilHash, "steps", steps_and_loss)
    result = run("fit", "train.npz", "-o", folder / "m", "--bits", "4")
    assert result.exit_code == 1
    (rescued,) = other.glob("structhash-*/model")
    said = f"the folder {folder} does not exist; create it first; the model is in {rescued}, move it from there"
    assert result.stderr == f"error: cannot write {folder / 'm'}: {said}\n"
    assert load_model(rescued).n_bits_ == 4
    folder.mkdir()
    other.joinpath("gone").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(other / "gone"))
    result = run("fit", "train.npz", "-o", folder / "m", "--bits", "4")
    assert result.stderr.endswith("create it first; the model is lost\n")


@pytest.mark.parametrize("method", ["structhash:n_near=5,n_far=9", "cghash:n_near=5,n_far=9"])
def test_several_labels_a_row_are_learned_from(run, here, tmp_path, method):
    result = run("fit", "several.npz", "-o", tmp_path / "m", "--method", method, "--bits", 6)
    data = read("several.npz")
    n_without = (data.y.sum(axis=1) == 0).sum()
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1), result.output
    assert f"warning: {n_without} of 300 points have no relevant or no irrelevant partner" in result.stderr
    kind = StructHash if method.startswith("structhash") else CGHash
    expected = kind(6, n_near=5, n_far=9, random_state=0).fit(data.X, data.y)
    np.testing.assert_array_equal(load_model(tmp_path / "m").encode(data.X), expected.encode(data.X))


def test_distilhash_learns_from_several_labels_a_row_and_its_codes_are_searched(machine, here, tmp_path):
    said = machine("fit", "several.npz", "-o", tmp_path / "m", "--bits", 16)
    assert (said["embedding"], said["because"]) == ("multilabel", "rows have several labels")
    data = read("several.npz")
    expected = DistilHash(16, random_state=0).fit(data.X, data.y).encode(data.X)
    machine("encode", tmp_path / "m", "several.npz", "-o", tmp_path / "codes.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), expected)
    machine("encode", tmp_path / "m", "several.npz", "-o", tmp_path / "codes")
    machine("index", tmp_path / "codes", "-o", tmp_path / "i", "--model", tmp_path / "m")
    machine("search", tmp_path / "i", "x.npy", "--model", tmp_path / "m", "-k", 5, "-o", tmp_path / "found.npz")
    with np.load(tmp_path / "found.npz") as found:
        distances = found["distances"]
    apart = np.unpackbits(expected[:, None] ^ expected, axis=2).sum(axis=2)
    np.testing.assert_array_equal(distances, np.sort(apart, axis=1)[:, :5])


@pytest.mark.parametrize("embedding", ["posterior", "metric"])
def test_an_embedding_of_one_label_a_row_refuses_several(assert_refused, embedding):
    words = f"fit several.npz -o new --method distilhash:embedding={embedding} --bits 6"
    assert_refused(words, f"embedding='{embedding}' learns from one label a row", "give embedding='multilabel'")


def test_several_labels_a_row_do_not_disturb_methods_that_need_none(done, here, tmp_path):
    for name, file in (("a", "several.npz"), ("b", "x.npy")):
        done("fit", file, "-o", tmp_path / name, "--method", "itq", "--bits", 6)
    assert load_model(tmp_path / "a").fingerprint() == load_model(tmp_path / "b").fingerprint()


def test_a_method_of_one_label_a_row_refuses_several(assert_refused):
    words = "fit several.npz -o new --method one_hot --bits 6"
    assert_refused(words, "labels have shape (300, 3), and row ", "take several")


@pytest.mark.slow
def test_settings_are_tried_by_several_labels_a_row(run, here, tmp_path):
    words = ("--method", "structhash:n_near=5,n_far=9", "--bits", 4, "--tune", 0.001, "--json")
    result = run("fit", "several.npz", "-o", tmp_path / "m", *words)
    assert result.exit_code == 0, result.output
    data, (learn, judge) = read("several.npz"), split(300, 0)
    fitted = StructHash(4, n_near=5, n_far=9, random_state=0).fit(data.X[learn], data.y[learn])
    tried = json.loads(result.stdout)["tried"]
    assert tried[0]["map"] == pytest.approx(fitted.score(data.X[judge], data.y[judge]))
    assert tried[-1]["map"] is None


@pytest.mark.slow
def test_settings_of_distilhash_are_tried_by_several_labels_a_row(run, here, tmp_path):
    result = run("fit", "several.npz", "-o", tmp_path / "m", "--bits", 6, "--tune", 500, "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    data, (learn, judge) = read("several.npz"), split(300, 0)
    fitted = DistilHash(6, random_state=0).fit(data.X[learn], data.y[learn])
    tried = {each["settings"]: each["map"] for each in said["tried"]}
    assert list(tried) == ["as set", "start=several", "structhash:family=rbf"]
    assert tried["as set"] == pytest.approx(fitted.score(data.X[judge], data.y[judge]))
    assert all(score > 0.5 for score in tried.values())
    assert [each["chosen"] for each in said["tried"]] == [
        each == max(tried.values()) for each in tried.values()
    ]
