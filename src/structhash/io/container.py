"""Our container: named arrays with a checked JSON header in one safetensors file.

Nothing here pickles, so a file from a stranger cannot run code when it is opened.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from structhash._numerics.validation import describe
from structhash.io._atomic import atomic, check_target, try_writing

__all__ = [
    "Arrays",
    "Header",
    "atomic",
    "check_target",
    "header",
    "load",
    "save",
    "try_writing",
    "what",
]

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]

_FORMAT_NAME, _FORMAT_VERSION = "structhash", 1
_SAVED_DTYPES = [np.dtype(code) for code in "?bBhHiIqQefd"]
_RESERVED_ENTRIES = ("format", "version", "kind", "crc32")
_HINTS = {  # which command makes files of a kind; "" is for files of any kind
    "model": "; structhash fit makes models",
    "index": "; structhash index makes indexes, from codes",
    "": "; structhash fit makes models, structhash index makes indexes",
}
_SIGNATURES = {b"\x93NUMPY": "a .npy file", b"PK\x03\x04": "a .npz or other zip file"}  # first bytes of a file


def save(
    path: str | os.PathLike[str], arrays: Mapping[str, ArrayLike], header: Mapping[str, Any], kind: str
) -> None:
    """Save named arrays and a JSON header as one safetensors file, atomically.

    The metadata of the file holds one JSON string under the key "structhash". It is `header` with four more
    entries: "format", "version", "kind" and "crc32" (a checksum of the bytes of each array).

    Parameters
    ----------
    path : str or path
    arrays : dict of str to array
        bool, integer, float16, float32 or float64, of any shape and memory order.
    header : dict
        JSON values only. JSON lacks NaN and infinity: write None or a string instead.
    kind : str
        What the file holds, for instance "index.exact". `load` checks it.

    Raises
    ------
    TypeError
        If an array has another dtype or the header holds a value that JSON lacks.
    ValueError
        If the header holds NaN or infinity, or a reserved entry.
    FileNotFoundError
        If the folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {"a": np.arange(3)}, {"n_bits": 8}, kind="toy")
    >>> load(path, kind="toy")
    ({'a': array([0, 1, 2])}, {'n_bits': 8})
    """
    taken = [key for key in _RESERVED_ENTRIES if key in header]
    if taken:
        raise ValueError(
            f"the header may not hold {taken[0]!r}; save sets {', '.join(_RESERVED_ENTRIES)}, remove it"
        )
    plain = {name: _plain(name, array) for name, array in arrays.items()}
    sums = {name: _crc32(array) for name, array in plain.items()}
    full = {"format": _FORMAT_NAME, "version": _FORMAT_VERSION, "kind": kind, "crc32": sums, **header}
    try:
        text = json.dumps(full, allow_nan=False)
    except ValueError:
        raise ValueError(
            f"the header holds NaN or infinity, which JSON lacks: {describe(header)}; use None"
        ) from None
    except TypeError as error:
        raise TypeError(f"the header must hold JSON values only: {error}; convert it first") from None
    with atomic(path) as temporary:
        save_file(plain, temporary, metadata={_FORMAT_NAME: text})


def _plain(name: str, array: ArrayLike) -> NDArray[Any]:
    """Return `array` as a contiguous little-endian array of the same shape."""
    array = np.asarray(array)
    if array.dtype.newbyteorder("=") not in _SAVED_DTYPES:
        allowed = ", ".join(dtype.name for dtype in _SAVED_DTYPES)
        raise TypeError(f"array {name!r} has dtype {array.dtype}, allowed are {allowed}")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _crc32(array: NDArray[Any]) -> int:
    """Checksum of the bytes of an array."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def header(path: str | os.PathLike[str], kind: str | None = None) -> Header:
    """Read the header of a file that `save` wrote, with "format", "version" and "kind"; errors as `load`.

    `kind` is the kind that the file must have; "index" allows "index.exact" and every other index. None allows
    every kind.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {}, {"n_bits": 8}, kind="toy")
    >>> header(path)
    {'format': 'structhash', 'version': 1, 'kind': 'toy', 'n_bits': 8}
    """
    return {key: value for key, value in _open(path, kind)[0].items() if key != "crc32"}


def load(path: str | os.PathLike[str], kind: str) -> tuple[Arrays, Header]:
    """Load what `save` wrote.

    Parameters
    ----------
    path : str or path
    kind : str
        The kind that the file must have, as in `header`.

    Returns
    -------
    arrays : dict of str to array
    header : dict
        Without "format", "version" and "kind".

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is a folder, is not a safetensors file, is damaged, lacks our header, or has another version or
        kind. The message names what the file is, where `what` recognises it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {}, {}, kind="toy")
    >>> load(path, kind="model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: cannot read ...: it holds 'toy', not 'model'; structhash fit makes models
    """
    found, arrays = _open(path, kind, whole=True)
    return arrays, {key: value for key, value in found.items() if key not in _RESERVED_ENTRIES}


def what(path: str | os.PathLike[str]) -> str:
    """Describe a file by its first bytes; "" where they are unknown.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {}, {}, kind="model")
    >>> what(path), path.write_text("1,2"), what(path)
    ("a structhash file of kind 'model'", 3, 'text')
    """
    try:
        return f"a structhash file of kind {describe(header(path)['kind'])}"
    except ValueError:
        return _foreign(path)


def _foreign(path: str | os.PathLike[str]) -> str:
    """Describe a file of another program."""
    with open(path, "rb") as file:
        first = file.read(4096)
    for sign, name in _SIGNATURES.items():
        if first.startswith(sign):
            return name
    with contextlib.suppress(UnicodeDecodeError):
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(
            first
        )  # the first bytes may end within a character
        return "text" if first and "".join(text.split()).isprintable() else ""
    return ""


def _open(path: str | os.PathLike[str], kind: str | None = None, whole: bool = False) -> tuple[Header, Arrays]:
    """Read the full header, and the arrays if `whole`; every defect is a ValueError with path and reason."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not path.is_file():
        raise ValueError(f"cannot read {path}: it is not a file")
    family = (kind or "").partition(".")[0]
    hint = _HINTS.get(family, "")
    try:
        with safe_open(path, framework="numpy") as tensors:
            found = _parse(tensors.metadata())
            if kind not in (None, found["kind"], found["kind"].partition(".")[0]):
                raise ValueError(f"it holds {describe(found['kind'])}, not {kind!r}{hint}")
            names = tensors.keys() if whole else ()
            arrays = {name: _read_array(tensors, name) for name in names}
            if whole and {name: _crc32(array) for name, array in arrays.items()} != found.get("crc32"):
                raise ValueError("its arrays do not match their checksums; it is damaged, write the file again")
    except SafetensorError as error:
        reason = f"damaged or no safetensors file ({error})"
        if other := _foreign(path):
            reason = f"{other}, no {family or 'model or index'}"
        raise ValueError(f"cannot read {path}: it is {reason}{hint}") from None
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    return found, arrays


def _read_array(tensors: Any, name: str) -> NDArray[Any]:
    """Read one array of an open safetensors file."""
    try:
        array: NDArray[Any] = tensors.get_tensor(name)
    except (TypeError, AttributeError):  # safetensors has dtypes that numpy lacks
        raise ValueError(f"array {name!r} has a dtype that numpy lacks") from None
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise ValueError(f"array {name!r} is damaged: a bool that is neither 0 nor 1")
    return array


def _parse(metadata: dict[str, str] | None) -> Header:
    """Read our header from the metadata of a safetensors file."""
    if metadata is None or _FORMAT_NAME not in metadata:
        raise ValueError("it is a safetensors file of another program (no structhash header)")
    try:
        found = json.loads(metadata[_FORMAT_NAME], parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its header is not JSON ({error})") from None
    named = isinstance(found, dict) and isinstance(found.get("kind"), str)
    if not named or found.get("format") != _FORMAT_NAME:
        raise ValueError("its header is not of the structhash format")
    if found.get("version") != _FORMAT_VERSION:
        version = describe(found.get("version"))
        raise ValueError(
            f"it has version {version}, this structhash reads {_FORMAT_VERSION}; upgrade structhash"
        )
    ours: Header = found
    return ours


def _refuse(constant: str) -> None:
    """Refuse NaN and infinity, which Python would read."""
    raise ValueError(f"{constant} is not JSON")
