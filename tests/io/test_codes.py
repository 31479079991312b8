"""Files of codes: bare arrays, and containers that name the model."""

import numpy as np
import pytest

from structhash.io import container, load_codes, save_codes, write_npy

TABLE = np.array([[5, 0], [7, 1], [255, 3]], np.uint8)


def test_a_container_names_the_model(tmp_path):
    save_codes(tmp_path / "c", [TABLE], 3, 10, "a1b2")
    found = load_codes(tmp_path / "c")
    np.testing.assert_array_equal(found.table, TABLE)
    assert (found.table.dtype, found.n_bits, found.source) == (np.uint8, 10, "a1b2")
    save_codes(tmp_path / "c", [TABLE], 3, 10)
    assert set(load_codes(tmp_path / "c")[2:]) == {None}


def test_a_bare_array_is_that_of_numpy(tmp_path):
    save_codes(tmp_path / "c.npy", [TABLE], 3, 10, "a1b2")
    write_npy(tmp_path / "d.npy", TABLE)
    assert (tmp_path / "c.npy").read_bytes() == (tmp_path / "d.npy").read_bytes()
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), TABLE)
    assert set(load_codes(tmp_path / "c.npy")[1:]) == {None}


def test_a_container_says_how_codes_were_made(tmp_path):
    about = {"coded_as": "queries", "queries_differ": True, "weighted": False}
    save_codes(tmp_path / "c", [TABLE], 3, 10, "a1b2", **about)
    assert load_codes(tmp_path / "c")[3:6] == ("queries", True, False)
    save_codes(tmp_path / "c", [TABLE], 3, 10, codes_are_bits=False)
    assert load_codes(tmp_path / "c").codes_are_bits is False
    container.save(tmp_path / "c", {"codes": TABLE}, {"n_bits": 10, "source": "a1b2"}, "codes")
    assert load_codes(tmp_path / "c")[2:] == ("a1b2", *[None] * 5)  # a file that does not say


@pytest.mark.parametrize("name", ["c", "c.npy"])
def test_blocks_give_the_same_file_and_must_add_up(tmp_path, name):
    save_codes(tmp_path / name, [TABLE], 3, 10, "a1b2")
    whole = (tmp_path / name).read_bytes()
    save_codes(tmp_path / name, iter([TABLE[:1], TABLE[1:1], TABLE[1:]]), 3, 10, "a1b2")
    assert (tmp_path / name).read_bytes() == whole
    with pytest.raises(ValueError, match=r"do not add up to \(3, 2\)"):
        save_codes(tmp_path / name, [TABLE[:2]], 3, 10)
    assert (tmp_path / name).read_bytes() == whole


def test_every_flipped_bit_of_a_container_is_refused(tmp_path, assert_every_flipped_bit_is_refused):
    path = tmp_path / "c"
    save_codes(path, [TABLE], 3, 10, "a1b2")
    assert_every_flipped_bit_is_refused(path, load_codes)


@pytest.mark.parametrize(
    ("arrays", "header"),
    [
        ({"codes": TABLE.astype(np.int8)}, {"n_bits": 10, "source": None}),
        ({"codes": TABLE[:, :1]}, {"n_bits": 10, "source": None}),
        ({"codes": TABLE}, {"n_bits": 9, "source": None}),  # a pad bit is set
        ({"codes": TABLE}, {"n_bits": 2.5, "source": None}),
        ({"codes": TABLE}, {"source": None}),
        ({"codes": TABLE}, {"n_bits": 10, "source": 3}),
        ({"codes": TABLE}, {"n_bits": 10, "coded_as": "anchors"}),
        ({"codes": TABLE}, {"n_bits": 10, "weighted": "yes"}),
        ({"codes": TABLE, "more": TABLE}, {"n_bits": 10, "source": None}),
        ({}, {"n_bits": 10, "source": None}),
    ],
)
def test_content_that_is_not_codes_is_refused(tmp_path, arrays, header):
    container.save(tmp_path / "c", arrays, header, "codes")
    with pytest.raises(ValueError, match=r"cannot read .*c: .*; write the codes again"):
        load_codes(tmp_path / "c")


@pytest.mark.parametrize("name", ["c", "c.npy"])
def test_codes_replace_codes_and_no_model(tmp_path, name):
    path = tmp_path / name
    container.save(path, {}, {}, "model")
    content = path.read_bytes()
    with pytest.raises(FileExistsError, match=rf"{name}: .* kind 'model'; give another name"):
        save_codes(path, [TABLE], 3, 10)
    assert path.read_bytes() == content
    save_codes(path, [TABLE], 3, 10, force=True)
    save_codes(path, [TABLE[:1]], 1, 10)
    np.testing.assert_array_equal(load_codes(path).table, TABLE[:1])
