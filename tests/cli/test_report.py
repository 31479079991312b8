"""``structhash report``, and ``structhash compare --report``."""

import json
import re

import numpy as np
import pyarrow.parquet
import pytest
from PIL import Image

WORDS = ("--methods", "lsh,itq,float", "--bits", "8", "--seeds", "0,1", "--queries", 20, "--measures", "map")


@pytest.fixture(scope="module")
def result(place, done):
    """A comparison, and its page."""
    done("compare", place / "test.npz", *WORDS, "-o", place / "r.json", "--report", place / "r.html")
    return place / "r.json"


def test_the_page_of_compare_is_that_of_its_result(result, done, here, tmp_path):
    done("report", "r.json", "-o", tmp_path / "again.html", "--data", "test.npz")
    assert (tmp_path / "again.html").read_bytes() == (here / "r.html").read_bytes()
    page = (here / "r.html").read_text("utf-8")
    assert page.count("data:image/png") > 100
    assert str(here) not in page


def test_a_page_of_the_result_alone(result, done, here, tmp_path):
    done("report", "r.json", "-o", tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text("utf-8")
    assert "data:image/png" not in page
    assert "this page was made from the result alone." in page
    done("report", "r.json", "-o", tmp_path / "p.html")  # a page is replaced


def test_examples_are_rows_of_the_data(result, here):
    labels = np.load("test.npz")["y"]
    found = json.loads(result.read_text())["details"]
    assert len(found["examples"]) == 8
    for each in found["examples"]:
        assert each["label"] == str(labels[each["query"]])
        for ranking in each["found"]:
            assert [grade for _, grade in ranking] == [
                int(labels[row] == labels[each["query"]]) for row, _ in ranking
            ]


def test_texts(result, done, here, tmp_path):
    (tmp_path / "t.txt").write_text("".join(f"text number {row} <b>\n" for row in range(300)))
    done("report", "r.json", "-o", tmp_path / "p.html", "--data", "test.npz", "--texts", tmp_path / "t.txt")
    page = (tmp_path / "p.html").read_text("utf-8")
    shown = set(re.findall(r"text number (\d+) &lt;b&gt;", page))
    details = json.loads(result.read_text())["details"]
    assert {str(each["query"]) for each in details["examples"]} <= shown


def test_a_folder_of_image_files(result, done, assert_refused, here, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for row in range(300):
        Image.new("L", (60, 60), row % 256).save(folder / f"{row}.png")
    words = ("report", "r.json", "-o", tmp_path / "p.html", "--data", "test.npz", "--images", folder)
    done(*words)
    page = (tmp_path / "p.html").read_text("utf-8")
    shown = set(re.findall(r'alt="(\d+)\.png"', page))
    details = json.loads(result.read_text())["details"]
    rows = {row for each in details["examples"] for found in each["found"] for row, _ in found}
    assert shown == {str(row) for row in rows} | {str(each["query"]) for each in details["examples"]}
    pairs = re.findall(r'<li[^>]*><img[^>]*alt="(\d+)\.png"[^>]*><b>[^/]*</b> <small>(\d+)</small>', page)
    assert len(pairs) > 100
    assert all(of_file == of_row for of_file, of_row in pairs)
    assert len(page) < 3_000_000
    (folder / "299.png").unlink()
    assert_refused(words, "images holds 299 image files for 300 rows; give one a row")
    assert_refused((*words, "--texts", "short.txt"), "and --texts both show the rows; give one of them")


def test_image_files_that_ids_name(done, assert_refused, here, tmp_path):
    with np.load("test.npz") as arrays:
        X, y = arrays["X"], arrays["y"]
    ids = [f"sku-{number}" for number in np.random.default_rng(0).permutation(len(X))]
    table = {"id": ids, "label": y, **{f"x{j}": X[:, j] for j in range(X.shape[1])}}
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "d.parquet")
    for name in (*ids, "another"):
        Image.new("L", (9, 9)).save(tmp_path / f"{name}.png")
    words = ("compare", tmp_path / "d.parquet", *WORDS, "--images", tmp_path, "--report", tmp_path / "p.html")
    done(*words)
    page = (tmp_path / "p.html").read_text("utf-8")
    pairs = re.findall(r'<li[^>]*><img[^>]*alt="(.*?)\.png"[^>]*><b>[^/]*</b> <small>(.*?)</small>', page)
    assert len(pairs) > 100
    assert all(of_file == of_row for of_file, of_row in pairs)
    (tmp_path / f"{ids[7]}.png").unlink()
    assert_refused(words, f"300 image files for 300 rows; no file for 1 id, such as '{ids[7]}'")


def test_how_the_data_were_read_is_kept(done, here, tmp_path):
    words = ("train.csv", *WORDS, "--label", "label", "-o", tmp_path / "r.json")
    done("compare", *words)
    assert json.loads((tmp_path / "r.json").read_text())["options"]["reading"] == {"label": "label"}
    done("report", tmp_path / "r.json", "-o", tmp_path / "p.html", "--data", "train.csv")
    assert "--label label" in (tmp_path / "p.html").read_text("utf-8")


def test_judged_queries_and_neighbours(done, here, tmp_path):
    for data, drawn in (("judged.npz", ()), ("x.npy", ("--queries", 9))):
        words = ("--methods", "lsh,float", "--bits", 8, "--seeds", 0, "--protocol", "neighbours")
        done("compare", data, *words, *drawn, "--report", tmp_path / "p.html")
        page = (tmp_path / "p.html").read_text("utf-8")
        assert "the queries have no labels" in page
        assert page.count("data:image/png") > 20


def test_a_comparison_with_failures_has_a_page(run, here, tmp_path):
    words = ("--methods", "lsh,spher@real", "--bits", 8, "--seeds", 0, "--report", tmp_path / "p.html")
    assert run("compare", "test.npz", *words).exit_code == 1
    assert "spher@real, -, 8 bits: ValueError" in (tmp_path / "p.html").read_text("utf-8")


def test_what_cannot_be_shown_is_refused(result, assert_refused, here):
    assert_refused(
        "report other.json -o p.html", "other.json is no comparison; give what structhash compare wrote"
    )
    assert_refused("report missing.json -o p.html", "no such file: missing.json")
    assert_refused(
        "report r.json -o p.html --data train.npz", "train.npz is not what r.json was made from (test.npz)"
    )
    assert_refused("report r.json -o p.html --texts short.txt", "show the rows of --data; give that too")
    assert_refused(
        "report r.json -o p.html --data test.npz --texts short.txt", "there are 2 texts for 300 rows"
    )
    assert_refused("report r.json -o p.html --data test.npz --images 3x3", "images='3x3'", "of 64 pixels")
    assert_refused("report r.json -o r.json", "cannot write r.json")
    assert_refused("report r.json -o short.txt", "cannot write short.txt: it is text, not page")
    assert_refused("compare test.npz --report train.npz", "cannot write train.npz: .npz files hold data")
    assert_refused("compare test.npz --images 8x8", "show rows in the page of --report; give that too")
    assert_refused("compare test.npz --report p.html --images 7x8", "images='7x8'")
    assert_refused(
        "compare test.npz --report p.html --images nowhere", "images='nowhere'", "a folder of image files"
    )


def test_a_damaged_comparison_is_refused(result, assert_refused, here):
    document = json.loads(result.read_text())
    for name, value in (("options", {}), ("lines", [{}]), ("lines", 3)):
        (here / "damaged.json").write_text(json.dumps({**document, name: value}))
        assert_refused(
            "report damaged.json -o p.html",
            "damaged.json: it is a damaged comparison, or one of another version",
        )
        (here / "damaged.json").unlink()


def test_two_outputs_need_two_names(assert_refused):
    assert_refused("compare test.npz -o x --report x", "-o and --report both name x; give two names")
