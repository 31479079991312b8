"""Image files of rows, made with Pillow and read back from what the page holds."""

import base64
import hashlib
import io
import os
import uuid

import numpy as np
import pytest
from PIL import Image

from structhash.report.thumbnails import image_files, thumbnail

COLOURS = {"red": (220, 20, 20), "green": (20, 160, 20), "blue": (20, 20, 220), "grey": (90, 90, 90)}


def save(path, colour="red", size=(6, 4), mode="RGB"):
    """An image of one colour."""
    Image.new("RGB", size, COLOURS[colour]).convert(mode).save(path)


def folder_of(tmp_path, names):
    """A folder with an image of each name."""
    for name in names:
        save(tmp_path / name)
    return tmp_path


def decoded(tag):
    """The pixels of an image element."""
    content = tag.partition("base64,")[2].partition('"')[0]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content)))).astype(int)


def names_of(folder, *args):
    return [each.name for each in image_files(folder, *args)]


def test_files_are_those_of_the_rows_by_sorted_name(tmp_path):
    folder = folder_of(tmp_path, ["b.png", "a2.png", "B.jpg", "a1.png"])
    (tmp_path / ".hidden.png").touch()
    (tmp_path / "readme.txt").touch()
    (tmp_path / "more.png").mkdir()
    expected = sorted(
        name for name in os.listdir(folder) if name not in (".hidden.png", "readme.txt", "more.png")
    )
    assert names_of(folder, 4) == expected == ["B.jpg", "a1.png", "a2.png", "b.png"]


def test_files_that_are_named_by_row_numbers(tmp_path):
    names = [f"{row}.png" for row in range(9)] + ["0009.jpg", "10.PNG", "011.gif"]
    assert names_of(folder_of(tmp_path, names), 12) == names


def test_numbers_that_are_not_row_numbers_are_refused(tmp_path):
    folder = folder_of(tmp_path, ["0.png", "0.jpg", "1.png"])
    with pytest.raises(ValueError, match=r"for 3 rows; 0\.jpg and 0\.png are of one row; give one of them"):
        image_files(folder, 3)
    (folder / "0.jpg").rename(folder / "3.png")
    with pytest.raises(
        ValueError, match=r"for 3 rows; no file for 1 row number, such as '2'; give one for each"
    ):
        image_files(folder, 3)


@pytest.mark.parametrize(
    "names",
    [
        ["img_9.png", "img_10.png", "img_11.png"],
        ["img_9.png", "img_10.jpg", "img_11.jpg"],
        ["img_9.PNG", "img_10.png", "img_11.PNG"],
        ["img_9.png", "IMG_10.png", "img_11.png"],
        ["img_1.png", "img_1.jpg", "img_2.png"],
        ["img_1.png", "img_01.png", "img_2.png"],
        ["img_9_cat.png", "img_10_dog.png", "img_11_cat.png"],
        ["img_1_9cat.png", "img_1_10dog.png", "img_2_1.png"],
        ["img_01_10a.png", "img_1_9b.png", "img_2.png"],
    ],
)
def test_numbers_whose_order_is_not_that_of_the_names_are_refused(tmp_path, names):
    folder = folder_of(tmp_path, names)
    refused = (
        r"3 image files for 3 rows; (?i:img)_\S+ is before img_\S+ by name but not by number; name the files"
    )
    with pytest.raises(ValueError, match=refused):
        image_files(folder, 3)


def test_numbers_before_other_text_are_refused_where_the_orders_differ(tmp_path):
    names = ["9_cat.png", "10_dog.png"]
    folder = folder_of(tmp_path, names)
    said = r"for 2 rows; 10_dog\.png is before 9_cat\.png by name but not by number; name the files by row"
    with pytest.raises(ValueError, match=said):
        image_files(folder, 2)
    ids = np.array(["9_cat", "10_dog"], object)
    assert names_of(folder, 2, ids) == names
    (folder / "9_cat.png").rename(folder / "09_cat.png")
    assert names_of(folder, 2) == ["09_cat.png", "10_dog.png"]


def test_an_order_that_numbers_and_names_share_is_taken(tmp_path):
    names = ["1_cat.png", "2_ant.png", "2_bee3.png", "cat_7.png", "dog_5.png", "x2y9.png", "x3y1.png"]
    assert names_of(folder_of(tmp_path, names), len(names)) == names


def test_digits_of_checksums_are_no_numbers(tmp_path):
    names = [f"{hashlib.sha256(bytes([j])).hexdigest()}.png" for j in range(9)]
    names += [f"{uuid.uuid5(uuid.NAMESPACE_URL, str(j))}.png" for j in range(9)]
    assert names_of(folder_of(tmp_path, names), 18) == sorted(names)


def test_leading_zeros_give_names_the_order_of_their_numbers(tmp_path):
    names = ["img_09.png", "img_10.jpg", "img_11.PNG"]
    assert names_of(folder_of(tmp_path, names), 3) == names


@pytest.mark.parametrize("n_rows", [2, 4])
def test_another_number_of_files_is_refused(tmp_path, n_rows):
    folder = folder_of(tmp_path, ["0.png", "1.png", "2.png"])
    with pytest.raises(ValueError, match=rf"holds 3 image files for {n_rows} rows; give one a row"):
        image_files(folder, n_rows)


@pytest.mark.parametrize("ids", [np.array(["c", "a.png", "x.y"], object), np.array([7, 30, 4])])
def test_ids_name_files(tmp_path, ids):
    folder = folder_of(tmp_path, ["a.png", "c.jpg", "x.y.gif", "004.png", "7.webp", "30.bmp", "0.png"])
    expected = ["c.jpg", "a.png", "x.y.gif"] if ids.dtype == object else ["7.webp", "30.bmp", "004.png"]
    assert names_of(folder, 3, ids) == expected


def test_ids_without_a_file_of_their_own_are_refused(tmp_path):
    folder = folder_of(tmp_path, ["a.png", "b.png"])
    lacking = r"2 image files for 3 rows; no file for 2 ids, such as 'c'; give one for each"
    with pytest.raises(ValueError, match=lacking):
        image_files(folder, 3, np.array(["a", "c", "0"], object))
    save(folder / "b.jpg")
    with pytest.raises(ValueError, match=r"3 image files for 1 row; b\.jpg and b\.png are of one row"):
        image_files(folder, 1, np.array(["b"], object))
    assert names_of(folder, 1, np.array(["b.jpg"], object)) == ["b.jpg"]


def test_two_files_of_one_number_are_refused(tmp_path):
    folder = folder_of(tmp_path, ["7.png", "07.png", "8.png"])
    with pytest.raises(ValueError, match=r"07\.png and 7\.png are of one row"):
        image_files(folder, 1, np.array([7]))
    assert names_of(folder, 1, np.array(["7"], object)) == ["7.png"]  # text is taken as it is


def test_a_name_that_is_no_text_can_be_written(tmp_path):
    path = tmp_path / os.fsdecode(b"a\xff.png")
    save(path)
    assert 'alt="a?.png"' in thumbnail(path)


def test_a_thumbnail_is_a_small_picture_of_its_file(tmp_path):
    pixels = np.zeros((300, 200, 3), np.uint8)
    pixels[:150] = COLOURS["red"]
    pixels[150:] = COLOURS["blue"]
    Image.fromarray(pixels).save(tmp_path / "a <b>.png")
    tag = thumbnail(tmp_path / "a <b>.png")
    small = decoded(tag)
    assert small.shape == (80, 53, 3)
    assert np.abs(small[:36] - COLOURS["red"]).max() < 30
    assert np.abs(small[44:] - COLOURS["blue"]).max() < 30
    assert 'alt="a &lt;b&gt;.png" title="a &lt;b&gt;.png" class="photo"' in tag
    assert str(tmp_path) not in tag


def test_a_small_image_keeps_its_pixels_in_view(tmp_path):
    save(tmp_path / "a.png", size=(28, 20))
    tag = thumbnail(tmp_path / "a.png")
    assert decoded(tag).shape == (20, 28, 3)
    assert "class=" not in tag


@pytest.mark.parametrize(
    ("name", "mode"),
    [("a.gif", "P"), ("a.jpg", "CMYK"), ("a.png", "RGBA"), ("a.webp", "RGB"), ("a.bmp", "RGB")],
)
def test_files_of_other_kinds(tmp_path, name, mode):
    save(tmp_path / name, "green", (120, 90), mode)
    assert np.abs(decoded(thumbnail(tmp_path / name)) - COLOURS["green"]).max() < 30


def test_what_is_transparent_is_white(tmp_path):
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(tmp_path / "a.png")
    assert decoded(thumbnail(tmp_path / "a.png")).min() == 255


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32])
def test_long_pixels_are_shown_from_black_to_white(tmp_path, dtype):
    ramp = (np.tile(np.arange(64), (64, 1)) * 50 + 10_000).astype(dtype)
    Image.fromarray(ramp).save(tmp_path / "a.tif")
    shown = decoded(thumbnail(tmp_path / "a.tif"))[:, :, 0]
    assert np.abs(shown - np.arange(64) * 255 / 63).max() < 12


@pytest.mark.filterwarnings("error")
def test_pixels_that_are_no_numbers_are_black_or_white(tmp_path):
    values = np.float32([np.nan, np.inf, -np.inf, 3, 5, 7])
    Image.fromarray(np.repeat(values, 8)[None].repeat(48, axis=0)).save(tmp_path / "a.tif")
    shown = decoded(thumbnail(tmp_path / "a.tif"))[:, :, 0]
    assert np.abs(shown - np.repeat([0, 255, 0, 0, 127.5, 255], 8)).max() < 12
    Image.fromarray(np.full((9, 9), np.nan, np.float32)).save(tmp_path / "a.tif")
    assert decoded(thumbnail(tmp_path / "a.tif")).max() == 0


def test_a_photograph_is_upright(tmp_path):
    pixels = np.zeros((60, 90, 3), np.uint8)
    pixels[:, :45] = 255  # white on the left
    image = Image.fromarray(pixels)
    exif = image.getexif()
    exif[0x0112] = 6  # turned: the left of the file is the top
    image.save(tmp_path / "a.jpg", exif=exif)
    shown = decoded(thumbnail(tmp_path / "a.jpg"))
    assert shown.shape == (80, 53, 3)
    assert shown[:30].min() > 200
    assert shown[50:].max() < 50


@pytest.mark.parametrize("levels", [2, 256])
@pytest.mark.parametrize("block", [1, 2])  # colours are kept of 2 x 2 pixels
@pytest.mark.parametrize("size", [80, 500])
def test_the_size_of_a_thumbnail_is_bounded_even_for_noise(tmp_path, levels, block, size):
    noise = np.random.default_rng(0).integers(levels, size=(size // block, size // block, 3))
    noise = (noise * (255 // (levels - 1))).astype(np.uint8).repeat(block, axis=0).repeat(block, axis=1)
    Image.fromarray(noise).save(tmp_path / "a.png")
    assert len(thumbnail(tmp_path / "a.png")) < 7000


def test_a_damaged_file_is_refused(tmp_path):
    save(tmp_path / "a.png", size=(200, 200))
    content = (tmp_path / "a.png").read_bytes()
    for damaged in (b"", b"text", content[: len(content) // 2]):
        (tmp_path / "a.png").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"cannot read .*a\.png: it is no image, or a damaged one"):
            thumbnail(tmp_path / "a.png")
