"""The page about stores runs, against a real PostgreSQL."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "stores.md"
ADDRESS = "postgresql://me@localhost/shop"


@pytest.mark.slow
def test_the_page_about_stores_runs(database):
    text = PAGE.read_text()
    assert ADDRESS in text
    test = doctest.DocTestParser().get_doctest(text.replace(ADDRESS, database), {}, PAGE.name, str(PAGE), 0)
    failed, tried = doctest.DocTestRunner().run(test)
    assert tried > 15
    assert failed == 0
