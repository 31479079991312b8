"""``structhash encode`` into a folder: parts, reruns, and processes that are killed."""

import re
import shutil
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_digits

from structhash import load_model
from structhash.cli._appending import alone_in
from structhash.io import load_codes
from structhash.io.manifest import hash_file

X = load_digits().data.astype(np.float32)
N_PARTS = 5


def write_part(folder, part, rows, first):
    """A file of vectors with ids; the list type does not say how long they are."""
    vectors = pa.array(list(rows), pa.list_(pa.float32()))
    ids = pa.array([f"r{first + i}" for i in range(len(rows))], pa.string())
    pq.write_table(pa.table({"id": ids, "v": vectors}), folder / f"part-{part}.parquet")


@pytest.fixture
def source(here, tmp_path):
    """Five files of vectors, the fourth without a row."""
    (tmp_path / "in").mkdir()
    for part in range(N_PARTS):
        rows = X[200 + 60 * part : 260 + 60 * part]
        write_part(tmp_path / "in", part, rows if part != 3 else rows[:0], 60 * part)
    return tmp_path / "in"


def content(folder):
    """Names and bytes of all files, hidden ones too."""
    return {each.name: each.read_bytes() for each in folder.rglob("*")}


def stamps(folder):
    """What changes when a file is written again."""
    return {each.name: each.stat().st_ino for each in folder.glob("*.parquet")}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_parts_of_a_web_server_are_encoded_as_those_of_a_folder(machine, here, source, tmp_path, web, jobs):
    shutil.copytree(source, web.folder / "in")
    given = f"{web.address}/in/*.parquet"
    facts = machine("encode", "m", given, "-o", tmp_path / "out", "--jobs", jobs)
    assert (facts["rows"], facts["files"], facts["complete before"]) == (240, 5, 0)
    machine("encode", "m", source / "*.parquet", "-o", tmp_path / "local")
    assert content(tmp_path / "out") == content(tmp_path / "local")
    write_part(web.folder / "in", 1, X[:60], 60)  # a rerun sees that it has changed
    assert machine("encode", "m", given, "-o", tmp_path / "out")["complete before"] == 4
    write_part(source, 1, X[:60], 60)
    machine("encode", "m", source / "*.parquet", "-o", tmp_path / "local")
    assert content(tmp_path / "out") == content(tmp_path / "local")


@pytest.mark.slow
@pytest.mark.parametrize("out", ["parts", "one.parquet"])
def test_a_folder_of_a_web_server_is_listed_once(machine, here, source, tmp_path, web, out):
    shutil.copytree(source, web.folder / "in")
    assert machine("encode", "m", f"{web.address}/in/", "-o", tmp_path / out)["rows"] == 240
    assert web.log.read_text().splitlines().count("GET None 200") == 1  # files are asked for as a range


def test_one_file_goes_into_a_folder_if_the_name_ends_in_a_slash(machine, done, here, source, tmp_path):
    for given in (
        source / "part-1.parquet",
        source / "part-1*.parquet",
    ):  # a shell writes the name for the pattern
        facts = machine("encode", "m", given, "-o", f"{tmp_path / given.stem}/")
        assert (facts["rows"], facts["files"]) == (60, 1)
        assert sorted(content(tmp_path / given.stem)) == ["manifest.json", "part-1.parquet"]
    done("encode", "m", source / "part-1.parquet", "-o", tmp_path / "file")
    assert (tmp_path / "file").is_file()


def test_parts_are_codes_with_ids_and_go_into_an_index(machine, here, source, tmp_path):
    facts = machine("encode", "m", source / "*.parquet", "-o", tmp_path / "out")
    assert (facts["rows"], facts["files"], facts["complete before"]) == (240, 5, 0)
    rows = np.concatenate([X[200:380], X[440:500]])
    found = load_codes(tmp_path / "out")
    np.testing.assert_array_equal(found.table, load_model("m").encode(rows))
    assert found.ids.tolist() == [f"r{i}" for i in range(300) if not 180 <= i < 240]
    assert found.source == load_model("m").fingerprint()
    assert machine("info", tmp_path / "out")["rows"] == 240
    assert machine("index", tmp_path / "out", "-o", tmp_path / "i", "--model", "m")["codes"] == 240
    machine("encode", "m", source, "-o", f"{tmp_path / 'slash.parquet'}/")
    assert content(tmp_path / "slash.parquet") == content(tmp_path / "out")
    machine("encode", "m", source, "-o", tmp_path / "one.parquet")  # a name with an extension is one file
    one = load_codes(tmp_path / "one.parquet")
    np.testing.assert_array_equal(one.table, found.table)
    assert one.ids.tolist() == found.ids.tolist()


def test_files_that_a_shell_names_are_those_of_the_pattern(machine, here, source, tmp_path):
    files = sorted(source.glob("*.parquet"))
    machine("encode", "m", source / "*.parquet", "-o", tmp_path / "pattern")
    facts = machine("encode", "m", *files, "-o", tmp_path / "named")
    assert (facts["rows"], facts["files"]) == (240, 5)
    assert content(tmp_path / "named") == content(tmp_path / "pattern")
    machine("encode", "m", *reversed(files), "-o", tmp_path / "one.parquet")  # in the order that is given
    found, parts = load_codes(tmp_path / "one.parquet"), load_codes(tmp_path / "pattern")
    order = np.concatenate([np.arange(180, 240), np.arange(120, 180), np.arange(60, 120), np.arange(60)])
    np.testing.assert_array_equal(found.table, parts.table[order])
    np.testing.assert_array_equal(found.ids, parts.ids[order])


def test_parts_keep_ids_whatever_the_name_of_their_folder(run, machine, here, source, tmp_path):
    files = [source / "part-0.parquet", source / "part-1.parquet"]
    out = f"{tmp_path / 'out.npy'}/"
    found = run("encode", "m", *files, "--id", "id", "-o", out)
    assert (found.exit_code, found.stderr) == (0, "")
    assert re.search("^ids +text$", found.stdout, re.M)
    assert load_codes(tmp_path / "out.npy").ids.tolist() == [f"r{i}" for i in range(120)]
    facts = machine("encode", "m", *files, "--id", "id", "-o", tmp_path / "out.npy")  # a folder that exists
    assert (facts["ids"], facts["id column"], facts["complete before"]) == ("text", "id", 2)
    found = run("encode", "m", *files, "-o", tmp_path / "one.npy")
    assert "one.npy is a bare array, which keeps no ids" in found.stderr
    assert re.search("^ids +row numbers$", found.stdout, re.M)
    assert np.load(tmp_path / "one.npy").shape == (120, 2)


def test_a_file_with_two_names_is_given_twice(run, here, source, tmp_path, monkeypatch):
    monkeypatch.chdir(source)
    (tmp_path / "link.parquet").symlink_to(source / "part-0.parquet")
    model = here / "m"
    for name in (source / "part-0.parquet", "../in/part-0.parquet", tmp_path / "link.parquet"):
        for out in ("new.parquet", "new"):
            found = run("encode", model, "part-0.parquet", name, "-o", tmp_path / out)
            assert (found.exit_code, found.stdout) == (2, "")
            assert f"{name} is given twice; give each file once" in found.stderr
            assert not (tmp_path / out).exists()
    address = "http://127.0.0.1:1/a.npy?v="
    found = run("encode", model, f"{address}1", f"{address}1", "-o", tmp_path / "new")
    assert "http://127.0.0.1:1/a.npy is given twice" in found.stderr
    found = run("encode", model, f"{address}1", f"{address}2", "-o", tmp_path / "new")
    assert "cannot read http://127.0.0.1:1/a.npy: Cannot connect" in found.stderr


def test_the_note_of_row_numbers_names_all_files(run, here, tmp_path):
    for name in "abc":
        np.savez(tmp_path / f"{name}.npz", X=X[:3], doc_ids=np.arange(3))
    files = [tmp_path / f"{name}.npz" for name in "abc"]
    for out in ("one.parquet", "parts"):
        found = run("encode", "m", *files, "-o", tmp_path / out)
        assert found.exit_code == 0
        said = f"note: no column of ids in {files[0]} and 2 other files (columns left out: doc_ids): rows are"
        assert found.stderr.startswith(said)


def test_files_that_do_not_fit_together_are_refused(run, here, source, tmp_path):
    first = source / "part-0.parquet"
    found = run("encode", "m", first, source, "-o", tmp_path / "out")
    assert found.exit_code == 2
    assert f"{first} is given twice" in found.stderr
    found = run("encode", "m", first, tmp_path / "none.parquet", "-o", tmp_path / "out")
    assert found.exit_code == 2
    assert "none.parquet" in found.stderr
    np.save(tmp_path / "wide.npy", np.zeros((3, 65), np.float32))
    found = run("encode", "m", first, tmp_path / "wide.npy", "-o", tmp_path / "one.parquet")
    assert found.exit_code == 2
    assert "other columns" in found.stderr
    assert "wide.npy" in found.stderr
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "one.parquet").exists()


def test_a_rerun_makes_what_has_changed_and_nothing_else(machine, run, here, source, tmp_path):
    words = ("encode", "m", source, "-o", tmp_path / "out")
    machine(*words)
    whole, before = content(tmp_path / "out"), stamps(tmp_path / "out")
    assert machine(*words)["complete before"] == 5
    assert (content(tmp_path / "out"), stamps(tmp_path / "out")) == (whole, before)
    write_part(source, 1, X[:60], 60)  # another input of the same size
    assert machine(*words)["complete before"] == 4
    np.testing.assert_array_equal(load_codes(tmp_path / "out").table[60:120], load_model("m").encode(X[:60]))
    after = stamps(tmp_path / "out")
    assert {name for name in after if after[name] != before[name]} == {"part-1.parquet"}
    write_part(source, 1, X[260:320], 60)
    path = tmp_path / "out" / "part-0.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    assert machine(*words)["complete before"] == 3
    assert content(tmp_path / "out") == whole
    assert machine("encode", "w", source, "-o", tmp_path / "out")["complete before"] == 0
    assert machine("encode", "w", source, "-o", tmp_path / "out", "--bits", 9)["complete before"] == 0
    assert load_codes(tmp_path / "out").n_bits == 9


def test_folders_that_are_not_whole_are_refused(machine, run, here, source, tmp_path):
    out = tmp_path / "out"
    machine("encode", "m", source, "-o", out)
    shutil.move(out / "part-2.parquet", tmp_path / "moved")
    refused = run("index", out, "-o", tmp_path / "i")
    assert (refused.exit_code, "part-2.parquet is missing or has changed; encode again" in refused.stderr) == (
        2,
        True,
    )
    before = content(out)
    for words in (("--bits", 99), ("--column", "id"), ("--id", "v")):
        assert run("encode", "m", source, "-o", out, *words).exit_code == 2
    assert content(out) == before  # a command that is refused leaves the parts
    (source / "part-4.parquet").unlink()
    refused = run("encode", "m", source, "-o", out)
    assert "it holds part-4.parquet, for which there is no file of vectors; delete" in refused.stderr
    assert "this command reads it; give another folder" in run("encode", "m", source, "-o", source).stderr
    (out / "manifest.json").write_text("{}")
    assert "manifest.json: it is damaged" in run("index", out, "-o", tmp_path / "i").stderr


def test_a_part_that_fails_leaves_the_others(machine, run, here, source, tmp_path):
    rows = X[:60].copy()
    rows[7, 3] = np.nan
    write_part(source, 2, rows, 120)
    refused = run("encode", "m", source, "-o", tmp_path / "out")
    assert (refused.exit_code, "row 7, column 3" in refused.stderr) == (2, True)
    refused = run("index", tmp_path / "out", "-o", tmp_path / "i")
    assert "2 of 5 parts are complete; encode again into this folder" in refused.stderr
    write_part(source, 2, X[320:380], 120)
    assert machine("encode", "m", source, "-o", tmp_path / "out")["complete before"] == 2


def test_files_that_are_in_the_way_are_refused_before_a_part_is_made(run, here, source, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    pq.write_table(pa.table({"mine": [1]}), out / "part-4.parquet")
    refused = run("encode", "m", source, "-o", out)
    assert "part-4.parquet: it is a Parquet (.parquet) file, not codes; give another name" in refused.stderr
    assert [each.name for each in out.iterdir()] == ["part-4.parquet"]
    assert run("encode", "m", source, "-o", out, "--force").exit_code == 0
    assert len(load_codes(out).table) == 240


def test_an_output_that_the_next_run_would_read_is_refused(run, here, source):
    for data, out in ((source, "out"), (source, "c.parquet"), (source / "*.parquet", "c.parquet")):
        refused = run("encode", "m", data, "-o", source / out)
        assert (refused.exit_code, "would be a part of" in refused.stderr) == (2, True), refused.stderr
    assert len(list(source.iterdir())) == N_PARTS
    assert run("encode", "m", source / "part-*.parquet", "-o", source / "codes.parquet").exit_code == 0


def test_rows_of_another_length_are_refused_with_the_file(run, here, tmp_path):
    np.save(tmp_path / "x.npy", X[:3, :9])
    refused = run("encode", "m", tmp_path / "x.npy", "-o", tmp_path / "c")
    assert "x.npy has rows of 9 features, and the model encodes rows of 64 features" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--lists", "--bits", 9, "--queries")])
def test_several_processes_write_the_same_bytes(machine, run, here, source, tmp_path, words):
    one, two = (("encode", "m", source, "-o", tmp_path / name, *words) for name in ("one", "two"))
    expected = machine(*one)
    assert machine(*two, "--jobs", 2) == {**expected, "file": str(tmp_path / "two")}
    assert content(tmp_path / "two") == content(tmp_path / "one")
    assert machine(*two, "--jobs", 3)["complete before"] == 5


@pytest.mark.slow
def test_a_file_that_fails_in_a_process_is_named(run, machine, here, source, tmp_path):
    rows = X[:60].copy()
    rows[7, 3] = np.nan
    write_part(source, 2, rows, 120)
    refused = run("encode", "m", source, "-o", tmp_path / "out", "--jobs", 2)
    assert (refused.exit_code, "part-2.parquet holds 1 NaN" in refused.stderr) == (2, True), refused.stderr
    write_part(source, 2, X[320:380], 120)
    machine("encode", "m", source, "-o", tmp_path / "out")
    assert len(load_codes(tmp_path / "out").table) == 240


def test_lists_are_codes_as_bytes_are(machine, run, here, source, tmp_path):
    machine("encode", "m", source, "-o", tmp_path / "out")
    machine("index", tmp_path / "out", "-o", tmp_path / "i")
    machine("encode", "m", source, "-o", tmp_path / "lists", "--lists")
    machine("index", tmp_path / "lists", "-o", tmp_path / "j")
    assert (tmp_path / "i").read_bytes() == (tmp_path / "j").read_bytes()
    assert machine("encode", "m", source, "-o", tmp_path / "out", "--lists")["complete before"] == 0
    assert content(tmp_path / "out") == content(tmp_path / "lists")


def test_a_folder_that_another_run_writes_into_is_refused(run, machine, here, source, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with alone_in(out):
        refused = run("encode", "m", source, "-o", out)
    assert (refused.exit_code, f"another process writes into {out}" in refused.stderr) == (2, True)
    assert not list(out.iterdir())
    assert machine("encode", "m", source, "-o", out)["rows"] == 240


def test_options_that_do_not_fit_the_output_are_refused(assert_refused, source):
    assert_refused(["encode", "m", "x.npy", "-o", "new.npy", "--lists"], "ends in .parquet, not new.npy")
    assert_refused(["encode", "m", source, "-o", "new.parquet", "--jobs", "2"], "--jobs 2 encodes each file")


_KILLED = """
import os, signal, sys
from structhash.cli.commands import app
moment, out, *words = sys.argv[1:]
seen = 0
def watch(event, args):
    global seen
    if event in ("open", "os.rename", "os.mkdir", "os.rmdir", "shutil.rmtree") and out in str(args[0]):
        seen += 1
        if seen == int(moment):
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
app(words)
"""


@pytest.mark.slow
def test_a_process_killed_at_any_moment_and_run_again_gives_the_same_bytes(
    machine, in_a_process, here, source, tmp_path
):
    out, whole = tmp_path / "out", tmp_path / "whole"
    machine("encode", "m", source, "-o", whole)
    killed = 0
    for moment in (1, 4, 9, 14, 21, 30, 41):  # accesses to the folder, of all kinds
        ended = in_a_process(_KILLED, moment, out, "encode", here / "m", source, "-o", out)
        killed += ended == -signal.SIGKILL
        machine("encode", "m", source, "-o", out)
        assert content(out) == content(whole), moment
        shutil.rmtree(out)
    assert killed >= 5


_COMMAND = "import sys; from structhash.cli.commands import app; app(sys.argv[1:])"


def test_an_interrupt_says_which_parts_are_complete(run, machine, here, source, tmp_path, monkeypatch):
    def stop_at_the_third(path):
        if path.name == "part-2.parquet":
            raise KeyboardInterrupt
        return hash_file(path)

    words = ["encode", "m", source, "-o", tmp_path / "out"]
    with monkeypatch.context() as patch:
        patch.setattr("structhash.cli._encode_parts.hash_file", stop_at_the_third)
        found = run(*words)
    complete = f"2 of 5 files of codes are complete in {tmp_path / 'out'}"
    said = f"note: {complete}; the same command goes on from there\ninterrupted\n"
    assert (found.exit_code, found.stderr) == (130, said)
    assert machine(*words)["complete before"] == 2


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "n_moments"), [(1, 10), (2, 4)])
def test_random_moments_of_an_end_by_force_leave_no_trace(
    machine, in_a_process, here, source, tmp_path, jobs, n_moments
):
    out, whole, rng = tmp_path / "out", tmp_path / "whole", np.random.default_rng(jobs)
    for part in range(N_PARTS):
        rows = np.tile(X[200:500], (15, 1))[part:]
        write_part(source, part, rows, part * len(rows))
    machine("fit", here / "x.npy", "-o", tmp_path / "lsh", "--method", "lsh", "--bits", 16)
    words = ["encode", tmp_path / "lsh", source, "--jobs", jobs, "-o"]
    machine("encode", tmp_path / "lsh", source, "-o", whole)
    ended, lasts = 0, 1 if jobs == 1 else 6  # seconds that are more than a run takes
    for _ in range(n_moments):
        ended += in_a_process(_COMMAND, *words, out, seconds=lasts * rng.random()) == -signal.SIGKILL
    assert ended
    machine("encode", tmp_path / "lsh", source, "-o", out)
    for path in source.iterdir():  # other processes of a run that was killed end their part
        assert (out / path.name).read_bytes() == (whole / path.name).read_bytes()
    assert (out / "manifest.json").read_bytes() == (whole / "manifest.json").read_bytes()
