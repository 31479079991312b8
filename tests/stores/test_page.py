"""The pages about stores run, against a real PostgreSQL."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ADDRESS = "postgresql://me@localhost/shop"


def run(text, database):
    """Run the snippets of a text in a database: failed and tried examples."""
    assert ADDRESS in text
    test = doctest.DocTestParser().get_doctest(text.replace(ADDRESS, database), {}, "page", None, 0)
    return doctest.DocTestRunner().run(test)


@pytest.mark.slow
def test_the_page_about_stores_runs(database):
    failed, tried = run((DOCS / "stores.md").read_text(), database)
    assert tried > 15
    assert failed == 0


@pytest.mark.slow
def test_the_tutorial_runs(database):
    text = (DOCS / "tutorials" / "postgresql.md").read_text()
    failed, tried = run("\n".join(re.findall(r"^```pycon\n(.*?)^```", text, re.M | re.S)), database)
    assert tried > 15
    assert failed == 0
