"""The pages about stores run, against a real PostgreSQL; the table of readers is right."""

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import structhash.search
import structhash.stores
from structhash import AdditiveHash, DistilHash, fit_reader
from structhash.cli.commands import app
from structhash.codes import PreparedQueries, pack, prepare_values, unpack
from structhash.pieces import classes

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


WEIGHTS = np.linspace(0.5, 2, 16)
LARGE = 10_000  # codes, from which on IVF and HNSW have a structure
REFUSALS = "takes packed codes, not prepared queries|got a decoder"


def table_of_readers():
    """For each index and store, the cell of each column of the table."""
    text = (DOCS / "search.md").read_text()
    lines = re.search(r"^(\| index or store \|.*\n)\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in "".join(lines.groups()).splitlines()]
    columns = rows.pop(0)
    return {row[0].strip("`"): dict(zip(columns[1:], row[1:])) for row in rows}


@pytest.fixture(scope="module")
def asked():
    """For each column of the table, pairs of codes and queries."""
    X, y = load_digits(return_X_y=True)
    X, y, Q = X[3:], y[3:], X[:3]
    encoder = DistilHash(16, random_state=0).fit(X[:400])
    plain, *labelled = (AdditiveHash(n_bits, random_state=0) for n_bits in (16, 16, 8))
    plain.fit(X)
    assert [each.fit(X[:400], y[:400], unlabeled=X[:400]).has_class_byte_ for each in labelled] == [True, False]
    codes, queries = encoder.encode(X), encoder.encode_queries(Q)

    def read(name):
        return codes, fit_reader(encoder, X[:400], reader=name).prepare(Q)

    def own(model):
        return model.encode(X), model.prepare_queries(Q)

    return {
        "`bits`": [(codes, queries)],
        "`bits` with weights": [(codes, prepare_values(2.0 * unpack(queries, 16) - 1, WEIGHTS))],
        "`real`, `cells`": [(codes, encoder.prepare_queries(Q, reader="real")), read("cells")],
        "`AdditiveHash` with labels": [own(each) for each in labelled],
        "`linear`, `tables`, `AdditiveHash` without labels": [read("linear"), read("tables"), own(plain)],
    }


def all_distances(codes, queries):
    """Distances of all queries to all codes, as the formulas say them."""
    if not isinstance(queries, PreparedQueries):
        return (unpack(queries, 16)[:, None] != unpack(codes, 16)).sum(axis=2)
    bits, of_bytes = unpack(codes, queries.n_bits).astype(float), range(codes.shape[1])
    values, decoder = queries.values.astype(float), queries.decoder
    added = values @ bits.T if values.ndim == 2 else sum(values[:, j, codes[:, j]] for j in of_bytes)
    if decoder is not None:
        v = decoder.vectors
        decoded = bits @ v if v.ndim == 2 else sum(v[j, codes[:, j]].astype(float) for j in of_bytes)
        added = added + ((decoder.offset + decoded) ** 2).sum(axis=1)
    return queries.base[:, None] + added


def searched(place, codes, queries, weighted):
    """Search codes in an index, by its class, or in a store."""
    n_bits = queries.n_bits if isinstance(queries, PreparedQueries) else 16
    if isinstance(place, structhash.stores.Store):
        place.export(codes, n_bits, replace=True)
        return place.search(queries, k=5)
    index = place(n_bits, weights=WEIGHTS) if weighted else place(n_bits)
    index.n_probe = LARGE  # so that IVF misses nothing
    index.add(codes)
    return index.search(pack(queries.values < 0) if weighted else queries, k=5)


def test_the_table_of_readers_names_every_index_and_store():
    pieces = [piece.__name__ for kind in ("indexes", "stores") for piece in classes(kind).values()]
    assert sorted(table_of_readers()) == sorted(pieces)


@pytest.mark.slow
@pytest.mark.parametrize("name", table_of_readers())
def test_readers_work_where_the_table_says(name, asked, tmp_path, request):
    place = getattr(structhash.search, name, None)
    if place is None:
        served = name in ("Postgres", "PGVector")
        address = request.getfixturevalue("database") if served else str(tmp_path / "codes.db")
        place = getattr(structhash.stores, name)(address)
    for column, cell in table_of_readers()[name].items():
        assert cell in ("yes", "no", "prepared")
        for codes, queries in asked[column]:
            codes = np.resize(codes, (LARGE, codes.shape[1]))
            weighted = column == "`bits` with weights" and cell == "yes"
            if cell == "no":
                with pytest.raises((TypeError, ValueError), match=REFUSALS):
                    searched(place, codes, queries, weighted)
                if column == "`bits` with weights":
                    with pytest.raises(TypeError, match="weights"):
                        place(16, weights=WEIGHTS)
                continue
            distances, ids = searched(place, codes, queries, weighted)
            true = all_distances(codes, queries)
            np.testing.assert_allclose(distances, np.take_along_axis(true, ids, 1), rtol=1e-4, atol=1e-4)
            if name != "HNSW":  # which may miss some
                np.testing.assert_allclose(distances, np.sort(true, axis=1)[:, :5], rtol=1e-4, atol=1e-4)
