"""``structhash recall``."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import image
from sklearn.datasets import load_digits

from structhash.cli.recall import draw_rows
from structhash.evaluation import estimate_recall

X = load_digits().data[:400].astype(np.float32)
USUAL = ("--bits", "8,16", "--queries", 50, "-k", 5)


@pytest.fixture
def rows(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


@pytest.mark.slow
def test_machines_get_what_the_library_finds(machine, rows):
    found = machine("recall", rows, *USUAL, "--seed", 3, "--reader", "real", "--recall", 0.9)
    expected = estimate_recall(X, [8, 16], 5, 50, "real", recall=0.9, random_state=3)
    assert found["lines"] == [line._asdict() for line in expected.lines]
    assert (found["rows"], found["drawn"], found["n_queries"], found["n_database"]) == (400, 400, 50, 350)
    assert found["vectors"] == {"n_bytes": 256, "dtype": "float32"}


@pytest.mark.slow
def test_people_see_bytes_recalls_and_the_factor(done, rows):
    lines = done("recall", rows, *USUAL).splitlines()
    expected = estimate_recall(X, [8, 16], 5, 50).lines
    assert lines[0] == "recall@5 of 50 queries against 350 rows, nearest by Euclidean distance"
    assert lines[2].split() == ["row", "bytes", "bits", "read", "reader", "rescored", "factor", "sums"]
    for line, text in zip(expected, lines[3:5], strict=True):
        shown = [f"{value:.4g}" for value in (line.bits, line.read, line.rescored)]
        cells = [
            str(line.n_bits),
            "bits",
            str(line.n_bytes),
            *shown[:2],
            line.reader,
            shown[2],
            "10",
            f"{line.sums:.4g}",
        ]
        assert text.split() == cells
    assert lines[5].split() == ["vectors,", "float32", "256", "1", "1", "1"]


@pytest.mark.slow
def test_a_large_file_is_sampled_and_repeated_rows_are_named(done, machine, tmp_path):
    np.save(tmp_path / "often.npy", np.repeat(X, 2, axis=0))
    words = ("recall", tmp_path / "often.npy", *USUAL, "--max-rows", 300)
    assert machine(*words)["drawn"] == 300
    lines = done(*words).splitlines()
    assert lines[0] == "a sample of 300 of 800 rows; with all rows, recall is lower"
    assert lines[1].endswith(" rows repeat another and are left out")
    drawn = draw_rows(tmp_path / "often.npy", 300, 0, {})[0]
    assert int(lines[1].split()[0]) == 300 - len(np.unique(drawn, axis=0)) > 0


def test_rows_are_drawn_from_all_blocks_without_repetition(tmp_path):
    numbers = np.arange(5_000_000, dtype=np.float32)[:, None]  # several blocks
    np.save(tmp_path / "x.npy", numbers)
    drawn, n = draw_rows(tmp_path / "x.npy", 1000, 1, {})
    assert n == len(numbers)
    expected = np.sort(np.random.default_rng(1).permutation(n)[:1000])
    np.testing.assert_array_equal(drawn[:, 0], expected)
    few, n = draw_rows(tmp_path / "x.npy", n + 1, 1, {})
    assert (len(few), n) == (5_000_000, 5_000_000)


@pytest.mark.slow
def test_the_picture_is_written_and_replaced_but_no_other(done, run, rows):
    folder = rows.parent
    for name in ("r.png", "r.svg", "r.png"):
        done("recall", rows, *USUAL, "--plot", folder / name)
    drawn = image.imread(folder / "r.png")
    assert drawn.shape[:2] == (600, 900)
    assert len(np.unique(drawn.reshape(-1, drawn.shape[2]), axis=0)) > 3
    assert (folder / "r.svg").read_text().startswith("<?xml")
    image.imsave(folder / "mine.png", np.zeros((2, 2)))
    before = (folder / "mine.png").read_bytes()
    result = run("recall", rows, *USUAL, "--plot", folder / "mine.png")
    assert result.exit_code == 2
    assert "not plot; give another name, or --force" in result.stderr
    assert (folder / "mine.png").read_bytes() == before


def test_without_matplotlib_it_is_named_before_the_work(run, rows, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("recall", rows, "--plot", rows.parent / "r.png")
    assert result.exit_code == 2
    assert "--plot needs matplotlib, which is not installed; pip install structhash[report]" in result.stderr
    assert not (rows.parent / "r.png").exists()


def test_only_a_picture_needs_matplotlib():
    code = "import sys, structhash.cli.recall; print('matplotlib' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


def test_what_cannot_be_done_is_refused(run, rows):
    np.save(rows.parent / "few.npy", X[:9])
    np.save(rows.parent / "none.npy", X[:0])
    for words, message in (
        ((rows, "--bits", "8,x"), "--bits '8,x': give whole numbers of at least 1"),
        ((rows, "--factor", 3, "--recall", 0.5), "--factor and --recall contradict each other"),
        ((rows, "--recall", 0), "recall=0.0: give a number above 0"),
        ((rows, "--reader", "magic"), "reader='magic': give"),
        ((rows, "--plot", "r.pdf"), "--plot r.pdf: give a name that ends in .png or .svg"),
        ((rows.parent / "few.npy",), "X has 9 different rows; give at least 100"),
        ((rows.parent / "none.npy",), "none.npy has no rows; give some"),
        ((rows.parent / "missing.npy",), "missing.npy"),
    ):
        result = run("recall", *words)
        assert result.exit_code == 2, words
        assert message in result.stderr
