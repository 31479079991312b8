"""The console blocks of the pages on evaluation and files run, and print what the pages show."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

DOCS = Path(__file__).parents[2] / "docs"


def console_lines(page):
    """Command lines of the console blocks of a page, each with the output that the page shows."""
    blocks = re.findall(r"^```console\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)
    parts = [part for block in blocks for part in block.split("$ structhash ")[1:]]
    return [part.split("\n", 1) for part in parts]


def assert_alike(found, shown):
    """Check two texts word by word. Numbers may differ as those of two machines do."""
    found, shown = (re.findall(r"\d+\.?\d*|[^\s\d]+", text) for text in (found, shown))
    assert len(found) == len(shown)
    for one, other in zip(found, shown):
        if re.match(r"\d", other):
            assert float(one) == pytest.approx(float(other), rel=0.05, abs=0.03)
        else:
            assert one == other


@pytest.mark.slow
def test_the_page_on_evaluation(run, done, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = load_digits().data.astype(np.float32)
    X = X[np.random.default_rng(0).permutation(len(X))]
    np.save("digits.npy", X)
    np.save("train.npy", X[:900])
    np.save("new.npy", X[900:])
    np.save("permuted.npy", X[900:, np.random.default_rng(1).permutation(64)])
    assert run("fit", "train.npy", "-o", "m.structhash", "--bits", 32).exit_code == 0
    lines = console_lines("evaluation.md")
    assert [command.split()[0] for command, _ in lines] == ["recall", "drift", "drift"]
    for command, shown in lines:
        assert_alike(done(*shlex.split(command)), shown)


@pytest.mark.slow
def test_the_page_on_files(done, save_text_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = [f"{topic}{number}" for topic in ("pet", "car", "sky") for number in range(8)]
    save_text_model(tmp_path / "words", words, rng.normal(size=(24, 6)).astype(np.float32))
    for name, n in (("texts.csv", 300), ("queries.csv", 5)):
        lines = [f"{word}0 {word}{rng.integers(8)},{word}" for word in rng.choice(["pet", "car", "sky"], n)]
        Path(name).write_text("\n".join(["title,topic", *lines]))
    lines = console_lines("files.md")
    assert [command.split()[0] for command, _ in lines] == ["fit", "encode", "index", "search"]
    for command, shown in lines:
        found = done(*shlex.split(command))
        assert found
        if shown:
            assert_alike(found, shown)


def test_texts_that_differ_are_seen():
    assert_alike("recall 0.51 of 20", "recall 0.50 of 20")
    for other in ("recall 0.60 of 20", "recall 0.50 by 20", "recall 0.50"):
        with pytest.raises(AssertionError):
            assert_alike("recall 0.51 of 20", other)
