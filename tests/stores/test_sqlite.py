"""SQLite files: what SQL sees, what a killed export leaves, and files that are not right."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from structhash.stores import SQLite


@pytest.fixture
def store(tmp_path):
    return SQLite(str(tmp_path / "a %41?b#.sqlite"))


def execute(place, statement):
    with closing(sqlite3.connect(place)) as connection:
        found = connection.execute(statement).fetchall()
        connection.commit()
    return found


def test_a_user_finds_packed_bytes_in_sql(store, tied_codes):
    codes, _ = tied_codes(50, 100)
    store.export(codes, 100)
    found = execute(store.place, "SELECT code FROM codes ORDER BY id")
    assert [row[0] for row in found] == [row.tobytes() for row in codes]
    with pytest.raises(sqlite3.IntegrityError):
        execute(store.place, "INSERT INTO codes VALUES (99, x'00')")


@pytest.mark.parametrize("source", ["*/", "/* ", " */)", "a/b\\/*"])
def test_a_source_does_not_end_the_comment_that_holds_it(store, tied_codes, source):
    store.export(tied_codes(3, 8)[0], 8, source=source)
    assert store.info().source == source


def test_a_table_of_another_program_stays(store, tied_codes):
    execute(store.place, "CREATE TABLE Codes (a)")
    with pytest.raises(ValueError, match="'codes' is of another program; give another table"):
        store.export(tied_codes(3, 8)[0], 8, replace=True)
    with pytest.raises(ValueError, match="'codes' was not made by export"):
        store.info()


def test_a_first_export_that_fails_leaves_no_file(tmp_path, tied_codes):
    store = SQLite(str(tmp_path / "a.sqlite"), table="sqlite_reserved")
    with pytest.raises(OSError, match=r"SQLite cannot use .*reserved"):
        store.export(tied_codes(3, 8)[0], 8)
    for change in (lambda: store.remove([1]), lambda: store.append(np.zeros((1, 1), np.uint8), 8, [1])):
        with pytest.raises(ValueError, match="no table 'sqlite_reserved'; export codes first"):
            change()
    assert not list(tmp_path.iterdir())


def n_open(place):
    """How often this process has a file open."""
    links = (each for each in Path("/proc/self/fd").iterdir() if each.exists())
    return sum(each.samefile(place) for each in links)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no system that lists open files")
def test_a_file_that_another_export_deletes_while_this_one_waits_is_not_written(store, tied_codes):
    with closing(sqlite3.connect(store.place, isolation_level=None)) as first, ThreadPoolExecutor(1) as pool:
        first.execute("BEGIN IMMEDIATE")
        waiting = pool.submit(store.export, tied_codes(3, 8)[0], 8)
        while n_open(store.place) < 2:
            assert not waiting.done()
        Path(store.place).unlink()
        first.execute("ROLLBACK")
        with pytest.raises(OSError, match="SQLite cannot use"):
            waiting.result()
    store.export(tied_codes(3, 8)[0], 8)
    assert store.info().ntotal == 3


def test_what_is_no_file_of_sqlite_is_refused(tmp_path, tied_codes):
    (tmp_path / "a.txt").write_text("no database " * 9000)
    for place in (str(tmp_path / "a.txt"), str(tmp_path), str(tmp_path / "none" / "a")):
        with pytest.raises(OSError, match="SQLite cannot use"):
            SQLite(place).export(tied_codes(3, 8)[0], 8)
    with pytest.raises(FileNotFoundError, match=r"no such file: .*none\.db; export codes first"):
        SQLite(str(tmp_path / "none.db")).info()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    "wrong", [{"n_bits": "8"}, {"n_bits": 0}, {"id_kind": 3}, {"source": 5}, {"made_by": "me"}]
)
def test_a_table_that_says_what_no_export_says_is_of_another_program(store, wrong):
    about = {"made_by": "structhash", "n_bits": 8, "ntotal": 0, "id_kind": "numbers", "source": None, **wrong}
    execute(store.place, f"CREATE TABLE codes (id INTEGER, code BLOB /* {json.dumps(about)} */)")
    with pytest.raises(ValueError, match="'codes' was not made by export"):
        store.info()
    with pytest.raises(ValueError, match="'codes' is of another program"):
        store.export(np.zeros((1, 1), np.uint8), 8, replace=True)
