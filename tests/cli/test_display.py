"""Facts, tables and progress on a terminal."""

import io
import json
import logging
import os
import pty
import sys

import numpy as np
import pytest

from structhash import DistilHash
from structhash.cli.display import bar, print_facts, print_table


def test_facts_are_a_line_each_or_one_document(capsys):
    facts = {"file": "m", "numbers": {"a": 1, "b": 0.123456}, "share": 2 / 3}
    print_facts(facts, as_json=False)
    assert capsys.readouterr().out == "file     m\nnumbers  a=1, b=0.1235\nshare    0.6667\n"
    print_facts(facts, as_json=True)
    assert json.loads(capsys.readouterr().out) == facts


def test_numbers_of_a_table_stand_to_the_right(capsys):
    print_table(("name", "value", ""), [("a", 5, "chosen"), ("long name", 12.34567, "")])
    assert capsys.readouterr().out.splitlines() == [
        "name       value",
        "a              5  chosen",
        "long name  12.35",
    ]


def test_a_table_without_rows_is_its_head(capsys):
    print_table(("query", "id"), [])
    assert capsys.readouterr().out == "query  id\n"


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("total", "shown"), [(3, "3 of 3 bits"), (None, "3 bits")])
def test_a_bar_counts_steps_on_a_terminal(monkeypatch, total, shown):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar("fit", total, "bits") as advance:
        for _ in range(3):
            advance()
    assert shown in sys.stderr.getvalue()


@pytest.mark.parametrize(("total", "shown"), [(8, True), (4, False)])
def test_a_bar_of_blocks_is_for_more_than_one(monkeypatch, total, shown):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar("encode", total, "rows", at_once=4) as advance:
        for _ in range(total // 4):
            advance(4)
    assert ("8 of 8 rows" in sys.stderr.getvalue()) == shown
    assert bool(sys.stderr.getvalue()) == shown


def test_a_bar_names_the_stage_that_training_is_in(monkeypatch, digits):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar("fit", 2, "bits"):
        DistilHash(n_bits=2).fit(*digits)
    text = sys.stderr.getvalue()
    parts = ["fitting the embedding (posterior)", "choosing how queries are coded"]
    assert [part for part in parts if f"fit: {part}" not in text] == []
    assert logging.getLogger("structhash.stages").handlers == []


def test_a_bar_shows_nothing_elsewhere(capsys):
    with bar("fit", 3, "bits") as advance:
        advance()
    assert capsys.readouterr() == ("", "")


COMMAND = "from structhash.cli.commands import app; app()"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("encode m many.npy -o c", b"9000 of 9000 rows"),
        ("search m.index many.npy --model m -k 1 -o o.npz", b"9000 of 9000 queries"),
    ],
)
def test_many_rows_and_queries_show_progress_on_a_terminal(
    in_a_process, here, tmp_path, monkeypatch, words, shown
):
    np.save(tmp_path / "many.npy", np.tile(np.load("x.npy"), (30, 1)))
    given = [str(here / word) if word in ("m", "m.index") else word for word in words.split()]
    ours, theirs = pty.openpty()
    monkeypatch.chdir(tmp_path)
    terminal = {"err": os.ttyname(theirs), "TERM": "xterm", "COLUMNS": "200"}
    assert in_a_process(COMMAND, *given, out="out", **terminal) == 0
    os.close(theirs)
    assert shown in os.read(ours, 1 << 16)
    os.close(ours)
    assert "of 9000" not in (tmp_path / "out").read_text()


@pytest.mark.slow
def test_a_terminal_sees_progress(in_a_process, here, tmp_path):
    ours, theirs = pty.openpty()
    words, out = ["fit", "train.npz", "-o", tmp_path / "m", "--bits", "2"], tmp_path / "out"
    assert in_a_process(COMMAND, *words, out=out, err=os.ttyname(theirs), TERM="xterm") == 0
    os.close(theirs)
    assert b"2 of 2 bits" in os.read(ours, 1 << 16)
    os.close(ours)
    assert (tmp_path / "m").is_file()
    assert "seconds" in out.read_text()
