"""Addresses in the place of paths."""

import os
import pickle
from pathlib import Path

import pytest

from structhash._numerics.addresses import Address, as_path, is_address


@pytest.mark.parametrize(
    ("text", "name", "suffixes"),
    [
        ("https://host:1/a//b.csv.gz?x=1//2&y=.npy#z", "b.csv.gz", [".csv", ".gz"]),
        ("s3://bucket/a?b/c.parquet", "c.parquet", [".parquet"]),
        ("memory://a.npy", "a.npy", [".npy"]),
        ("gs://bucket/folder/", "folder", []),
    ],
)
def test_an_address_keeps_its_text_and_has_the_name_of_its_file(text, name, suffixes):
    path = as_path(text)
    assert (str(path), f"{path}", path.name, path.suffixes) == (text, text, name, suffixes)
    assert as_path(path) is path
    assert pickle.loads(pickle.dumps(path)) == path
    assert not path.exists()
    assert is_address(path)
    assert is_address(Path(text))


def test_addresses_differ_as_their_texts_do():
    texts = ["https://host/a.npy?v=1", "https://host/a.npy?v=2", "https://host/a.npy"]
    assert len({as_path(text) for text in texts} | {as_path(text) for text in texts}) == 3
    assert as_path(texts[0]) != Path(texts[0])


@pytest.mark.parametrize("text", ["a.npy", "C:/a", "C://a", "a:b", "https:/a", "", Path("s3://a"), b"a"])
def test_a_path_stays_a_path(text):
    if isinstance(text, bytes):
        with pytest.raises(TypeError):
            as_path(text)
    else:
        assert not isinstance(as_path(text), Address)
        assert as_path(text) == Path(text)


def test_a_copy_is_what_is_opened_and_the_address_what_is_shown(tmp_path):
    (tmp_path / "x").write_text("12")
    path = as_path("s3://bucket/a.npy")
    path.copy = str(tmp_path / "x")
    assert (path.read_text(), path.stat().st_size, path.is_file()) == ("12", 2, True)
    assert (os.fspath(path), str(path), path.suffix) == (path.copy, "s3://bucket/a.npy", ".npy")
