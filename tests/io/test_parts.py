"""Data sets in several files."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from structhash.io import facts, read, read_rows

X = np.random.default_rng(0).normal(size=(3000, 4))
ENDS = (0, 700, 700, 1800, 3000)  # the second part has no row


def write_parquet(folder):
    """Parts in a folder as Spark writes it, with a file that says that it is complete."""
    folder.mkdir()
    for part, (first, end) in enumerate(pairwise(ENDS)):
        rows = X[first:end]
        table = {"id": [f"r{i}" for i in range(first, end)], "v": pa.array(list(rows), pa.list_(pa.float64()))}
        table["label"] = pa.array(np.arange(first, end) % 3)
        pq.write_table(
            pa.table({**table, "id": pa.array(table["id"], pa.string())}), folder / f"part-{part}.parquet"
        )
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_bytes(b"crc")
    return folder


def test_a_folder_and_a_pattern_are_one_data_set_in_name_order(tmp_path, monkeypatch):
    folder = write_parquet(tmp_path / "x.parquet")
    for path in (folder, folder / "*.parquet", f"{folder}/part-[0-9].parquet"):
        data = read(path)
        np.testing.assert_array_equal(data.X, X)
        assert data.ids.tolist() == [f"r{i}" for i in range(3000)]
        np.testing.assert_array_equal(data.y, np.arange(3000) % 3)
        assert (facts(path)["rows"], facts(path)["files"]) == (3000, 4)
    monkeypatch.setattr("structhash.io.formats.base._MAX_NUMBERS_IN_BLOCK", 1024 * 4)
    rows = read_rows(folder)
    blocks, ids = list(rows.blocks), np.concatenate(list(rows.ids.blocks))
    assert (rows.shape, [len(block) for block in blocks]) == ((3000, 4), [1024, 1024, 952])
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    assert ids.tolist() == [f"r{i}" for i in range(3000)]


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_parts_of_any_format(tmp_path, suffix):
    for name, rows in (("b", X[1000:]), ("a", X[:1000])):
        if suffix == ".npy":
            np.save(tmp_path / f"{name}.npy", rows)
        else:
            np.savetxt(tmp_path / f"{name}.csv", rows, "%.17g", ",")
    np.testing.assert_array_equal(read(tmp_path).X, X)
    np.testing.assert_array_equal(np.concatenate(list(read_rows(tmp_path).blocks)), X)


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path):
    np.save(tmp_path / "x[1].npy", X)
    assert read(tmp_path / "x[1].npy").X.shape == (3000, 4)


@pytest.mark.parametrize("function", [read, read_rows, facts])
def test_what_is_no_data_set_is_refused(tmp_path, function):
    with pytest.raises(FileNotFoundError, match=r"no such files: .*npy"):
        function(tmp_path / "*.npy")
    with pytest.raises(ValueError, match="it is not one file but holds no file of data; give a folder"):
        function(tmp_path)
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "b.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"holds a\.npy, b\.csv; give .* of one extension"):
        function(tmp_path)


def test_files_of_one_name_in_several_folders_are_in_the_order_of_the_folders(tmp_path):
    for row in (2, 0, 1):
        (tmp_path / f"day={row}").mkdir()
        np.save(tmp_path / f"day={row}" / "x.npy", X[row : row + 1])
    np.testing.assert_array_equal(read(tmp_path / "day=*" / "x.npy").X, X[:3])


@pytest.mark.parametrize("function", [read, read_rows])
def test_parts_with_other_columns_are_refused(tmp_path, function):
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", X[:, :3])
    with pytest.raises(
        ValueError, match=r"as one data set: .*b\.npy has other columns, labels or ids than .*a\.npy"
    ):
        function(tmp_path)
    (tmp_path / "p").mkdir()
    for name in ("v", "w"):  # two models may have made these vectors
        table = pa.table({name: pa.array(X.tolist(), pa.list_(pa.float32()))})
        pq.write_table(table, tmp_path / "p" / f"{name}.parquet")
    with pytest.raises(ValueError, match=r"w\.parquet has other columns, labels or ids than .*v\.parquet"):
        function(tmp_path / "p")
    np.savez(tmp_path / "q.npz", X=X, Q=X)
    np.savez(tmp_path / "r.npz", X=X, Q=X)
    with pytest.raises(ValueError, match=r"q\.npz holds queries"):
        read(tmp_path / "*.npz")


def test_parts_with_other_numbers_of_labels_are_refused(tmp_path):
    for name, n_labels in (("a", 3), ("b", 3), ("c", 4)):
        np.savez(tmp_path / f"{name}.npz", X=X, y=np.ones((len(X), n_labels)))
    assert read(tmp_path / "[ab].npz").y.shape == (2 * len(X), 3)
    with pytest.raises(ValueError, match=r"c\.npz has other columns, labels or ids than .*a\.npz"):
        read(tmp_path / "*.npz")
