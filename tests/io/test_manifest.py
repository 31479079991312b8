import json

import pytest

from structhash.io.manifest import MANIFEST, Part, finished_parts, hash_file, read_manifest, write_manifest


@pytest.fixture
def folder(tmp_path):
    """A folder of two parts, both complete."""
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode())
    parts = [Part(name, hash_file(tmp_path / name), 1, f"{name}.npy", "0") for name in ("b", "a")]
    write_manifest(tmp_path, {"model": "m"}, 2, parts)
    return tmp_path


def test_what_is_written_is_read(folder):
    how, n_parts, parts = read_manifest(folder)
    assert (how, n_parts, [part.file for part in parts]) == ({"model": "m"}, 2, ["a", "b"])
    assert parts[0].sha256 == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"  # of "a"
    assert finished_parts(folder) == [folder / "a", folder / "b"]


def test_parts_that_changed_or_lack_are_refused(folder):
    (folder / "b").write_bytes(b"c")
    with pytest.raises(ValueError, match="b is missing or has changed; encode again"):
        finished_parts(folder)
    (folder / "b").unlink()
    with pytest.raises(ValueError, match="b is missing or has changed; encode again"):
        finished_parts(folder)
    write_manifest(folder, {}, 2, read_manifest(folder)[2][:1])
    with pytest.raises(ValueError, match="1 of 2 parts are complete; encode again"):
        finished_parts(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", "not json"])
def test_a_damaged_manifest_is_refused(folder, text):
    (folder / MANIFEST).write_text(text)
    with pytest.raises(ValueError, match="it is damaged"):
        read_manifest(folder)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda found: found["parts"][0].update(more=1), "more"),
        (lambda found: found["parts"][0].update(file="../a"), "'../a' is no file of codes in this folder"),
        (
            lambda found: found["parts"][0].update(file="/codes/a"),
            "'/codes/a' is no file of codes in this folder",
        ),
        (lambda found: found["parts"][0].update(file=MANIFEST), "is no file of codes in this folder"),
        (lambda found: found["parts"][0].update(file=["a"]), "has facts of the wrong type"),
        (lambda found: found["parts"][0].update(rows="1"), "has facts of the wrong type"),
        (lambda found: found["parts"][0].update(file="b"), "its parts come twice, or are not in order"),
        (lambda found: found["parts"].reverse(), "its parts come twice, or are not in order"),
        (lambda found: found.update(n_parts=1), "it says that there are 1 parts, and has 2"),
        (lambda found: found.update(n_parts=None), "it says that there are None parts"),
        (lambda found: found.update(n_parts=0, parts=[]), "it says that there are 0 parts"),
    ],
)
def test_a_manifest_that_no_run_writes_is_refused(folder, spoil, message):
    found = json.loads((folder / MANIFEST).read_text())
    spoil(found)
    (folder / MANIFEST).write_text(json.dumps(found))
    with pytest.raises(ValueError, match=f"it is damaged .*{message}.*give another folder, or delete it"):
        finished_parts(folder)


def test_parts_are_in_the_order_of_the_files_of_vectors(tmp_path):
    parts = [Part(f"{name}.parquet", "0", 1, f"{name}.npy", "0") for name in ("a.o", "a")]
    write_manifest(tmp_path, {}, 2, parts)  # a.npy is before a.o.npy, but a.o.parquet before a.parquet
    assert [part.input for part in read_manifest(tmp_path)[2]] == ["a.npy", "a.o.npy"]


def test_a_folder_without_a_manifest_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="structhash encode DATA -o FOLDER makes codes in parts"):
        finished_parts(tmp_path)
