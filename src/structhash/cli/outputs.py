"""Checks of output files and folders before a command does its work."""

from __future__ import annotations

import contextlib
import json
import os
import re
import zipfile
from pathlib import Path

import numpy as np

from structhash.io import holds_codes, map_array, suffix_of
from structhash.io.container import check_is_file, check_target, header, try_writing, what

__all__ = ["GROUPS_HEADS", "PLOT_TITLE", "check_folder", "check_output", "holds_comparison"]

GROUPS_HEADS = ("row,group", "row,group,id,group_id")  # without ids and with them
PLOT_TITLE = "structhash recall"  # in the metadata of a picture
_PAGE_SIGN = '<meta name="generator" content="structhash">'
_HIT_ARRAYS = {"lims.npy", "distances.npy", "ids.npy", "query_ids.npy"}
_RESULT_ENTRIES = {  # of JSON documents
    "comparison": {"protocol", "data_sha256", "options", "lines"},
    "evaluation": {"relevance", "model", "lines"},
    "export": {"about", "arrays"},
}


def check_output(
    out: Path | None,
    *inputs: Path | None,
    makes: str,
    force: bool = False,
    suffix: str = "",
    refused: tuple[str, ...] = (),
) -> None:
    """Refuse an output file that could not, or should not, be written.

    Parameters
    ----------
    out : path or None
        The file. None, for no file, passes. A file of the same kind passes; it will be replaced.
    *inputs : path or None
        Files that the command reads.
    makes : str
        What is written: ``"model"``, ``"index"``, ``"codes"``, ``"reader"``, ``"neighbours"``,
        ``"groups"``, ``"plot"``, ``"comparison"``, ``"evaluation"``, ``"export"`` or ``"page"``.
    force : bool
        Whether to replace a file of another kind.
    suffix : str
        The extension that `out` must have; any by default.
    refused : tuple of str
        Extensions that `out` must not have.

    Raises
    ------
    ValueError, OSError
        If `out` is a folder, a device, or where standard output goes; its folder is missing or cannot be
        written, or the disk is full; it is one of the inputs; it is a file of another kind; or its extension is
        not allowed.
    """
    if out is None:
        return
    if suffix and out.suffix.lower() != suffix:
        raise ValueError(f"cannot write {out}: give a name that ends in {suffix}")
    if suffix_of(out) in refused:
        raise ValueError(f"cannot write {out}: {suffix_of(out)} files hold data; give another ending")
    if check_target(out).exists():
        _check_replaced(out, *inputs, makes=makes, force=force)
    try_writing(out)


def check_folder(folder: Path) -> None:
    """Refuse a folder for output files that is a file, or that cannot be made or written."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"cannot write into {folder}: it is not a folder; give another name")
    if not folder.parent.is_dir():
        raise FileNotFoundError(
            f"cannot create {folder}: the folder {folder.parent} does not exist; create it first"
        )
    try:
        try_writing(folder / "part" if folder.exists() else folder)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, f"cannot write into {folder}: {os.strerror(error.errno)}") from error


def _check_replaced(out: Path, *inputs: Path | None, makes: str, force: bool) -> None:
    """Refuse to replace an input, the file that standard output goes to, or a file of another kind."""
    for path in inputs:
        if path is not None and path.exists() and out.samefile(path):
            raise ValueError(f"cannot write {out}: this command reads it; give another name")
    for stream in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(stream), out.stat()):
                raise ValueError(f"cannot write {out}: this command prints into it; give another name")
    if not force and out.stat().st_size and not _holds(out, makes):
        found = what(out) or "a file of another kind"
        raise ValueError(f"cannot write {out}: it is {found}, not {makes}; give another name, or --force")


def _is_export(path: Path) -> bool:
    """Whether a file is one of `structhash export`, by its beginning; those for JavaScript are JSON."""
    with open(path, "rb") as file:
        first = file.read(200)
    if first.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()[:1] == ["about.npy"]
    if first.startswith(b"\x08\x08\x12\x0astructhash"):  # the version and the producer of an ONNX model
        return True
    return re.match(rb"-- \w+, \d+ bits, model \w+\n-- structhash_", first) is not None


def _holds(path: Path, makes: str) -> bool:
    """Whether a file holds what a command makes."""
    with contextlib.suppress(OSError, ValueError, zipfile.BadZipFile):
        if makes == "codes" and path.suffix.lower() == ".npy":
            return bool(map_array(path).dtype == np.uint8)
        if makes == "codes" and path.suffix.lower() == ".parquet":
            return holds_codes(path)
        if makes in ("model", "index", "codes", "reader"):
            return bool(header(path, makes))
        if makes == "neighbours":
            with zipfile.ZipFile(path) as file:
                return set(file.namelist()) <= _HIT_ARRAYS
        if makes == "groups":
            with open(path, encoding="utf-8") as lines:
                return lines.readline(100) in [f"{head}\n" for head in GROUPS_HEADS]
        if makes == "page":
            with open(path, encoding="utf-8") as lines:
                return _PAGE_SIGN in lines.read(2048)
        if makes == "plot":
            return PLOT_TITLE.encode() in path.read_bytes()
        if makes == "export" and path.suffix.lower() != ".json" and _is_export(path):
            return True
        document = json.loads(path.read_text("utf-8"))
        return isinstance(document, dict) and document.keys() >= _RESULT_ENTRIES[makes]
    return False


def holds_comparison(path: Path) -> bool:
    """Whether a file that exists holds what ``structhash compare`` writes."""
    check_is_file(path)
    return _holds(path, "comparison")
