"""The pages about stores run, against a real PostgreSQL."""

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from structhash.cli.commands import app

DOCS = Path(__file__).parents[2] / "docs"
ADDRESS = "postgresql://me@localhost/shop"


def run(text, database):
    """Run the snippets of a text in a database: failed and tried examples."""
    assert ADDRESS in text
    test = doctest.DocTestParser().get_doctest(text.replace(ADDRESS, database), {}, "page", None, 0)
    return doctest.DocTestRunner().run(test)


@pytest.fixture
def articles(tmp_path, monkeypatch):
    """The Parquet files of the page in the current folder; the queries are two articles with noise."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 16)).astype(np.float32)
    for name, prefix, rows in (("articles", "doc", X), ("queries", "query", X[[7, 42]] + np.float32(1e-4))):
        ids = [f"{prefix}-{row + (prefix == 'query')}" for row in range(len(rows))]
        pd.DataFrame({"doc_id": ids, "embedding": list(rows)}).to_parquet(f"{name}.parquet")


@pytest.mark.slow
def test_the_page_about_stores_runs(database, articles):
    text = (DOCS / "stores.md").read_text()
    failed, tried = run(text, database)
    assert tried > 15
    assert failed == 0
    commands = re.findall(r"^    structhash (.*)", text, re.M)
    assert len(commands) > 4
    for command in commands:
        words = [word.replace(ADDRESS, database) for word in shlex.split(command)]
        done = CliRunner().invoke(app, words)
        assert (done.exit_code, "ids" in done.stderr) == (0, False), (command, done.stderr)
    lines = [line.split()[:3] for line in done.stdout.splitlines()]
    assert [each for each in lines if each[1] == "1"] == [["query-1", "1", "doc-7"], ["query-2", "1", "doc-42"]]


@pytest.mark.slow
def test_the_tutorial_runs(database):
    text = (DOCS / "tutorials" / "postgresql.md").read_text()
    failed, tried = run("\n".join(re.findall(r"^```pycon\n(.*?)^```", text, re.M | re.S)), database)
    assert tried > 15
    assert failed == 0
