"""Data sets of a reproduction."""

import hashlib

import numpy as np
import pytest

from structhash.reproduce.sets import check_data, load_set


def test_a_folder_without_the_data_is_refused_by_name(tmp_path):
    (tmp_path / "usps.npz").touch()
    with pytest.raises(FileNotFoundError, match=r"has no isolet\.npz, mnist\.npz; give --data FOLDER, or set"):
        check_data(tmp_path, ["usps", "isolet", "mnist"])
    check_data(tmp_path, ["usps"])


def test_a_set_is_known_by_the_bytes_of_its_file(tmp_path):
    path = tmp_path / "usps.npz"
    np.savez(path, X=np.eye(4), y=np.arange(4))
    data = load_set(tmp_path, "usps")
    assert data.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert data.info.title == "USPS"
    assert data.y.tolist() == [0, 1, 2, 3]


def test_a_set_without_what_judges_is_refused(tmp_path):
    for name, what in (("usps", "labels y"), ("glove6b50_100k", "queries Q")):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(4))
        with pytest.raises(ValueError, match=f"holds no {what}"):
            load_set(tmp_path, name)
