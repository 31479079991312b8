"""Files: atomic writes, and named arrays with a checked JSON header in one safetensors file.

Nothing here pickles, so opening a file from a stranger runs no code of theirs.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import secrets
import zlib
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from structhash._numerics.validation import describe

__all__ = ["atomic", "header", "load", "save", "what"]

FORMAT, VERSION = "structhash", 1
DTYPES = [np.dtype(code) for code in "?bBhHiIqQefd"]
RESERVED = ("format", "version", "kind", "crc32")
MAKERS = {  # what makes files of a kind, or of any
    "model": "; structhash fit makes models",
    "index": "; structhash index makes indexes, from codes",
    "": "; structhash fit makes models, structhash index makes indexes; data are in .npy, .npz or .csv files",
}
SIGNS = {b"\x93NUMPY": "a .npy file", b"PK\x03\x04": "a .npz or other zip file"}  # by the first bytes


@contextlib.contextmanager
def atomic(path):
    """Write a file whole or not at all.

    Yields a temporary path in the same folder. When the block ends well, the file there is flushed to disk
    and takes the place of `path` in one step; when it raises, that file is deleted and `path` is untouched.

    Parameters
    ----------
    path : str or path

    Yields
    ------
    temporary : Path

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    ValueError
        If `path` is a folder or a device.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with atomic(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    target = Path(os.path.realpath(path))  # through a link, so that the link stays
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {path}: it is a folder or a device; give the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {path}: the folder {target.parent} does not exist; create it first"
        )
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        mode = (target if target.exists() else temporary).stat().st_mode
        yield temporary
        temporary.chmod(mode)  # a writer may have made a new file there with other rights
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # not every system can flush a folder
        _flush(target.parent)


def _flush(path):
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def save(path, arrays, header, kind):
    """Save named arrays and a JSON header as one safetensors file, atomically.

    The metadata holds one JSON string under the key "structhash", which is `header` with the entries
    "format", "version", "kind" and "crc32" (a checksum of each array's bytes) added.

    Parameters
    ----------
    path : str or path
    arrays : dict of str to array
        bool, integer, float16, float32 or float64, of any shape and memory order.
    header : dict
        JSON values only. NaN and infinity are no JSON and are refused: write None or a string instead.
    kind : str
        What the file holds, "index.exact" for instance; `load` asks for it.

    Raises
    ------
    TypeError
        If an array has another dtype or the header holds something that is no JSON.
    ValueError
        If the header holds NaN or infinity, or a reserved entry.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {"a": np.arange(3)}, {"n_bits": 8}, kind="toy")
    >>> load(path, kind="toy")
    ({'a': array([0, 1, 2])}, {'n_bits': 8})
    """
    taken = [key for key in RESERVED if key in header]
    if taken:
        raise ValueError(f"the header may not hold {taken[0]!r}: {', '.join(RESERVED)} are set by save")
    plain = {name: _plain(name, array) for name, array in arrays.items()}
    sums = {name: _crc32(array) for name, array in plain.items()}
    full = {"format": FORMAT, "version": VERSION, "kind": kind, "crc32": sums, **header}
    try:
        text = json.dumps(full, allow_nan=False)
    except ValueError:
        raise ValueError(
            f"the header holds NaN or infinity, which JSON lacks: {describe(header)}; use None"
        ) from None
    except TypeError as error:
        raise TypeError(f"the header must hold JSON values only: {error}; convert it first") from None
    with atomic(path) as temporary:
        save_file(plain, temporary, metadata={FORMAT: text})


def _plain(name, array):
    """`array` as a contiguous little-endian array, its shape kept."""
    array = np.asarray(array)
    if array.dtype.newbyteorder("=") not in DTYPES:
        allowed = ", ".join(dtype.name for dtype in DTYPES)
        raise TypeError(f"array {name!r} has dtype {array.dtype}, allowed are {allowed}")
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _crc32(array):
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def header(path, kind=None):
    """The header of a file written by `save`, with "format", "version" and "kind"; errors as `load`.

    `kind` is the kind that the file must have, if any; "index" stands for "index.exact" and all others of it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {}, {"n_bits": 8}, kind="toy")
    >>> header(path)
    {'format': 'structhash', 'version': 1, 'kind': 'toy', 'n_bits': 8}
    """
    return {key: value for key, value in _open(path, kind)[0].items() if key != "crc32"}


def load(path, kind):
    """Load what `save` wrote.

    Parameters
    ----------
    path : str or path
    kind : str
        The kind the file must have, as for `header`.

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
        If it is a folder, no safetensors file (then with what it is, as far as `what` can tell), damaged,
        without our header, or of another version or kind.

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
    return arrays, {key: value for key, value in found.items() if key not in RESERVED}


def what(path):
    """What a file is, in words, as far as its first bytes tell; "" where they do not.

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


def _foreign(path):
    """`what` for files of others."""
    with open(path, "rb") as file:
        first = file.read(4096)
    for sign, name in SIGNS.items():
        if first.startswith(sign):
            return name
    with contextlib.suppress(UnicodeDecodeError):
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(first)  # which may end within a character
        return "text" if first and "".join(text.split()).isprintable() else ""
    return ""


def _open(path, kind=None, whole=False):
    """Full header, and arrays where the whole is asked for; each defect a ValueError with path and reason."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not path.is_file():
        raise ValueError(f"cannot read {path}: it is not a file")
    sort = (kind or "").partition(".")[0]
    maker = MAKERS.get(sort, "")
    try:
        with safe_open(path, framework="numpy") as tensors:
            found = _parse(tensors.metadata())
            if kind not in (None, found["kind"], found["kind"].partition(".")[0]):
                raise ValueError(f"it holds {describe(found['kind'])}, not {kind!r}{maker}")
            names = tensors.keys() if whole else ()
            arrays = {name: _check(tensors, name) for name in names}
            if whole and {name: _crc32(array) for name, array in arrays.items()} != found.get("crc32"):
                raise ValueError("its arrays do not match their checksums; it is damaged, write it anew")
    except SafetensorError as error:
        reason = f"damaged or no safetensors file ({error})"
        if other := _foreign(path):
            reason = f"{other}, no {sort or 'model or index'}"
        raise ValueError(f"cannot read {path}: it is {reason}{maker}") from None
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    return found, arrays


def _check(tensors, name):
    try:
        array = tensors.get_tensor(name)
    except (TypeError, AttributeError):  # safetensors knows dtypes that numpy lacks
        raise ValueError(f"array {name!r} has a dtype that numpy lacks") from None
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise ValueError(f"array {name!r} is damaged: a bool that is neither 0 nor 1")
    return array


def _parse(metadata):
    """The header in the metadata of a safetensors file."""
    if FORMAT not in (metadata or {}):
        raise ValueError("it is a safetensors file of another program (no structhash header)")
    try:
        found = json.loads(metadata[FORMAT], parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its header is no JSON ({error})") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("kind"), str):
        raise ValueError("its header is not of the structhash format")
    if found.get("version") != VERSION:
        raise ValueError(
            f"it has version {describe(found.get('version'))}, this structhash reads {VERSION}; upgrade it"
        )
    return found


def _refuse(constant):
    raise ValueError(f"{constant} is no JSON")
