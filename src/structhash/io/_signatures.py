"""What is at a path: a file or not, and of which program, by its first bytes."""

from __future__ import annotations

import codecs
import contextlib
import os

from structhash._numerics.addresses import hide_secrets, is_address

__all__ = ["check_is_file", "recognise"]

_SIGNATURES = {  # first bytes: what the file is, and what to do with it where we do not read it
    b"\x93NUMPY": ("a .npy file", ""),
    b"PK\x03\x04": ("a .npz or other zip file", ""),
    b"\x1f\x8b": ("gzip-compressed", "; unpack it first"),
    b"BZh": ("bzip2-compressed", "; unpack it first"),
    b"\xfd7zXZ": ("xz-compressed", "; unpack it first"),
    b"\x28\xb5\x2f\xfd": ("zstd-compressed", "; unpack it first"),
    b"\xff\xfe": ("UTF-16 text", "; save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "; save it as UTF-8"),
    b"PAR1": ("a Parquet (.parquet) file", ""),
    b"ARROW1": ("an Arrow (.arrow or .feather) file", ""),
    b"\xff\xff\xff\xff": ("a stream of Arrow", "; write its table by pyarrow.ipc.new_file"),
    b"FEA1": ("of version 1 of Feather", "; write its table with version=2"),
    b"MATLAB": ("a MATLAB file", "; write its arrays to a .npz file"),
    b"\x89HDF": ("an HDF5 (.hdf5 or .h5) file", ""),
    b"\xd0\xcf\x11\xe0": ("a file of an office program", "; save its table as a .csv file"),
}


def check_is_file(path: str | os.PathLike[str]) -> None:
    """Raise FileNotFoundError if nothing is at a path, ValueError if it is a folder, a pipe or a device."""
    if not os.path.exists(path):
        if is_address(path):
            raise FileNotFoundError(
                f"no such file: {hide_secrets(str(path))}; only files of vectors are read from an address, "
                "copy others here first"
            )
        raise FileNotFoundError(f"no such file: {path}")
    if not os.path.isfile(path):
        kind = "a folder" if os.path.isdir(path) else "a pipe or a device; write what it gives to a file"
        raise ValueError(f"cannot read {path}: it is not a file but {kind}")


def recognise(path: str | os.PathLike[str]) -> tuple[str, str]:
    """What a file of another program is, and what to do with it; "" where there is nothing to say."""
    with open(path, "rb") as file:
        first = file.read(4096)
    if _is_text(first):
        return "text", ""
    return next((found for sign, found in _SIGNATURES.items() if first.startswith(sign)), ("", ""))


def _is_text(first: bytes) -> bool:
    """Whether the first bytes of a file are text; they may end within a character."""
    with contextlib.suppress(UnicodeDecodeError):
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(first)
        return bool(first) and "".join(text.split()).isprintable()
    return False
