"""Files on web servers and in object stores, by fsspec: listed, copied to this machine, or read in parts."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from structhash._numerics.addresses import Address, as_path
from structhash._numerics.optional import not_installed

__all__ = ["fetched", "find_addresses", "is_remote", "opened", "readable"]

_CHUNK = 1 << 20  # bytes
_PARTS: dict[str, Any] = {  # of a file are read in blocks of 4 MiB, of which the last ones are kept
    "block_size": 1 << 22,
    "cache_type": "blockcache",
    "cache_options": {"maxblocks": 8},
}


def is_remote(path: Path) -> bool:
    """Whether a path is an address without a copy on this machine."""
    return isinstance(path, Address) and path.copy is None


def fetched(path: Path) -> Path:
    """The path of a file of this machine: an address gets a copy, which lives as long as the returned path.

    Raises
    ------
    FileNotFoundError, ConnectionError
        If there is no such file, or not all of it arrives. Nothing of a copy stays.
    ImportError
        If fsspec, or the library that it needs for such addresses, is not installed.
    """
    if not isinstance(path, Address) or path.copy is not None:
        return path
    with _named(path):
        system, inner = _system(path)
        size = system.info(inner)["size"]
        made = Address(path)
        made.text = str(path)
        folder = tempfile.mkdtemp(prefix="structhash-")
        delete = weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
        try:
            made.copy = os.path.join(folder, "data")
            with system.open(inner, "rb") as source, open(made.copy, "wb") as target:
                shutil.copyfileobj(source, target, _CHUNK)
            if size is not None and os.path.getsize(made.copy) != size:
                raise ValueError(f"{os.path.getsize(made.copy)} of {size} bytes arrived")
        except BaseException:
            delete()
            raise
    return made


def readable(path: Path) -> Path:
    """The same path if `opened` can read parts of its file, else that of a copy; errors as `fetched`."""
    if not is_remote(path):
        return path
    with _named(path):
        system, inner = _system(path)
        size = system.info(inner)["size"]
    with contextlib.suppress(Exception), opened(path) as file:  # a server may give nothing but whole files
        file.seek(-min(4, size), os.SEEK_END)
        if file.read():
            return path
    return fetched(path)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Any]:
    """What pyarrow opens: the path, or for an address an open file of which it reads parts."""
    if not is_remote(path):
        yield os.fspath(path)
        return
    with _named(path):
        system, inner = _system(path)
        file = system.open(inner, "rb", **_PARTS)
    with file:
        yield _File(file, path)


def find_addresses(path: Address) -> list[Path] | None:
    """The files of a folder or a pattern; None if the address is one file.

    A folder in a folder ends in a slash. On a web server, every folder does.
    """
    text = str(path)
    signs = set("*[") & set(urlsplit(text).path) if path.is_web else set("*?[") & set(text)
    if path.is_web and not signs and not text.endswith("/"):
        return None
    with _named(path):
        system, inner = _system(path)
        if signs and not system.exists(inner):
            found = system.glob(inner, detail=True).values()
            if not found:
                raise FileNotFoundError
        elif path.is_web or system.isdir(inner):
            found = system.ls(inner, detail=True)
        else:
            return None
        return [_address(system, each) for each in found]


def _address(system: Any, found: dict[str, Any]) -> Path:
    """The address of what a file system lists."""
    text = system.unstrip_protocol(found["name"]).rstrip("/")
    return as_path(f"{text}/" if found["type"] == "directory" else text)


def _system(path: Path) -> tuple[Any, str]:
    """The file system of an address, which remembers no listing, and what it calls the address."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise not_installed("fsspec", "it", "remote", error) from error
    system, inner = url_to_fs(str(path))
    system.invalidate_cache()
    return system, inner


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn errors of the block into errors that name the address."""
    try:
        yield
    except FileNotFoundError as error:
        cause = f" ({error.__cause__})" if error.__cause__ else ""
        raise FileNotFoundError(f"no such file: {path}{cause}") from error
    except ImportError as error:
        raise ImportError(f"cannot read {path}: {error}") from error
    except Exception as error:
        raise ConnectionError(f"cannot read {path}: {str(error) or type(error).__name__}") from error


class _File:
    """An open file whose errors name its address."""

    def __init__(self, file: Any, path: Path) -> None:
        self._file, self._path = file, path

    def read(self, n: int = -1) -> bytes:
        """The next n bytes, or all that are left."""
        with _named(self._path):
            return self._file.read(n)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
