"""``structhash compare``."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score

from structhash.cli.compare import collect_results
from structhash.evaluation import (
    MEASURES,
    compare,
    compare_judged,
    compare_neighbours,
    every_method,
    parse_method,
    seen_classes,
)

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def test_a_table_and_a_file(done, here, tmp_path):
    words = ("--methods", "structhash:ranking=auc,C=3,lsh,float", "--bits", "4,8,8", "--seeds", "0,1")
    sizes = ("--queries", 30, "--train", 60, "--measures", "map", "-o", tmp_path / "r.json")
    text = done("compare", here / "test.npz", *words, *sizes)
    methods = [line.split()[0] for line in text.splitlines()[4:-1]]
    assert methods == [*["structhash:ranking=auc,C=3"] * 2, *["lsh"] * 2, "float"]
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["data"] == "test.npz"
    assert found["options"]["bits"] == [4, 8]
    assert found["options"]["methods"] == ["structhash:ranking=auc,C=3", "lsh", "float"]
    assert {"date", "versions"} <= found.keys()
    assert all(line["seeds"] == [0, 1] for line in found["lines"])
    assert str(tmp_path) not in (tmp_path / "r.json").read_text()


@pytest.mark.slow
def test_all_on_unseen_classes(machine, here):
    words = ("--methods", "all", "--bits", 8, "--seeds", 0, "--train", 60, "--protocol", "unseen")
    found = machine("compare", "test.npz", *words)
    assert found["options"]["methods"] == every_method()
    assert {line["method"] for line in found["lines"]} == set(every_method())
    assert found["options"]["train"] == 60


@pytest.fixture
def judged(tmp_path):
    """A data file of ten judged queries, and their judgements."""
    qrels = np.array([[q, j, int(Y[j + 200] == Y[q])] for q in range(10) for j in range(60)])
    np.savez(tmp_path / "d.npz", X=X[200:260], Q=X[:10], qrels=qrels)
    return tmp_path / "d.npz", qrels


@pytest.mark.slow
def test_judged_queries(machine, judged):
    data, qrels = judged
    methods = ["structhash:n_near=5", "distilhash:embedding=centered", "lsh", "float"]
    words = ("--methods", ",".join(methods), "--bits", 4, "--seeds", 0, "--measures", "map")
    found = machine("compare", data, *words, "--protocol", "judged")
    expected = compare_judged(methods, X[200:260], X[:10], qrels, [4], [0], ["map"])
    for line, result in zip(found["lines"], expected, strict=True):
        assert (line["method"], line["mean"]) == (result.method, pytest.approx(result.scores.mean))
    assert found["protocol"] == "judged"


def test_no_secret_of_an_address_is_in_what_is_written_or_printed(web, run, machine, tmp_path):
    """A web address may be signed, or have a password."""
    secret = web.address.replace("http://", "http://me:password@") + "/{}?X-Amz-Signature=key"
    (web.folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {int(Y[d] == Y[q])}\n" for q in range(9) for d in range(60))
    )
    np.save(web.folder / "q.npy", X[:9])
    np.save(web.folder / "x.npy", X[:60])
    files = ("--query-file", secret.format("q.npy"), "--qrels", secret.format("qrels.txt"))
    words = ("--protocol", "judged", "--methods", "lsh", "--bits", 4, "--seeds", 0, "--measures", "map")
    written = ("-o", tmp_path / "r.json", "--report", tmp_path / "r.html")
    done = run("compare", secret.format("x.npy"), *files, *words, *written)
    assert done.exit_code == 0, done.output
    made = [(tmp_path / name).read_text() for name in ("r.json", "r.html")]
    reading = {"query_file": f"{web.address}/q.npy", "qrels": f"{web.address}/qrels.txt"}
    assert json.loads(made[0])["options"]["reading"] == reading
    assert machine("info", secret.format("x.npy"))["file"] == f"{web.address}/x.npy"
    lost = run("compare", secret.format("none.npy"), *files, *words)
    away = run("compare", secret.format("x.npy"), *files, *words, "-o", secret.format("r.json"))
    assert (lost.exit_code, away.exit_code) == (2, 2)
    assert f"no such file: {web.address}/none.npy" in lost.output
    for text in (*made, done.output, lost.output, away.output):
        assert "password" not in text
        assert "Signature" not in text


@pytest.mark.slow
def test_all_on_judged_queries(machine, judged):
    words = ("--methods", "all", "--bits", 4, "--seeds", 0, "--measures", "map", "--protocol", "judged")
    methods = machine("compare", judged[0], *words)["options"]["methods"]
    assert {"distilhash", "structhash", "cghash", "itq", "lsh", "float"} <= set(methods)
    assert not {"one_hot", "cca_itq", "itq@database"} & set(methods)


def test_nearest_rows(machine, judged, here):
    words = ("--methods", "itq@real,lsh,float", "--bits", 8, "--seeds", 0, "--protocol", "neighbours")
    for file, data, sizes in (
        ("x.npy", [np.load("x.npy")], ("--queries", 9)),
        (judged[0], [X[200:260], X[:10]], ()),
    ):
        found = machine("compare", file, *words, *sizes)
        expected = list(
            compare_neighbours(["itq@real", "lsh", "float"], *data, bits=[8], seeds=[0], n_queries=9)
        )
        assert [line["mean"] for line in found["lines"]] == [each.scores.mean for each in expected]
        assert found["options"]["measures"] == ["recall@10", "recall@100"]
    assert found["lines"][-1]["mean"]["recall@10"] == 1


def test_a_method_that_cannot_be_read_so_is_a_line(run, here):
    words = ("--methods", "spher@real,lsh@auto", "--bits", 8, "--seeds", 0, "--protocol", "neighbours")
    result = run("compare", "x.npy", *words)
    assert result.exit_code == 1
    assert (
        "spher@real, 8 bits failed for seeds 0: ValueError: reader='real': the bits of SPHER" in result.stderr
    )
    assert "1 of 2 lines failed, the others are right" in result.stderr
    assert [line.split()[:2] for line in result.stdout.splitlines()[4:6]] == [
        ["spher@real", "-"],
        ["lsh@auto", "auto"],
    ]


def test_results_are_those_of_the_comparison():
    methods = [parse_method("lsh"), parse_method("float")]
    options = {"bits": [4], "seeds": [0], "measures": ["map"]}
    found = collect_results(compare, X[:200], Y[:200], methods=methods, **options)
    expected = list(compare(methods, X[:200], Y[:200], **options))
    assert [each.scores.mean for each in found] == [each.scores.mean for each in expected]
    assert [each.distance for each in found] == ["plain", "L2"]


PROTOCOLS = (
    "give one of seen, unseen, mixed-known, mixed-new, coarse, tail, instances, few-N, judged, neighbours "
    "(N from 1 on)"
)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("test.npz --methods magic", ["no method is called 'magic'"]),
        ("test.npz --methods cghash@database", ["drop @database"]),
        ("test.npz --methods lsh:n_bits=8", ["give the length of the code by --bits"]),
        ("test.npz --methods lsh,structhash:C=-1", ["C=-1"]),
        ("test.npz --protocol magic", [f"--protocol 'magic': {PROTOCOLS}"]),
        ("test.npz --protocol instances", ["no class of the 75 queries has 50 rows in the database"]),
        ("test.npz --protocol few-0", [f"--protocol 'few-0': {PROTOCOLS}"]),
        ("test.npz --protocol few-5 --train 9", ["n_train=9: protocol='few-5' sets how many rows"]),
        ("x.npy --protocol unsen", [f"--protocol 'unsen': {PROTOCOLS}"]),
        ("test.npz --measures map,magic", ["magic"]),
        ("test.npz --bits 16,0", ["--bits '16,0': give whole numbers of at least 1, separated by commas"]),
        ("test.npz --seeds 0,,1", ["--seeds '0,,1': give whole numbers of at least 0"]),
        ("x.npy", ["--protocol seen judges by them (judged: by Q and qrels, neighbours: by X alone)"]),
        ("m.index", ["known are .csv, .csv.gz, .hdf5", "it is a structhash file of kind 'index.exact'"]),
        ("test.npz --protocol judged", ["holds no queries Q and judgements qrels"]),
        ("judged.npz --protocol judged --methods lsh", ["give at least 2"]),
        ("judged.npz --protocol judged --queries 5", ["--queries 5: --protocol judged takes all queries"]),
        (
            "judged.npz --protocol neighbours --queries 5 --methods lsh",
            ["--queries 5: judged.npz holds queries Q"],
        ),
        ("judged.npz --protocol judged --train 5", ["--train 5: --protocol judged", "leave --train out"]),
        ("judged.npz --protocol judged --methods one_hot", ["'one_hot'"]),
        (
            "x.npy --protocol neighbours --methods lsh,one_hot",
            ["'one_hot' learns from labels"],
        ),
        ("three_classes.npz --protocol unseen", ["the data have 3"]),
    ],
)
def test_bad_input_is_refused(assert_refused, words, parts):
    assert_refused(f"compare {words} -o new", *parts)


def test_no_method_is_refused(assert_refused):
    assert_refused(("compare", "test.npz", "--methods", " ", "-o", "new"), "--methods is empty; give names")


@pytest.mark.parametrize(
    "protocol", ["seen", "unseen", "coarse", "tail", "instances", "few-3", "judged", "neighbours"]
)
def test_every_protocol_that_an_error_names_is_taken(run, here, protocol):
    assert "--protocol '" not in run("compare", "x.npy", "--protocol", protocol).stderr


def test_a_protocol_has_measures_of_its_own(machine, tmp_path):
    np.savez(tmp_path / "large.npz", X=X[:400], y=Y[:400] % 4)
    words = ("--methods", "lsh,float", "--bits", 8, "--seeds", 0)
    for protocol, expected in [("instances", ["recall_tenth"]), ("few-3", list(MEASURES))]:
        document = machine("compare", tmp_path / "large.npz", "--protocol", protocol, *words)
        assert (document["protocol"], document["options"]["measures"]) == (protocol, expected)
        assert all(list(line["mean"]) == expected for line in document["lines"])


def test_measures_have_canonical_names_whatever_their_capitals(machine, here):
    words = ("--methods", "lsh", "--bits", 8, "--seeds", 0, "--measures")
    found, plain = (
        machine("compare", "test.npz", *words, names)
        for names in ("mAP,NDCG@10,Precision@10", "map,ndcg@10,precision@10")
    )
    assert found["options"]["measures"] == list(found["lines"][0]["mean"]) == ["map", "ndcg@10", "precision@10"]
    assert found["lines"][0]["mean"] == plain["lines"][0]["mean"]


FAILING = (
    "--methods",
    "lsh,itq,mdsh:bandwidth=1e-100,float",
    "--bits",
    "8",
    "--seeds",
    "0",
    "--measures",
    "map",
)


def test_a_method_that_fails_is_a_line_and_the_rest_is_kept(run, here, tmp_path):
    result = run("compare", here / "test.npz", *FAILING, "-o", tmp_path / "r.json")
    assert result.exit_code == 1
    assert "warning: mdsh:bandwidth=1e-100, 8 bits failed for seeds 0: ValueError: bandwidth" in result.stderr
    assert "error: 1 of 4 lines failed, the others are right; the same command goes on from " in result.stderr
    table = [line.split() for line in result.stdout.splitlines()[4:8]]
    assert [(words[0][:4], words[3] == "failed") for words in table] == [
        ("lsh", False),
        ("itq", False),
        ("mdsh", True),
        ("floa", False),
    ]
    lines = json.loads((tmp_path / "r.json").read_text())["lines"]
    assert [line["mean"]["map"] is None for line in lines] == [bool(line["error"]) for line in lines]


def test_the_same_command_goes_on_and_other_data_are_never_mixed_in(run, here, tmp_path):
    out, journal = tmp_path / "r.json", tmp_path / "r.json.part"
    run("compare", here / "test.npz", *FAILING, "-o", out)
    before = json.loads(out.read_text())
    first, kept = before["lines"], journal.read_text()
    assert kept.count("\n") == 3
    journal.write_text(kept[:-40])  # as after a crash: the last line is cut
    again = run("compare", here / "test.npz", *FAILING, "-o", out)
    assert again.stderr.startswith(f"note: 2 fits taken from {journal}\n")
    after = json.loads(out.read_text())
    second = after["lines"]
    assert before["details"] == after["details"] != {}
    for a, b in zip(first, second, strict=True):
        assert (a["mean"], a["p_value"]) == (b["mean"], b["p_value"])
    assert [a["fit_seconds"] for a in first[:2]] == [b["fit_seconds"] for b in second[:2]]  # not fitted again
    out.unlink()
    for data, measure in (("train.npz", "map"), ("test.npz", "auc")):
        words = ("compare", here / data, *FAILING[:-1], measure, "-o", out)
        refused = run(*words)
        assert refused.exit_code == 2
        assert "holds finished fits of other data, settings or versions; give another -o" in refused.stderr
    forced = run(*words, "--force")
    assert not forced.stderr.startswith("note")
    words = ("--methods", "lsh", "--bits", "8", "--seeds", "0", "--measures", "auc", "-o", out)
    out.unlink()
    done = run("compare", here / "test.npz", *words)
    notes = f"note: 1 fit taken from {journal}\nnote: 2 fits not asked for here stay in {journal}\n"
    assert (done.exit_code, done.stderr) == (0, notes)
    assert journal.exists()


def test_fits_of_a_journal_that_does_not_say_what_was_found_are_used(run, here, tmp_path):
    out, journal = tmp_path / "r.json", tmp_path / "r.json.part"
    run("compare", here / "test.npz", *FAILING, "-o", out)
    head, *lines = journal.read_text().split("\n")
    fits = [[{k: v for k, v in each.items() if k != "found"} for each in json.loads(line)] for line in lines]
    journal.write_text("\n".join([head, *map(json.dumps, fits)]))
    assert "3 fits taken from" in run("compare", here / "test.npz", *FAILING, "-o", out).stderr
    assert json.loads(out.read_text())["details"] == {}


def test_fits_of_an_earlier_journal_have_the_traits_of_their_methods(run, here, tmp_path):
    out, journal = tmp_path / "r.json", tmp_path / "r.json.part"
    words = ("--methods", "predicted_class,mdsh:bandwidth=1e-100", "--seeds", "0", "--bits", "8", "-o", out)
    run("compare", here / "test.npz", *words)
    head, *lines = journal.read_text().split("\n")
    new = ("reads_floats", "one_hot")
    fits = [[{k: v for k, v in each.items() if k not in new} for each in json.loads(line)] for line in lines]
    journal.write_text("\n".join([head, *map(json.dumps, fits)]))
    assert "1 fit taken from" in run("compare", here / "test.npz", *words).stderr
    code, chances, _ = json.loads(out.read_text())["lines"]
    assert (code["reads_floats"], chances["reads_floats"]) == (False, True)
    assert code["one_hot"]


LSH = ("--methods", "lsh", "--bits", "4", "--seeds", "0,1", "--measures", "map")


def compare_here(run, out, *more):
    """Compare on the test rows, and write a file; the last one of two equal options counts."""
    return run("compare", "test.npz", *LSH, "-o", out, *more)


def test_fits_that_another_run_needs_are_kept_until_they_are_in_a_result(run, here, tmp_path):
    out, journal = tmp_path / "r.json", tmp_path / "r.json.part"
    compare_here(run, out, "--methods", "lsh,mdsh:bandwidth=1e-100", "--bits", "4,8")
    assert journal.read_text().count("\n") == 4
    out.unlink()
    assert compare_here(run, out, "--seeds", "1").stderr.count("1 fit taken from") == 1
    assert journal.read_text().count("\n") == 4
    again = compare_here(run, out, "--bits", "4,8")
    assert (again.exit_code, again.stderr) == (0, f"note: 4 fits taken from {journal}\n")
    assert not journal.exists()


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--methods", "itq"], "with lines that this command would drop"),
        (["--bits", "8"], "with lines that this command would drop"),
        (["--seeds", "1"], "with lines that this command would drop"),
        (["--measures", "auc"], "of other data or settings"),
        (["--queries", "30"], "of other data or settings"),
        (["--protocol", "unseen"], "of other data or settings"),
    ],
)
def test_another_comparison_is_not_replaced(run, here, tmp_path, more, what):
    out = tmp_path / "r.json"
    compare_here(run, out)
    before = out.read_bytes()
    refused = compare_here(run, out, *more)
    held = "(test.npz, protocol seen, methods lsh; bits 4; seeds 0, 1; measures map)"
    expected = f"it holds a comparison {what} {held}; give another name, or --force\n"
    assert (refused.exit_code, refused.stderr) == (2, f"error: cannot write {out}: {expected}")
    assert out.read_bytes() == before
    assert compare_here(run, out, *more, "--force").exit_code == 0


def test_other_data_of_the_same_name_are_another_comparison(run, here, tmp_path):
    out, data = tmp_path / "r.json", tmp_path / "test.npz"
    compare_here(run, out)
    np.savez(data, X=X[:300], y=Y[:300])
    assert "of other data or settings" in run("compare", data, *LSH, "-o", out).stderr


def test_the_same_comparison_or_a_larger_one_replaces_a_finished_one(run, here, tmp_path):
    out = tmp_path / "r.json"
    for more in ([], [], ["--methods", "lsh,float", "--seeds", "0,1,2", "--bits", "4,8"]):
        found = compare_here(run, out, *more)
        assert (found.exit_code, found.stderr) == (0, "")
    assert {line["method"] for line in json.loads(out.read_text())["lines"]} == {"lsh", "float"}


@pytest.mark.slow
def test_an_interrupt_says_where_finished_fits_are(here, tmp_path):
    out, journal = tmp_path / "r.json", tmp_path / "r.json.part"
    slow = ("--methods", "lsh,structhash", "--bits", "4,2000", "--seeds", "0")
    words = [sys.executable, "-m", "structhash", "compare", "test.npz", *slow, "--measures", "map", "-o", out]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        while not journal.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    assert said == f"note: finished fits are in {journal}; the same command goes on from there\ninterrupted\n"
    assert process.returncode == 130
    assert not out.exists()


def test_an_interrupt_while_the_page_is_written_says_where_finished_fits_are(run, here, tmp_path, monkeypatch):
    def stop(*given):
        raise KeyboardInterrupt

    out, page, journal = tmp_path / "r.json", tmp_path / "r.html", tmp_path / "r.json.part"
    with monkeypatch.context() as patch:
        patch.setattr("structhash.cli.compare.write_page", stop)
        found = compare_here(run, out, "--report", page)
    said = f"note: finished fits are in {journal}; the same command goes on from there\ninterrupted\n"
    assert (found.exit_code, found.stderr) == (130, said)
    assert not page.exists()
    again = compare_here(run, out, "--report", page)
    assert (again.exit_code, again.stderr) == (0, f"note: 2 fits taken from {journal}\n")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["r.html", "r.json"]


# several labels a row


def labels_of(digit):
    """The labels that several.npz gives a digit."""
    return {
        name
        for name, held in (("even", digit % 2 == 0), ("three", digit % 3 == 0), ("large", digit > 6))
        if held
    }


def test_several_labels_a_row(run, here, tmp_path):
    methods = "structhash:n_near=5,itq,one_hot,float,distilhash"
    words = ("--methods", methods, "--bits", 8, "--seeds", "1", "--train", 90, "--queries", 50)
    files = ("-o", tmp_path / "r.json", "--report", tmp_path / "r.html")
    result = run("compare", "several.npz", *words, *files, "--measures", "map,ndcg@10")
    assert result.exit_code == 1, result.output
    assert "one_hot, 8 bits failed for seeds 1: ValueError: labels have shape (90, 3), and row" in result.stderr
    assert "1 of 5 lines failed, the others are right" in result.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    lines = {line["method"]: line for line in found["lines"]}
    assert [bool(line["error"]) for line in found["lines"]] == [False, False, True, False, False]
    rows, sets = X[200:500], [labels_of(y) for y in Y[200:500]]
    split = seen_classes(rows, 1, 50)
    precision = []
    for query in split.queries:
        relevant = np.array([bool(sets[query] & sets[other]) for other in split.database])
        if relevant.any():
            apart = np.linalg.norm(rows[split.database].astype(float) - rows[query], axis=1)
            precision.append(average_precision_score(relevant, -apart))
    assert len(precision) < 50
    assert lines["float"]["mean"]["map"] == pytest.approx(np.mean(precision), abs=1e-3)  # some distances tie
    assert lines["structhash:n_near=5"]["sizes"] == [[90, len(precision), 250]]
    assert lines["distilhash"]["mean"]["map"] > lines["itq"]["mean"]["map"] + 0.1
    assert found["details"]["classes"] is None
    assert {each["label"] for each in found["details"]["hardest"]} == {None}
    assert "the queries have no labels, or several each" in (tmp_path / "r.html").read_text()
    again = run("report", tmp_path / "r.json", "--data", "several.npz", "-o", tmp_path / "again.html")
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize("protocol", ["unseen", "few-5", "coarse", "instances"])
def test_protocols_of_classes_refuse_several_labels_a_row(assert_refused, protocol):
    words = f"compare several.npz --methods lsh --bits 4 --seeds 0 --protocol {protocol} -o new"
    assert_refused(words, f"protocol='{protocol}' splits rows by", "give protocol='seen', or one label a row")


def test_protocols_that_read_no_labels_take_several(machine, here):
    words = ("--methods", "lsh", "--bits", 4, "--seeds", 0, "--protocol", "neighbours", "--queries", 20)
    expected = machine("compare", "x.npy", *words)["lines"][0]["mean"]
    assert machine("compare", "several.npz", *words)["lines"][0]["mean"] == expected
