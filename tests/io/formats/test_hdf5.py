"""HDF5 files with the layout of ann-benchmarks, written by h5py."""

import h5py
import numpy as np
import pytest

from structhash.io import facts, read, read_rows

RNG = np.random.default_rng(0)
X, Q = RNG.normal(size=(2500, 5)).astype(np.float32), RNG.normal(size=(9, 5)).astype(np.float32)


@pytest.mark.parametrize("suffix", [".hdf5", ".h5"])
def test_train_and_test_are_rows_and_queries(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"x{suffix}"
    with h5py.File(path, "w") as file:
        file["train"], file["test"] = X, Q
        file["neighbors"], file["distances"] = np.zeros((9, 10), np.int32), np.zeros((9, 10))
    found = read(path)
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.Q, Q)
    assert found.qrels is None
    assert facts(path) == {"kind": "data", "rows": 2500, "features": 5, "dtype": "float32", "queries": 9}
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 5)
    blocks = list(read_rows(path).blocks)
    assert [len(block) for block in blocks] == [1024, 1024, 452]
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    np.testing.assert_array_equal(np.concatenate(list(read_rows(path, queries=True).blocks)), Q)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["data"] = X
    with pytest.raises(ValueError, match="it needs an array train, but holds data; name the rows train"):
        read(path)
    with h5py.File(path, "w") as file:
        file["train"] = X
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    with pytest.raises(ValueError, match=r"cannot read .*: it is damaged"):
        read(path)
    path.write_text("1,2")
    with pytest.raises(ValueError, match=r"it is text, not a \.h5 file"):
        read_rows(path)


def test_an_array_that_may_hold_ids_is_named(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["train"], file["test"], file["doc_ids"], file["neighbors"] = (
            X,
            Q,
            np.arange(2500),
            np.zeros((9, 3)),
        )
    assert read(path).id_candidates == read_rows(path).id_candidates == ("doc_ids",)
    assert read_rows(path, queries=True).id_candidates == ()
