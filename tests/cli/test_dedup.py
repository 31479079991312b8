"""``structhash dedup``."""

import csv

import numpy as np
import pytest

from structhash.codes import hamming, pack
from structhash.io import save_codes
from structhash.io.formats.base import Ids
from structhash.search import near_groups


@pytest.fixture
def codes(tmp_path):
    """Codes of 20 bits in which some are near, and their file."""
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 2, (40, 20))
    table = pack((centres[rng.integers(0, 40, 90)] ^ (rng.random((90, 20)) < 0.03)).astype(np.uint8))
    np.save(tmp_path / "c.npy", table)
    return table


def test_groups_are_written_and_counted(machine, codes, tmp_path):
    out = tmp_path / "g.csv"
    facts = machine("dedup", tmp_path / "c.npy", "--radius", 2, "-o", out)
    groups = near_groups(codes, 24, 2)
    lines = out.read_text().splitlines()
    assert lines[0] == "row,group"
    written = {int(row): int(group) for row, group in (line.split(",") for line in lines[1:])}
    sizes = {group: (groups == group).sum() for group in groups.tolist()}
    assert written == {row: group for row, group in enumerate(groups.tolist()) if sizes[group] > 1}
    assert facts == {
        "codes": 90,
        "bits": 24,
        "radius": 2,
        "groups": sum(size > 1 for size in sizes.values()),
        "rows in groups": len(written),
        "largest group": max(sizes.values()),
        "kept rows": len(sizes),
        "file": str(out),
    }
    kept = [row for row in range(90) if written.get(row, row) == row]
    apart = hamming(codes[kept], codes[kept])
    assert (apart[np.triu_indices(len(kept), 1)] > 2).all()


@pytest.mark.parametrize("text", [True, False])
def test_rows_of_groups_come_with_their_ids(done, tmp_path, text):
    ids = np.array([f'a, "{i}"' for i in range(5)], object) if text else np.arange(5) * 10
    table = np.array([[1], [255], [1], [15], [255]], np.uint8)
    save_codes(tmp_path / "c", [table], 5, 8, ids=Ids("name", text, iter([ids])))
    for _ in range(2):  # the file may be replaced
        done("dedup", tmp_path / "c", "--radius", 0, "-o", tmp_path / "g.csv")
    with open(tmp_path / "g.csv", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["row", "group", "id", "group_id"]
    pairs = (0, 0), (1, 1), (2, 0), (4, 1)
    assert rows == [[str(row), str(group), str(ids[row]), str(ids[group])] for row, group in pairs]


@pytest.mark.parametrize("named", [False, True])
def test_ids_come_from_a_file(done, assert_refused, tmp_path, named):
    """Also in the place of the ids of the codes."""
    table, own = (
        np.array([[1], [255], [1]], np.uint8),
        Ids("name", False, iter([np.arange(3)])) if named else None,
    )
    save_codes(tmp_path / "c", [table], 3, 8, ids=own)
    (tmp_path / "ids.csv").write_text("n,doc\n1,é\n2,b\n3,c\n", encoding="utf-8")
    words = "dedup", tmp_path / "c", "--radius", 0, "-o", tmp_path / "g.csv"
    done(*words, "--ids", tmp_path / "ids.csv", "--id", "doc")
    assert (tmp_path / "g.csv").read_text("utf-8") == "row,group,id,group_id\n0,0,é,é\n2,0,c,é\n"
    (tmp_path / "ids.txt").write_text("7\n8\n7\n")
    for more, part in (
        (("--ids", tmp_path / "ids.txt"), f"--ids {tmp_path}/ids.txt: ids must be unique, but 7 comes 2 times"),
        (("--ids", "short.txt"), "--ids short.txt: ids must have shape (3,), one for each code, got (2,)"),
        (("--id", "doc"), "--id doc is a column of a .csv file: give that by --ids"),
    ):
        assert_refused(["dedup", tmp_path / "c", "--radius", 0, "-o", tmp_path / "new.csv", *more], part)


def test_codes_that_say_their_length_and_no_file(done, codes, tmp_path):
    save_codes(tmp_path / "c.codes", [codes], 90, 20)
    text = done("dedup", tmp_path / "c.codes", "--radius", 0)
    assert "bits            20" in text
    assert "kept rows" in text
    assert "file" not in text


def test_the_file_is_replaced_and_another_is_not(done, assert_refused, codes, tmp_path):
    out = tmp_path / "g.csv"
    for _ in range(2):
        done("dedup", tmp_path / "c.npy", "--radius", 1, "-o", out)
    before = out.read_text()
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    assert_refused(f"dedup {tmp_path}/c.npy --radius 1 -o {tmp_path}/data.csv")
    assert (tmp_path / "data.csv").read_text() == "a,b\n1,2\n"
    done("dedup", tmp_path / "c.npy", "--radius", 1, "-o", tmp_path / "data.csv", "--force")
    assert (tmp_path / "data.csv").read_text() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--radius 24 --max-pairs 100", "more than 100 pairs of the first"),
        ("--radius 1 -o groups.json", "give a name that ends in .csv"),
        ("--radius -1", "--radius"),
        ("", "--radius"),
    ],
)
def test_what_cannot_be_done_is_refused(run, codes, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    ended = run("dedup", "c.npy", *words.split())
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert not list(tmp_path.glob("groups*"))


def test_no_codes_have_no_groups(machine, tmp_path):
    np.save(tmp_path / "none.npy", np.zeros((0, 2), np.uint8))
    facts = machine("dedup", tmp_path / "none.npy", "--radius", 1)
    assert (facts["codes"], facts["groups"], facts["kept rows"]) == (0, 0, 0)
