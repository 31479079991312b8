"""Rows as pictures."""

import io

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.report.pictures import find_shape, parse_shape, picture, png

DIGITS = load_digits().data


def decoded(browser, tag):
    """Size and pixels (height * width, 4) that a browser sees in an image element."""
    code = f"""(async () => {{
        const holder = document.createElement("div");
        holder.innerHTML = {tag!r};
        const image = holder.firstChild;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return [canvas.height, canvas.width, ...context.getImageData(0, 0, canvas.width, canvas.height).data];
    }})()"""
    height, width, *values = browser.run(code)
    return np.array(values).reshape(height, width, 4)


def test_a_grey_picture_has_its_pixels(browser, tmp_path):
    (tmp_path / "x.html").write_text("<!doctype html><title>x</title>")
    browser.open(tmp_path / "x.html")
    seen = decoded(browser, picture(DIGITS[3], (8, 8), 0, 16, "a < b"))
    np.testing.assert_array_equal(seen[:, :, 0], np.round(DIGITS[3].reshape(8, 8) / 16 * 255))
    assert (seen[:, :, :3] == seen[:, :, :1]).all()


@pytest.mark.parametrize("first", [False, True])
def test_a_picture_with_colours(browser, tmp_path, first):
    (tmp_path / "x.html").write_text("<!doctype html><title>x</title>")
    browser.open(tmp_path / "x.html")
    pixels = np.random.default_rng(0).integers(256, size=(4, 5, 3))
    row = (np.moveaxis(pixels, 2, 0) if first else pixels).ravel()
    shape = parse_shape("3x4x5" if first else "4x5x3", 60)
    np.testing.assert_array_equal(decoded(browser, picture(row, shape, 0, 255, ""))[:, :, :3], pixels)


def test_a_png_file_is_what_matplotlib_reads():
    image = pytest.importorskip("matplotlib.image")
    pixels = np.random.default_rng(0).integers(256, size=(7, 3, 3), dtype=np.uint8)
    np.testing.assert_array_equal(np.round(image.imread(io.BytesIO(png(pixels))) * 255), pixels)


def test_square_pictures_are_recognised():
    assert find_shape(DIGITS) == (8, 8)
    rng = np.random.default_rng(0)
    assert find_shape(DIGITS[:, rng.permutation(64)]) is None  # no pixel beside its neighbours
    assert find_shape(DIGITS[:, :60]) is None
    assert find_shape(rng.normal(size=(500, 400))) is None
    assert find_shape(rng.normal(size=(500, 1)) * np.ones(64)) is None  # any two columns are equal
    assert find_shape(np.ones((9, 64))) is None
    assert find_shape(DIGITS[:1]) is None


def test_real_vectors_are_no_pictures(data_folder):
    expected = {"usps": (16, 16), "isolet": None, "banking77_minilm": None}
    for name, shape in expected.items():
        with np.load(data_folder / f"{name}.npz") as arrays:
            assert find_shape(arrays["X"][:1000]) == shape


@pytest.mark.parametrize("text", ["8x9", "8", "auto ", "8x8x1", "-8x-8", "8x8x", "99999999x1", ""])
def test_shapes_of_other_rows_are_refused(text):
    allowed = "auto, none, a folder of image files, or the shape of 64 pixels"
    with pytest.raises(ValueError, match=f"images='{text}': give {allowed}"):
        parse_shape(text, 64)


def test_a_constant_picture_is_drawn():
    assert picture(np.ones(4), (2, 2), 1.0, 1.0, "x").startswith("<img src=")
