"""``structhash store``."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import DistilHash, load_model
from structhash.search import Exact, load_index

X = load_digits()["data"].astype(np.float32)


@pytest.fixture
def files(tmp_path, done):
    """A model without labels, rows, queries, and an index with text ids."""
    DistilHash(24, random_state=0).fit(X[:300]).save(tmp_path / "m")
    np.save(tmp_path / "rows.npy", X[:300])
    np.save(tmp_path / "q.npy", X[300:310])
    (tmp_path / "ids.txt").write_text("".join(f"doc-{i}\n" for i in range(300)))
    done("encode", tmp_path / "m", tmp_path / "rows.npy", "-o", tmp_path / "c")
    done("index", tmp_path / "c", "-o", tmp_path / "i", "--ids", tmp_path / "ids.txt")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["bits", "real"])
def test_a_store_answers_as_the_index(machine, done, files, reader):
    place = f"duckdb:{files / 'codes.db'}"
    made = machine("store", "export", files / "i", "--to", place, "--table", "a b")
    assert made == {"codes": 300, "bits": 24, "ids": "text", "store": "duckdb", "table": "a b"}
    words = (files / "q.npy", "--model", files / "m", "--reader", reader, "-k", 7)
    assert machine("store", "search", place, *words, "--table", "a b") == machine("search", files / "i", *words)
    assert done("store", "search", place, *words, "--table", "a b") == done("search", files / "i", *words)


def test_codes_are_appended_to_a_table(machine, run, done, files):
    place = f"duckdb:{files / 'codes.db'}"
    done("encode", files / "m", files / "q.npy", "-o", files / "c2")
    (files / "more.txt").write_text("".join(f"more-{i}\n" for i in range(10)))
    done("index", files / "c2", "-o", files / "i2", "--ids", files / "more.txt")
    done("index", files / "c2", "-o", files / "i", "--ids", files / "more.txt", "--append")
    done("store", "export", files / "i2", "--to", place)
    refused = run("store", "export", files / "i", "--to", place, "--append")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert (
        "error: id 'more-0' is in the store already, and so no code was added; give new ids" in refused.stderr
    )
    done("index", files / "c", "-o", files / "i3", "--ids", files / "ids.txt")
    made = machine("store", "export", files / "i3", "--to", place, "--append")
    assert made == {
        "added": 300,
        "codes": 310,
        "bits": 24,
        "ids": "text",
        "store": "duckdb",
        "table": "codes",
    }
    words = (files / "q.npy", "--model", files / "m", "-k", 12)
    assert machine("store", "search", place, *words) == machine("search", files / "i", *words)


def test_what_does_not_fit_is_refused(run, done, files):
    place = f"duckdb:{files / 'codes.db'}"
    done("store", "export", files / "i", "--to", place)
    for words, message in (
        (
            ("export", files / "i", "--to", place),
            "another table (--table), append (--append), or replace=True (--rep",
        ),
        (("export", files / "i", "--to", "nosql:x"), "'nosql' is no store; give one of duckdb, "),
        (("export", files / "i", "--to", "duckdb"), "a colon and its place"),
        (("export", files / "i", "--to", place, "--append", "--replace"), "--replace and --append contradict"),
        (("export", files / "i", "--to", place, "--append", "--table", "t"), "there is no table 't'"),
        (
            ("export", files / "i", "--to", "postgresql://me:secret@h/b"),
            "'postgresql://' is no store; give one",
        ),
        (
            ("search", "postgres://me@h/b", files / "q.npy"),
            "its place: duckdb:codes.db, postgres:postgresql://me@",
        ),
        (("export", files / "i", "--to", "sqlite:///codes.db"), "'sqlite://' is no store"),
        (("search", f"duckdb:{files / 'none.db'}", files / "q.npy"), "no such file"),
        (("search", place, files / "q.npy"), "for vectors, give --model MODEL too"),
        (("search", place, files / "c", "--table", "t"), "there is no table 't'"),
    ):
        found = run("store", *words)
        assert (found.exit_code, found.stdout) == (2, "")
        assert message in found.stderr
        assert "secret" not in found.stderr
    done("store", "export", files / "i", "--to", place, "--replace")


def test_codes_of_another_model_are_refused(run, done, files):
    place = f"duckdb:{files / 'codes.db'}"
    done("store", "export", files / "i", "--to", place)
    assert load_index(files / "i").source == load_model(files / "m").fingerprint()
    DistilHash(24, random_state=1).fit(X[300:600]).save(files / "m2")
    found = run("store", "search", place, files / "q.npy", "--model", files / "m2")
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"error: table codes was made with another model than {files / 'm2'}; give that one" in found.stderr
    done("encode", files / "m2", files / "rows.npy", "-o", files / "c2")
    done("index", files / "c2", "-o", files / "i2", "--ids", files / "ids.txt")
    found = run("store", "export", files / "i2", "--to", place, "--append")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "error: the table has codes of model" in found.stderr


def test_a_reader_of_codes_of_another_length_is_refused_with_the_name_of_the_table(run, done, files):
    place = f"duckdb:{files / 'codes.db'}"
    done("store", "export", files / "i", "--to", place)
    done("reader", files / "m", files / "rows.npy", "-o", files / "r", "--bits", 9)
    found = run("store", "search", place, files / "q.npy", "--model", files / "m", "--reader", files / "r")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "reads codes of 9 bits, table codes has 24; fit one for these" in found.stderr


def test_a_reader_of_tables_is_refused_with_the_call_for_another(run, machine, done, files):
    place = f"duckdb:{files / 'codes.db'}"
    done("store", "export", files / "i", "--to", place)
    given = (files / "q.npy", "--model", files / "m", "-k", 3, "--reader", files / "r")
    for reader in ("tables", "linear"):
        done("reader", files / "m", files / "rows.npy", "-o", files / "r", "--reader", reader)
        found = run("store", "search", place, *given)
        assert (found.exit_code, found.stdout) == (2, "")
        assert "(structhash reader MODEL ROWS -o FILE --reader cells)" in found.stderr
    done("reader", files / "m", files / "rows.npy", "-o", files / "r", "--reader", "cells")
    assert machine("store", "search", place, *given) == machine("search", files / "i", *given)


def test_an_index_with_weights_is_refused(run, files):
    index = Exact(8, np.arange(8))
    index.save(files / "weighted")
    found = run("store", "export", files / "weighted", "--to", f"duckdb:{files / 'codes.db'}")
    assert found.exit_code == 2
    assert "weighs its bits, a store does not" in found.stderr
    assert not (files / "codes.db").exists()


def test_store_alone_and_its_commands_say_how_they_are_used(run, done):
    assert "Missing command" in run("store").stderr
    for command in ("export", "search"):
        text = done("store", command, "--help")
        assert f"Example: structhash store {command} " in text
        assert "…" not in text
