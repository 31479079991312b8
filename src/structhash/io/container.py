"""Our container: named arrays and a JSON header in one safetensors file with a checksum.

The checksum covers every byte of the file. Nothing here pickles, so a file from a stranger cannot run code when
it is opened; `structhash.io.fields` checks what the arrays hold.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe
from structhash.io._atomic import atomic, check_target, try_writing
from structhash.io._layout import (
    DTYPES,
    Blocks,
    Head,
    NotSafetensorsError,
    read_arrays,
    read_head,
    write_file,
)
from structhash.io._signatures import check_is_file, recognise

__all__ = [
    "Arrays",
    "Blocks",
    "Header",
    "atomic",
    "check_is_file",
    "check_replaced",
    "check_target",
    "header",
    "load",
    "save",
    "try_writing",
    "what",
]

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]

_FORMAT_NAME, _FORMAT_VERSION = "structhash", 2
_RESERVED_ENTRIES = ("format", "version", "kind")
_HINTS = {  # which command makes files of a kind; "" is for files of any kind
    "model": "; structhash fit makes models",
    "index": "; structhash index makes indexes, from codes",
    "codes": "; structhash encode makes codes",
    "": "; structhash fit makes models, structhash index makes indexes",
}


def save(
    path: str | os.PathLike[str],
    arrays: Mapping[str, ArrayLike | Blocks],
    header: Mapping[str, Any],
    kind: str,
    force: bool = False,
) -> None:
    """Save named arrays and a JSON header as one safetensors file, atomically.

    The metadata of the file holds one JSON string under the key "structhash": `header` with three more entries,
    "format", "version" and "kind". Under the key "crc32" is the checksum of the whole file.

    Parameters
    ----------
    path : str or path
    arrays : dict of str to array
        bool, integer, float16, float32 or float64, of any shape and memory order. `Blocks` writes an array
        a block at a time.
    header : dict
        JSON values only. JSON lacks NaN and infinity: write None or a string instead.
    kind : str
        What the file holds, for instance "index.exact". `load` checks it.
    force : bool
        Whether to replace a file that `check_replaced` refuses.

    Raises
    ------
    TypeError
        If an array has another dtype or the header holds a value that JSON lacks.
    ValueError
        If the header holds NaN or infinity, or a reserved entry, or blocks do not add up to their array.
    FileExistsError
        If `path` is neither empty nor a structhash file of this kind, unless `force`.
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
    if taken := [key for key in _RESERVED_ENTRIES if key in header]:
        raise ValueError(f"the header may not hold {taken[0]!r}; save sets {', '.join(_RESERVED_ENTRIES)}")
    plain = {name: _plain(name, array) for name, array in arrays.items()}
    full = {"format": _FORMAT_NAME, "version": _FORMAT_VERSION, "kind": kind, **header}
    try:
        text = json.dumps(full, allow_nan=False)
    except ValueError:
        raise ValueError(
            f"the header holds NaN or infinity, which JSON lacks: {describe(header)}; use None"
        ) from None
    except TypeError as error:
        raise TypeError(f"the header must hold JSON values only: {error}; convert it first") from None
    if not force:
        check_replaced(path, kind)
    with atomic(path) as temporary, open(temporary, "wb") as file:
        write_file(file, text, plain)


def check_replaced(path: str | os.PathLike[str], kind: str | None = None) -> None:
    """Refuse to replace a structhash file of another kind.

    Parameters
    ----------
    path : str or path
        It may be missing or empty.
    kind : str, optional
        What will be written there: every index may replace every other one. A file that is not ours is refused
        too. None for a format of another program, such as .npy: then only structhash files are refused.

    Raises
    ------
    FileExistsError

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {}, {}, kind="model")
    >>> check_replaced(path, "index.exact")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    FileExistsError: cannot write ...: the file exists and is a structhash file of kind 'model'; give ...
    """
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    try:
        family = header(path)["kind"].partition(".")[0]
    except ValueError:
        family = None  # not ours
    if family == (kind and kind.partition(".")[0]):
        return
    found, remedy = what(path) or "no whole structhash file", "delete it" if kind is None else "force=True"
    raise FileExistsError(
        f"cannot write {path}: the file exists and is {found}; give another name, or {remedy}"
    )


def _plain(name: str, array: ArrayLike | Blocks) -> Blocks:
    """Return `array` as blocks of little-endian numbers."""
    given = array if isinstance(array, Blocks) else np.asarray(array)
    dtype = given.dtype.newbyteorder("<")
    if dtype not in DTYPES.values():
        allowed = ", ".join(dtype.name for dtype in DTYPES.values())
        raise TypeError(f"array {name!r} has dtype {given.dtype}, allowed are {allowed}")
    return Blocks(dtype, given.shape, given.blocks if isinstance(given, Blocks) else (given,))


def header(path: str | os.PathLike[str], kind: str | None = None) -> Header:
    """Read the header of a file that `save` wrote, with "format", "version" and "kind"; errors as `load`.

    Only `load` reads the whole file and checks its checksum: use this to learn what a file says that it is.

    `kind` is the kind that the file must have; "index" allows "index.exact" and every other index. None allows
    every kind.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "file"
    >>> save(path, {}, {"n_bits": 8}, kind="toy")
    >>> header(path)
    {'format': 'structhash', 'version': 2, 'kind': 'toy', 'n_bits': 8}
    """
    return _open(path, kind)[0]


def load(
    path: str | os.PathLike[str], kind: str, mapped: bool = False, verify: bool = True
) -> tuple[Arrays, Header]:
    """Load what `save` wrote, into memory, and check its checksum.

    Parameters
    ----------
    path : str or path
    kind : str
        The kind that the file must have, as in `header`.
    mapped : bool
        Whether arrays stay on disk: their values are read when they are used, and processes share them. A file
        that another takes the place of stays as it was. If a program shortens or overwrites the file itself,
        values change, or the system ends this process (SIGBUS).
    verify : bool
        Whether to check the checksum of a mapped file; any other is always checked.

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
    found, arrays = _open(path, kind, lambda file, head: read_arrays(file, head, mapped, verify or not mapped))
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
        return recognise(path)[0]


def _open(
    path: str | os.PathLike[str],
    kind: str | None = None,
    read: Callable[[BinaryIO, Head], Arrays] = lambda file, head: {},
) -> tuple[Header, Arrays]:
    """Read the full header, and arrays by `read`; every defect is a ValueError with path and reason."""
    path = path if isinstance(path, Path) else Path(path)
    check_is_file(path)
    family = (kind or "").partition(".")[0]
    hint = _HINTS.get(family, "")
    try:
        with open(path, "rb") as file:
            head = read_head(file)
            found = _parse(head.metadata)
            if kind not in (None, found["kind"], found["kind"].partition(".")[0]):
                raise ValueError(f"it holds {describe(found['kind'])}, not {kind!r}{hint}")
            arrays = read(file, head)
    except NotSafetensorsError as error:
        reason = f"damaged or no safetensors file ({error})"
        other, remedy = recognise(path)
        if other:
            reason = f"{other}, no {family or 'model or index'}{remedy}"
        raise ValueError(f"cannot read {path}: it is {reason}{hint}") from None
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    return found, arrays


def _parse(metadata: dict[str, Any]) -> Header:
    """Read our header from the metadata of a safetensors file."""
    if not isinstance(metadata.get(_FORMAT_NAME), str):
        raise ValueError("it is a safetensors file of another program (no structhash header)")
    try:
        found = json.loads(metadata[_FORMAT_NAME], parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its header is not JSON ({error})") from None
    named = isinstance(found, dict) and isinstance(found.get("kind"), str)
    if not named or found.get("format") != _FORMAT_NAME:
        raise ValueError("its header is not of the structhash format")
    version = found.get("version")
    if version != _FORMAT_VERSION or isinstance(version, float):
        older = type(version) is int and version < _FORMAT_VERSION
        remedy = "make it again from the data" if older else "upgrade structhash"
        raise ValueError(
            f"it has version {describe(version)}, this structhash reads {_FORMAT_VERSION}; {remedy}"
        )
    ours: Header = found
    return ours


def _refuse(constant: str) -> None:
    """Refuse NaN and infinity, which Python would read."""
    raise ValueError(f"{constant} is not JSON")
