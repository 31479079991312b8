"""Checks of output files and folders before a command does its work."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["check_folder", "check_output"]


def check_output(
    out: Path | None, *inputs: Path | None, suffix: str = "", refused: tuple[str, ...] = ()
) -> None:
    """Refuse an output file that could not, or should not, be written.

    Parameters
    ----------
    out : path or None
        The file. None, for no file, passes. An ordinary file of that name passes; it will be replaced.
    *inputs : path or None
        Files that the command reads.
    suffix : str
        The extension that `out` must have; any by default.
    refused : tuple of str
        Extensions that `out` must not have.

    Raises
    ------
    ValueError, OSError
        If `out` is a folder or a device, its folder is missing or read-only, it is one of the inputs, or its
        extension is not allowed.
    """
    if out is None:
        return
    if suffix and out.suffix.lower() != suffix:
        raise ValueError(f"cannot write {out}: give a name that ends in {suffix}")
    if out.suffix.lower() in refused:
        raise ValueError(f"cannot write {out}: {out.suffix} files hold data; give another ending")
    if out.is_dir():
        raise ValueError(f"cannot write {out}: it is a folder; give the name of a file")
    if out.exists() and not out.is_file():
        raise ValueError(f"cannot write {out}: it is not an ordinary file; give another name")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"cannot write {out}: the folder {out.parent} does not exist; create it first")
    if not os.access(out.resolve().parent, os.W_OK):
        raise PermissionError(f"cannot write {out}: its folder is read-only; give another folder")
    for path in inputs:
        if path is not None and path.exists() and out.exists() and out.samefile(path):
            raise ValueError(f"cannot write {out}: this command reads it; give another name")


def check_folder(folder: Path) -> None:
    """Refuse a folder for output files that is a file, or whose own folder does not exist."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"cannot write into {folder}: it is not a folder; give another name")
    if not folder.parent.is_dir():
        raise FileNotFoundError(
            f"cannot create {folder}: the folder {folder.parent} does not exist; create it first"
        )
