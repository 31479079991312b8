"""The programs on docs/export.md run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import psycopg
import pytest

from structhash.export import ENCODERS, export_model, write_export
from structhash.export.sql import postgresql_text

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


@pytest.fixture
def folder(tmp_path, model_of, rows, monkeypatch):
    exported = export_model(model_of("centered"))
    for to in ("npz", "json", "sql"):
        write_export(exported, tmp_path / f"model.{to}", to)
    for path in ENCODERS.values():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python(folder, model_of, rows):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    write_export(export_model(model_of("centered")), folder / "model.onnx", "onnx")
    expected = model_of("centered").encode(rows[:20])
    assert len(blocks("python")) == 2
    for code in blocks("python"):
        np.save("rows.npy", rows[:20])
        head = "import numpy as np\nrows = queries = np.load('rows.npy')\n"
        Path("run.py").write_text(f"{head}{code}\nnp.save('codes.npy', codes)\n")
        subprocess.run([sys.executable, "run.py"], check=True)
        np.testing.assert_array_equal(np.load("codes.npy"), expected)


def test_javascript(folder, model_of, rows):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    (code,) = blocks("javascript")
    vector = f"const vector = {rows[0].astype(float).tolist()};"
    (folder / "run.mjs").write_text(f"{vector}\n{code}\nconsole.log(code.join(), coefficients.length);")
    found = subprocess.run([node, "run.mjs"], capture_output=True, text=True, check=True).stdout.split()
    assert found == [",".join(map(str, model_of("centered").encode(rows[:1])[0])), "20"]


def test_duckdb(folder, model_of, rows):
    duckdb = pytest.importorskip("duckdb")
    code = next(each for each in blocks("sql") if ".read" in each)
    with duckdb.connect() as connection:
        connection.execute((folder / "model.sql").read_text())
        connection.execute("CREATE TABLE documents (id INTEGER, code BLOB)")
        codes = model_of("centered").encode(rows[:30])
        connection.executemany(
            "INSERT INTO documents VALUES (?, ?)", [[i, c.tobytes()] for i, c in enumerate(codes)]
        )
        found = connection.execute(code.replace(".read model.sql\n", ""), [rows[3].tolist()]).fetchall()
    distances = np.bitwise_count(codes ^ codes[3]).sum(axis=1)
    nearest = np.argsort(distances, kind="stable")[:10]
    assert found == [(i, distances[i]) for i in nearest]


@pytest.mark.slow
def test_postgresql(database, model_of, rows):
    model, listed = model_of("centered"), rows[:30].astype(float).tolist()
    code = next(each for each in blocks("sql") if "ALTER" in each)
    *statements, search = code.replace("bit(64)", "bit(20)").strip().removesuffix(";").split(";")
    with psycopg.connect(database) as connection:
        connection.execute(postgresql_text(export_model(model)))
        connection.execute("CREATE TABLE documents (id integer, embedding float8[])")
        connection.cursor().executemany("INSERT INTO documents VALUES (%s, %s)", list(enumerate(listed)))
        connection.execute(";".join(statements))
        found = connection.execute(search.replace("$1", "%s::float8[]"), [listed[3]]).fetchall()
    codes = model.encode(rows[:30])
    distances = np.bitwise_count(codes ^ codes[3]).sum(axis=1)
    assert found == [(i, distances[i]) for i in np.argsort(distances, kind="stable")[:10]]
