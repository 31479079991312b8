"""Command lines that are run in this process, and a folder of data, models, codes and indexes."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

from structhash.cli.commands import app
from structhash.search import Exact

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def run_command(*words):
    """Result of one command line."""
    return CliRunner().invoke(app, [str(word) for word in words])


def output_of(*words):
    """stdout of a command that succeeds and prints nothing on stderr."""
    result = run_command(*words)
    assert (result.exit_code, result.stderr) == (0, ""), (result.output, result.exception)
    return result.stdout


def document_of(*words):
    """The JSON document of a command that works."""
    return json.loads(output_of(*words, "--json"))


@pytest.fixture(scope="session")
def run():
    return run_command


@pytest.fixture(scope="session")
def done():
    return output_of


@pytest.fixture(scope="session")
def machine():
    return document_of


def write_data(folder):
    """Data sets, good ones and bad ones."""
    x, y = X[:200], Y[:200]
    np.savez(folder / "train.npz", X=x, y=y)
    np.savez(folder / "test.npz", X=X[200:500], y=Y[200:500])
    qrels = np.array([[0, 3, 2], [0, 5, 1], [1, 7, 1]])
    np.savez(folder / "judged.npz", X=X[200:260], Q=X[:2], qrels=qrels)
    several = np.column_stack([Y % 2 == 0, Y % 3 == 0, Y > 6])[200:500]  # of several labels; 1 and 5 have none
    np.savez(folder / "several.npz", X=X[200:500], y=several.astype(np.uint8))
    np.save(folder / "x.npy", X[200:500])
    np.save(folder / "pixels.npy", X[200:500].astype(np.uint8))
    np.save(folder / "ids.npy", np.arange(300)[::-1] * 10)
    np.save(folder / "twice.npy", np.zeros(300, int))
    header = ",".join([*(f"p{j}" for j in range(64)), "label"])
    np.savetxt(folder / "train.csv", np.column_stack([x, y]), "%d", ",", header=header, comments="")
    write_bad_data(folder, x, y)


def write_bad_data(folder, x, y):
    """Data sets that some command refuses."""
    for name, value in (("nan", np.nan), ("inf", np.inf)):
        spoiled = x.copy()
        spoiled[3, 2] = value
        np.savez(folder / f"{name}.npz", X=spoiled, y=y)
    np.savez(folder / "narrow.npz", X=x[:, :5], y=y)
    np.savez(folder / "one_class.npz", X=x, y=y * 0)
    np.savez(folder / "one_row.npz", X=x[:1], y=y[:1])
    np.savez(folder / "three_rows.npz", X=x[:3], y=y[:3] * 0)
    np.savez(folder / "constant.npz", X=x * 0 + 1, y=y)
    np.savez(folder / "own_label.npz", X=x, y=np.arange(200))
    np.savez(folder / "two_labels.npz", X=x, y=np.column_stack([y, y]))
    np.savez(folder / "nan_label.npz", X=x, y=np.where(y == 3, np.nan, y))
    np.savez(folder / "three_classes.npz", X=x, y=y % 3)
    for name, rows in {"wide": [[0, 3]], "far": [[0, 60, 1]], "low": [[0, 1, -1]], "none": [[0, 1, 0]]}.items():
        np.savez(folder / f"qrels_{name}.npz", X=X[200:260], Q=X[:2], qrels=np.array(rows))
    rng = np.random.default_rng(0)
    (folder / "garbage.npz").write_bytes(rng.bytes(500))
    (folder / "garbage.npy").write_bytes(rng.bytes(500))
    (folder / "short.txt").write_text("a\nb\n")
    (folder / "latin.txt").write_bytes("é\n".encode("latin-1") * 300)
    (folder / "docs.csv").write_text("doc,a,a\nx,1,2\ny,1\n")
    (folder / "data.txt").write_text("1 2\n")
    (folder / "other.json").write_text('{"lines": 1}')


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with data, two models (m does not weigh its bits, w does), their codes and their indexes.

    Codes are twice there: m.codes names its model, m.npy is a bare array.
    """
    folder = tmp_path_factory.mktemp("cli")
    write_data(folder)
    output_of("fit", folder / "train.npz", "-o", folder / "m", "--bits", 16)
    weighing = ("--bits", 12, "--method", "cghash:n_near=5,n_far=9")
    output_of("fit", folder / "train.npz", "-o", folder / "w", *weighing)
    for model in "mw":
        codes, index = folder / f"{model}.codes", folder / f"{model}.index"
        output_of("encode", folder / model, folder / "x.npy", "-o", codes)
        output_of("encode", folder / model, folder / "x.npy", "-o", codes.with_suffix(".npy"))
        output_of("index", codes, "-o", index, "--model", folder / model)
    output_of("encode", folder / "m", folder / "x.npy", "-o", folder / "short.codes", "--bits", 9)
    np.save(folder / "short.npy", np.zeros((300, 1), np.uint8))
    other = Exact(16)
    other.add(np.zeros((1, 2), np.uint8))
    other.source = "another model"
    other.save(folder / "other")
    damaged = bytearray((folder / "m").read_bytes())
    (folder / "damaged").write_bytes(damaged[: len(damaged) // 2])
    return folder


@pytest.fixture
def here(place, monkeypatch):
    """`place` as the current folder."""
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def assert_refused(here):
    """A check that a command line ends with one line on stderr, which has these parts, and writes nothing."""

    def check(words, *parts):
        before = {path: path.stat().st_mtime_ns for path in here.iterdir()}
        result = run_command(*(words.split() if isinstance(words, str) else words))
        assert result.exit_code == 2, (result.output, result.exception)
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert [part for part in parts if part not in result.stderr] == [], result.stderr
        assert {path: path.stat().st_mtime_ns for path in here.iterdir()} == before

    return check
