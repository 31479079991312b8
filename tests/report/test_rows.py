"""What rows look like in a page."""

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from structhash.io import Dataset
from structhash.report.rows import show_rows

X = load_digits().data[:50]
DETAILS = {"examples": [{"query": 3, "found": [[[7, 1], [9, 0]], [[7, 1], [2, 1]]]}]}


def test_pictures_of_the_rows_that_are_needed():
    shown = show_rows(DETAILS, Dataset(X), own_queries=False)
    assert (shown.kind, shown.why) == ("image", "")
    assert set(shown.documents) == {2, 7, 9}
    assert set(shown.queries) == {3}
    assert len({*shown.documents.values(), *shown.queries.values()}) == 4
    assert shown.documents[7].startswith('<img src="data:image/png;base64,')


def test_queries_of_q_are_rows_of_q():
    own = show_rows(DETAILS, Dataset(X, Q=X[::-1]), own_queries=True)
    assert (
        own.queries[3].partition(" alt")[0]
        == show_rows({"examples": [{"query": 46, "found": []}]}, Dataset(X), False)
        .queries[46]
        .partition(" alt")[0]
    )


def test_texts_are_cut_and_escaped():
    texts = [f"{row} <script> " + "word " * 100 for row in range(50)]
    shown = show_rows(DETAILS, Dataset(X), own_queries=False, texts=texts)
    assert shown.kind == "text"
    assert shown.documents[7].startswith("<span>7 &lt;script&gt; word word")
    assert shown.documents[7].endswith("…</span>")
    assert len(shown.documents[7]) < 200
    assert set(shown.queries) == {3}
    assert show_rows(DETAILS, Dataset(X, Q=X), own_queries=True, texts=texts).queries == {}


def test_image_files_are_shown_by_row(tmp_path):
    files = [tmp_path / f"{row}.png" for row in range(50)]
    for row in (2, 3, 7):
        Image.new("L", (20, 20), 5 * row).save(files[row])
    files[9].write_bytes(b"no image")
    shown = show_rows(DETAILS, Dataset(X), own_queries=False, files=files)
    assert shown.kind == "image"
    assert shown.why == "Image files that cannot be read are left out: 9.png."
    assert {row: tag.partition(' alt="')[2] for row, tag in shown.documents.items()} == {
        row: f'{row}.png" title="{row}.png">' for row in (2, 7)
    }
    assert set(shown.queries) == {3}
    own = show_rows(DETAILS, Dataset(X, Q=X), own_queries=True, files=files)
    assert own.queries == {}
    assert own.why.startswith(
        "Queries are shown by their row numbers: the image files are those of the database."
    )


def test_rows_without_pictures_say_so():
    noise = np.random.default_rng(0).normal(size=(50, 64))
    for data, images in ((X, "none"), (noise, "auto")):
        shown = show_rows(DETAILS, Dataset(data), own_queries=False, images=images)
        assert shown.documents == shown.queries == {}
        assert shown.why.endswith("they have no texts and do not look like pictures.")
        assert "--" not in shown.why
    assert show_rows(DETAILS, Dataset(noise), own_queries=False, images="8x8").kind == "image"


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="there are 3 texts for 50 rows; give one text a row"):
        show_rows({}, Dataset(X), own_queries=False, texts=["a"] * 3)
    with pytest.raises(ValueError, match="images='7x8': give auto, none, a folder of image files, or the"):
        show_rows({}, Dataset(X), own_queries=False, images="7x8")
