"""The manifest of a folder of codes in parts: the parts, what they were made of, and their checksums.

A part is named in the manifest when it is complete. What the manifest does not name is not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from structhash._numerics.validation import describe
from structhash.io.container import atomic

__all__ = ["MANIFEST", "Part", "finished_parts", "hash_file", "read_manifest", "write_manifest"]

MANIFEST = "manifest.json"
_KIND = {"kind": "codes in parts", "version": 1}
_AGAIN = "encode again into this folder, which makes what is missing"


class Part(NamedTuple):
    """One file of codes."""

    file: str  # name in the folder
    sha256: str
    rows: int
    input: str  # name of the file of vectors
    input_sha256: str


def hash_file(path: Path) -> str:
    """SHA-256 of a file of this machine, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, how: Mapping[str, Any], n_parts: int, parts: Sequence[Part]) -> None:
    """Write the manifest, atomically.

    Parameters
    ----------
    folder : Path
    how : dict
        What codes depend on, apart from the vectors: the model, the length, and how files are read.
    n_parts : int
        Number of parts when all are complete.
    parts : sequence of Part
        The parts that are complete.
    """
    listed = [part._asdict() for part in sorted(parts, key=lambda part: part.input)]  # the order of the rows
    text = json.dumps({**_KIND, "how": how, "n_parts": n_parts, "parts": listed}, indent=1)
    with atomic(folder / MANIFEST) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> tuple[dict[str, Any], int, list[Part]]:
    """What `write_manifest` wrote; ValueError if it is damaged, FileNotFoundError if there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}; structhash encode DATA -o FOLDER makes codes in parts")
    try:
        found = json.loads(path.read_text("utf-8"))
        if any(found.get(key) != value for key, value in _KIND.items()):
            raise ValueError("it is of another program or version")
        how, n_parts, parts = dict(found["how"]), found["n_parts"], [Part(**part) for part in found["parts"]]
        _check(n_parts, parts)
        return how, n_parts, parts
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"cannot read {path}: it is damaged ({error}); give another folder, or delete it and the codes "
            "beside it, and encode again"
        ) from None


def _check(n_parts: Any, parts: Sequence[Part]) -> None:
    """ValueError if parts are not as `write_manifest` lists them: files of this folder, each once, in order."""
    for part in parts:
        texts = (part.file, part.sha256, part.input, part.input_sha256)
        if not all(isinstance(each, str) for each in texts) or type(part.rows) is not int or part.rows < 0:
            raise ValueError(f"{describe(part.file)} has facts of the wrong type")
        if Path(part.file).name != part.file or part.file == MANIFEST:
            raise ValueError(f"{part.file!r} is no file of codes in this folder")
    inputs = [part.input for part in parts]
    if len({part.file for part in parts}) < len(parts) or inputs != sorted(set(inputs)):
        raise ValueError("its parts come twice, or are not in order")
    if type(n_parts) is not int or n_parts < max(1, len(parts)):
        raise ValueError(f"it says that there are {n_parts!r} parts, and has {len(parts)}")


def finished_parts(folder: Path) -> list[Path]:
    """The files of a folder of codes, in the order of their rows.

    Raises
    ------
    FileNotFoundError
        If there is no manifest.
    ValueError
        If a part is missing, is not complete, or changed since it was written.
    """
    _, n_parts, parts = read_manifest(folder)
    if len(parts) != n_parts:
        raise ValueError(f"cannot read {folder}: {len(parts)} of {n_parts} parts are complete; {_AGAIN}")
    for part in parts:
        path = folder / part.file
        if not path.is_file() or hash_file(path) != part.sha256:
            raise ValueError(f"cannot read {folder}: {part.file} is missing or has changed; {_AGAIN}")
    return [folder / part.file for part in parts]
