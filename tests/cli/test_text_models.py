"""Texts on the command line: fitted, encoded and searched, and never by another model."""

import numpy as np
import pytest

from structhash import DistilHash, load_model
from structhash.io import read

RNG = np.random.default_rng(0)
WORDS = [f"{kind}{number}" for kind in ("pet", "car", "sky") for number in range(8)]
CENTRES = np.repeat(RNG.normal(size=(3, 6)), 8, axis=0)
VECTORS = (CENTRES + 0.3 * RNG.normal(size=(24, 6))).astype(np.float32)


def write_texts(path, n, rng):
    """Write a table of texts whose words are of one topic each, and return texts and topics."""
    topics = rng.integers(3, size=n)
    lines = [" ".join(WORDS[8 * topic + word] for word in rng.integers(8, size=3)) for topic in topics]
    path.write_text("text,topic\n" + "".join(f'"{line}",{topic}\n' for line, topic in zip(lines, topics)))
    return lines, topics


@pytest.fixture(scope="module")
def folder(save_text_model, tmp_path_factory):
    place = tmp_path_factory.mktemp("texts")
    save_text_model(place / "words", WORDS, VECTORS)
    save_text_model(place / "other", WORDS, VECTORS[::-1])
    return place


@pytest.mark.slow
def test_texts_are_fitted_encoded_and_searched(done, machine, folder, monkeypatch):
    monkeypatch.chdir(folder)
    _, topics = write_texts(folder / "texts.csv", 300, RNG)
    _, asked = write_texts(folder / "queries.csv", 20, RNG)
    how = ("--text", "text", "--text-model", "words")
    fitted = machine("fit", "texts.csv", *how, "--label", "topic", "-o", "m", "--bits", 12)
    assert (fitted["labels"], fitted["rows"], fitted["features"]) == ("topic", 300, 6)
    assert len(load_model("m").column_names_) == 6
    done("encode", "m", "texts.csv", *how, "-o", "codes")
    done("index", "codes", "-o", "index", "--model", "m")
    found = machine("search", "index", "queries.csv", "--model", "m", *how, "-k", 3)["results"]
    hits = [topics[each["ids"]] == topic for each, topic in zip(found, asked, strict=True)]
    assert np.mean(hits) > 0.95


@pytest.mark.slow
def test_texts_of_another_model_are_refused(run, done, folder, monkeypatch):
    monkeypatch.chdir(folder)
    write_texts(folder / "more.csv", 100, RNG)
    words, other = (("--text", "text", "--text-model", name) for name in ("words", "other"))
    done("fit", "more.csv", *words, "--label", "none", "--method", "itq", "--bits", 4, "-o", "itq")
    done("encode", "itq", "more.csv", *words, "-o", "c")
    for command, message in (
        (("encode", "itq", "more.csv", *other, "-o", "new"), "the model needs words:"),
        (("search", "c", "more.csv", "--model", "itq", *other), "error: "),
        (("encode", "itq", "more.csv", "-o", "new"), "it lacks "),
        (("encode", "itq", "more.csv", "--text", "text", "-o", "new"), "give text_model"),
    ):
        result = run(*command)
        assert result.exit_code == 2, command
        assert message in result.stderr
        assert not (folder / "new").exists()


@pytest.mark.slow
def test_unlabeled_texts_are_read_as_the_others(machine, folder, monkeypatch):
    monkeypatch.chdir(folder)
    write_texts(folder / "labelled.csv", 120, RNG)
    write_texts(folder / "rows.csv", 120, RNG)
    how = ("--text", "text", "--text-model", "words", "--label", "topic")
    machine("fit", "labelled.csv", *how, "--unlabeled", "rows.csv", "-o", "m2", "--bits", 8)
    data, rows = (
        read(name, text="text", text_model="words", label="topic") for name in ("labelled.csv", "rows.csv")
    )
    expected = DistilHash(8, random_state=0).fit(data.X, data.y, unlabeled=rows.X)
    np.testing.assert_array_equal(load_model("m2").encode(rows.X), expected.encode(rows.X))
