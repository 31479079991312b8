"""``structhash reader``."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import AdditiveHash, DistilHash, fit_reader, load_model, load_reader
from structhash.pieces import load
from structhash.search import Exact

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


@pytest.fixture
def files(tmp_path):
    """A model without labels, and its rows."""
    DistilHash(12, random_state=0).fit(X[:300]).save(tmp_path / "m")
    np.save(tmp_path / "rows.npy", X[:300])
    return tmp_path


@pytest.mark.parametrize("name", ["auto", "tables", "cells"])
@pytest.mark.parametrize("bits", [None, 9])
def test_the_file_is_what_the_library_fits(machine, files, name, bits):
    words = ("--reader", name, "--seed", 3, *(() if bits is None else ("--bits", bits)))
    found = machine("reader", files / "m", files / "rows.npy", "-o", files / "r", *words)
    model = load_model(files / "m")
    expected = fit_reader(model, X[:300], bits, name, 3)
    reader = load_reader(files / "r", model)
    assert (found["reader"], found["bits"], found["bytes"]) == (expected.name, bits or 12, expected.nbytes)
    assert found["recalls"] == expected.recalls
    assert (reader.name, reader.n_bits) == (expected.name, expected.n_bits)
    for key, array in expected.arrays.items():
        np.testing.assert_array_equal(reader.arrays[key], array)


def test_search_takes_it(machine, done, files):
    done("encode", files / "m", files / "rows.npy", "-o", files / "c")
    done("index", files / "c", "-o", files / "i")
    text = done("reader", files / "m", files / "rows.npy", "-o", files / "r", "--reader", "tables")
    assert "recall" not in text
    words = files / "i", files / "rows.npy", "--model", files / "m", "--reader", files / "r", "-k", 1
    found = machine("search", *words)["results"]
    assert np.mean([each["ids"] == [row] for row, each in enumerate(found)]) > 0.2


def test_people_see_what_each_reader_finds(done, files):
    text = done("reader", files / "m", files / "rows.npy", "-o", files / "r")
    assert all(name in text for name in ("bits", "real", "cells", "linear", "tables"))


def test_what_cannot_be_fitted_is_refused_and_nothing_is_written(run, files):
    load("baselines", "spher:n_bits=8").fit(X[:300]).save(files / "spher")
    load("baselines", "pq:n_bits=8").fit(X[:300]).save(files / "pq")
    np.save(files / "few.npy", X[:9])
    np.save(files / "narrow.npy", X[:300, :5])
    for words, message in (
        (("spher", "rows.npy", "-o", "new", "--reader", "real"), "no signs of real values"),
        (("pq", "rows.npy", "-o", "new"), "on the command line, search with --reader auto"),
        (("m", "rows.npy", "-o", "new", "--reader", "magic"), "reader='magic': give"),
        (("m", "rows.npy", "-o", "new", "--bits", 13), "n_bits=13: this model has 12 bits"),
        (("m", "few.npy", "-o", "new"), "X has 9 rows; give at least 50, or name a reader"),
        (("m", "narrow.npy", "-o", "new"), "features"),
        (("m", "rows.npy", "-o", "rows.npy"), ".npy files hold data"),
        (("m", "rows.npy", "-o", "m"), "this command reads it"),
        (("m", "rows.npy", "-o", "spher"), "not reader; give another name, or --force"),
    ):
        given = [files / word if (files / str(word)).exists() or word == "new" else word for word in words]
        result = run("reader", *given)
        assert result.exit_code == 2, words
        assert message in result.stderr
        assert not (files / "new").exists()


def test_a_reader_is_replaced_by_a_reader(done, files):
    for name in ("cells", "linear"):
        done("reader", files / "m", files / "rows.npy", "-o", files / "r", "--reader", name)
    assert load_reader(files / "r", load_model(files / "m")).name == "linear"


def test_codes_that_are_no_bits_are_searched_with_their_own_queries(run, machine, done, files):
    model = load("baselines", "pq:n_bits=16,random_state=0").fit(X[:300])
    model.save(files / "pq")
    done("encode", files / "pq", files / "rows.npy", "-o", files / "c")
    done("index", files / "c", "-o", files / "i")
    words = "search", files / "i", files / "rows.npy", "--model", files / "pq"
    refused = run(*words)
    assert refused.exit_code == 2
    assert "codes of PQ are numbers, not bits that a query could share: search with prepare" in refused.stderr
    found = machine(*words, "-k", 1, "--reader", "auto")["results"]
    assert np.mean([each["ids"] == [row] for row, each in enumerate(found)]) > 0.8
    refused = run("search", files / "i", files / "c", "-k", 1)
    assert (refused.exit_code, "numbers of centroids" in refused.stderr) == (2, True)
    assert machine("info", files / "pq")["reader"] == "tables"
    refused = run(*words, "--reader", "nosuch")
    assert "reader='nosuch': codes of PQ are numbers, not bits; give reader='auto'" in refused.stderr


def test_search_asks_for_near_rows(run, machine, done, files):
    model = AdditiveHash(16, random_state=0).fit(X[:300], Y[:300])
    model.save(files / "sums")
    done("encode", files / "sums", files / "rows.npy", "-o", files / "c")
    done("index", files / "c", "-o", files / "i")
    words = "search", files / "i", files / "rows.npy", "--model", files / "sums", "-k", 3
    found = machine(*words, "--reader", "near")["results"]
    rows = np.load(files / "rows.npy")
    index = Exact(16)
    index.add(model.encode(rows))
    expected = index.search(model.prepare_queries(rows, reader="near"), 3)[1]
    assert [each["ids"] for each in found] == expected.tolist()
    assert found != machine(*words, "--reader", "auto")["results"]


def test_bits_have_no_near_reader(done, run, files):
    done("encode", files / "m", files / "rows.npy", "-o", files / "c")
    done("index", files / "c", "-o", files / "i")
    refused = run("search", files / "i", files / "rows.npy", "--model", files / "m", "--reader", "near")
    assert refused.exit_code == 2
    assert "--reader near: bits have no such reader, codes of AdditiveHash have" in refused.stderr
