"""Words of the command line, and what data files hold."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from structhash.baselines import LSH
from structhash.cli.inputs import (
    check_columns,
    check_labels,
    learns_without_labels,
    read_judgements,
    split_measures,
    split_methods,
    split_numbers,
)
from structhash.evaluation import MEASURES, every_method, parse_method
from structhash.evaluation.judged import check_judged_method
from structhash.evaluation.neighbours import check_unlabelled_method
from structhash.io import Dataset

X = np.zeros((4, 2))
FILE = Path("d.npz")


def test_numbers_are_split_at_commas_and_come_once():
    assert split_numbers("--bits", "16, 8,16", 1) == [16, 8]


@pytest.mark.parametrize("text", ["", "1,", "0", "-1", "1.5", "a", "1 2"])
def test_other_numbers_are_refused(text):
    with pytest.raises(ValueError, match=r"--bits '.*': give whole numbers of at least 1, separated by commas"):
        split_numbers("--bits", text, 1)


def test_measures_are_repeated_or_separated_by_commas():
    assert split_measures(None) == list(MEASURES)
    assert split_measures(["map, auc", "map", "ndcg@5"]) == ["map", "auc", "ndcg@5"]
    assert split_measures(["mAP,MAP", "nDCG@5,Precision@10"]) == ["map", "ndcg@5", "precision@10"]
    with pytest.raises(ValueError, match="magic"):
        split_measures(["map,magic"])


def test_methods_are_split_at_commas_and_come_once():
    found = split_methods("structhash:ranking=auc,C=3,lsh,lsh,itq@database")
    assert [method.name for method in found] == ["structhash:ranking=auc,C=3", "lsh", "itq@database"]


def test_all_means_every_method_or_those_that_need_no_labels():
    assert [method.name for method in split_methods("all")] == every_method()
    judged = {method.name for method in split_methods("all", check_judged_method)}
    assert {"distilhash", "cghash", "itq"} <= judged < set(every_method())
    unlabelled = {method.name for method in split_methods("all", check_unlabelled_method)}
    assert {"distilhash", "itq", "float"} <= unlabelled < judged


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("distilhash", True),
        ("distilhash:embedding=centered", True),
        ("distilhash:embedding=posterior", False),
        ("cghash", True),
        ("cghash:C=auto", False),
        ("structhash:C=3|30", False),
        ("itq", True),
        ("itq@database", False),
        ("one_hot", False),
        ("float", True),
    ],
)
def test_which_methods_learn_without_labels(spec, expected):
    assert learns_without_labels(parse_method(spec)) is expected


def test_labels_are_one_value_a_row_or_indicators():
    y = np.array(["a", "b", "a", "c"])
    several = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]])
    found = check_labels(Dataset(X, several), FILE, "why")
    assert found.dtype == bool
    assert found.tolist() == several.astype(bool).tolist()
    assert check_labels(Dataset(X, np.eye(4)), FILE, "why").tolist() == [0, 1, 2, 3]
    assert check_labels(Dataset(X, y), FILE, "why").tolist() == y.tolist()
    assert check_labels(Dataset(X, y[:, None]), FILE, "why").tolist() == y.tolist()
    for bad, part in (
        (None, "d.npz holds no labels y, but why; use a .npz or .csv with y"),
        (np.full((4, 2), 3), r"y of d.npz: labels of shape \(4, 2\) must be 0 or 1"),
        (np.array([0, 1, np.nan, 1]), "y of d.npz: y holds NaN in row 2"),
    ):
        with pytest.raises(ValueError, match=part):
            check_labels(Dataset(X, bad), FILE, "why")


def write_csv(path, columns):
    pd.DataFrame(columns).to_csv(path, index=False)


def write_npz(path, columns):
    np.savez(path, X=np.column_stack(list(columns.values())), **columns)


def write_plain_parquet(path, columns):
    pd.DataFrame(columns).to_parquet(path)


def write_vectors(path, columns):
    pd.DataFrame({"v": list(np.column_stack(list(columns.values()))), **columns}).to_parquet(path)


@pytest.mark.parametrize(
    ("write", "name", "first", "kind"),
    [
        (write_csv, "d.csv", [], "column"),
        (write_csv, "d.csv.gz", [], "column"),
        (write_npz, "d.npz", ["X"], "array"),
        (write_plain_parquet, "d.parquet", [], "column"),
        (write_vectors, "d.parquet", ["v"], "column"),
        (lambda path, columns: pd.DataFrame(columns).to_feather(path), "d.feather", [], "column"),
    ],
)
def test_an_error_about_labels_says_what_the_file_holds(run, tmp_path, write, name, first, kind):
    path, model = tmp_path / name, tmp_path / "m"
    for n_columns, more in ((3, ""), (30, ", ... ({} in all)")):
        rng = np.random.default_rng(0)
        write(path, {f"c{j:02}": rng.standard_normal(60).astype(np.float32) for j in range(n_columns)})
        held = [*first, *(f"c{j:02}" for j in range(n_columns))]
        names = ", ".join(held[:8]) + more.format(len(held))
        where = f"it holds {names}, and labels are y or label; name others by --label"
        refused = [
            run("compare", path, "--methods", "lsh"),
            run("fit", path, "--method", "one_hot", "-o", model),
        ]
        done = run("fit", path, "--method", "lsh", "--bits", 4, "-o", model)
        assert done.exit_code == 0
        refused.append(run("evaluate", model, path))
        model.unlink()
        for found in refused:
            assert found.exit_code == 2
            assert found.stderr.endswith(f"; {where}\n")
            assert f"error: {path} holds no labels y, but " in found.stderr
        found = run("compare", path, "--methods", "lsh", "--label", "animal")
        said = f"error: cannot read {path}: it has no {kind} 'animal'; its {kind}s are {names}\n"
        assert (found.exit_code, found.stderr) == (2, said)


def test_judgements_are_those_of_queries_or_of_rows():
    qrels = np.array([[1, 3, 2], [0, 1, 1], [1, 3, 2]], np.int32)
    for data in (Dataset(X, Q=X[:2], qrels=qrels), Dataset(X, qrels=qrels)):
        assert read_judgements(data, FILE).tolist() == [[0, 1, 1], [1, 3, 2]]
    with pytest.raises(ValueError, match=r"qrels of d.npz: judged queries run from 0 to 1; give 0 to 0"):
        read_judgements(Dataset(X, Q=X[:1], qrels=qrels), FILE)
    with pytest.raises(ValueError, match=r"qrels of d.npz call no document relevant; give grades above 0"):
        read_judgements(Dataset(X, qrels=qrels * [1, 1, 0]), FILE)


def test_columns_have_the_same_names_in_the_same_order():
    check_columns(["a", "b"], FILE, ["a", "b"], "the model")
    check_columns(None, FILE, ["a", "b"], "the model")
    check_columns(["a", "b"], FILE, None, "the model")
    expected = "d.npz has the columns b, a; the model needs a, b in this order; the first to differ is column 1"
    with pytest.raises(ValueError, match=expected):
        check_columns(["b", "a"], FILE, ["a", "b"], "the model")


def test_a_model_remembers_its_columns(run, done, tmp_path):
    for name, head in (("a.csv", "p,q,y"), ("b.csv", "r,p,y")):
        lines = [f"{i % 7},{i % 3},{i % 2}" for i in range(40)]
        (tmp_path / name).write_text("\n".join([head, *lines]))
    done("fit", tmp_path / "a.csv", "-o", tmp_path / "m", "--method", "lsh", "--bits", 4)
    done("encode", tmp_path / "m", tmp_path / "a.csv", "-o", tmp_path / "c.npy")
    for words in (
        ("encode", tmp_path / "m", tmp_path / "b.csv", "-o", tmp_path / "d.npy"),
        ("fit", tmp_path / "a.csv", "-o", tmp_path / "d.npy2", "--unlabeled", tmp_path / "b.csv"),
    ):
        found = run(*words)
        assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
        assert "b.csv: it lacks 'q' of the columns p, q that are needed; it has r, p, y" in found.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "c.npy", "m"]


def test_columns_are_taken_by_their_names(run, done, tmp_path):
    m, a, b = tmp_path / "m", tmp_path / "a.csv", tmp_path / "b.csv"
    rows = [(i % 7, i % 3, ("lux", "acme")[i % 2], 100 + i) for i in range(40)]
    a.write_text("\n".join(["p,q,brand,sku", *(f"{p},{q},{brand},{sku}" for p, q, brand, sku in rows)]))
    b.write_text("\n".join(["q,p", *(f"{q},{p}" for p, q, _, _ in rows)]))
    done("fit", a, "-o", m, "--method", "lsh", "--bits", 9, "--label", "brand", "--ignore", "sku")
    found = run("encode", m, a, "-o", tmp_path / "a.npy")
    said = f"warning: {a}: left out the columns brand, sku, which are no features\n"
    assert (found.exit_code, found.stderr) == (0, said)
    done("encode", m, b, "-o", tmp_path / "b.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.load(tmp_path / "b.npy"))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the command has read them by name
def test_a_model_of_a_frame_reads_a_table_by_its_names(run, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    model = LSH(8, random_state=0).fit(frame)
    model.save(tmp_path / "m")
    frame[["b", "a"]].to_csv(tmp_path / "x.csv", index=False)
    assert run("encode", tmp_path / "m", tmp_path / "x.csv", "-o", tmp_path / "c.npy").exit_code == 0
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), model.encode(frame))


def test_long_lists_of_columns_are_cut():
    names = [f"p{j}" for j in range(40)]
    with pytest.raises(ValueError, match="the first to differ is column 21") as found:
        check_columns([*names[:20], "new", *names[21:]], FILE, names, "the model")
    assert "p7, ... (40 in all) in this order" in str(found.value)
    assert "p9" not in str(found.value)


@pytest.fixture
def served(here, web):
    """Address of a web server, a real process, with files of the current folder."""
    for name in ("train.npz", "test.npz", "judged.npz", "x.npy", "train.csv", "m.npy"):
        (web.folder / name).write_bytes((here / name).read_bytes())
    (web.folder / "qrels.txt").write_text("1 0 1 2\n2 0 3 1\n")
    return web.address


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "encode m DATA/x.npy -o OUT",
        "encode m DATA/train.npz -o OUT",
        "reader m DATA/x.npy -o OUT",
        "search m.index DATA/x.npy --model m",
        "evaluate m DATA/test.npz",
        "evaluate m DATA/judged.npz",
        "evaluate m DATA/x.npy --query-file DATA/x.npy --qrels DATA/qrels.txt",
        "info DATA/x.npy",
        "info DATA/*.csv --label label",
    ],
)
def test_a_command_finds_at_an_address_what_it_finds_in_a_folder(done, served, web, tmp_path, words):
    places = {"remote": served, "local": str(web.folder)}
    said = {
        name: done(*words.replace("DATA", place).replace("OUT", str(tmp_path / name)).split())
        for name, place in places.items()
    }
    remote = said["remote"].replace(served, "").replace("remote", "local")
    assert remote == said["local"].replace(str(web.folder), "")
    if "OUT" in words:
        assert (tmp_path / "remote").read_bytes() == (tmp_path / "local").read_bytes()


@pytest.mark.slow
def test_every_command_that_takes_data_takes_an_address(run, served, here, tmp_path):
    for words in (
        "fit DATA/train.npz -o OUT --bits 4 --unlabeled DATA/x.npy",
        "fit DATA/train.csv -o OUT --bits 4 --method lsh",
        "compare DATA/test.npz --methods lsh --bits 4 --seeds 0 --train 50 --queries 20 -o OUT.json",
        "report OUT.json --data DATA/test.npz -o OUT.html",
        "recall DATA/x.npy --bits 8 --queries 20",
        "drift m DATA/test.npz --training DATA/train.npz",
    ):
        found = run(*words.replace("DATA", served).replace("OUT", str(tmp_path / "out")).split())
        assert found.exit_code == 0, (words, found.stderr)


def test_what_is_written_stays_on_this_machine(assert_refused):
    for words in ("fit train.npz -o s3://bucket/m", "encode m x.npy -o https://host/folder/"):
        address = words.split()[-1]
        assert_refused(words, f"{address} is an address; give a file of this machine, and copy it there")


def test_files_that_hold_no_data_are_not_read_from_an_address(assert_refused):
    for words in ("encode s3://bucket/m x.npy -o new", "search m.index s3://bucket/codes.npy"):
        hint = "only files of vectors are read from an address, copy others here first"
        assert_refused(words, "no such file: s3:/", hint)
