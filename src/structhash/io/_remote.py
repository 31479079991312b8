"""Files on web servers and in object stores, by fsspec: listed, copied to this machine, or read in parts."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

from structhash._numerics.addresses import Address, as_path, hide_secrets
from structhash._numerics.optional import not_installed

__all__ = ["fetched", "find_addresses", "is_remote", "opened", "readable"]

_CHUNK = 1 << 20  # bytes
_PARTS: dict[str, Any] = {  # of a file are read in blocks of 4 MiB, of which the last ones are kept
    "block_size": 1 << 22,
    "cache_type": "blockcache",
    "cache_options": {"maxblocks": 8},
}


_NOT_FOUND = 404  # of HTTP


def is_remote(path: Path) -> TypeGuard[Address]:
    """Whether a path is an address without a copy on this machine."""
    return isinstance(path, Address) and path.copy is None


def fetched(path: Path) -> Path:
    """The path of a file of this machine: an address gets a copy, which lives as long as the returned path.

    Raises
    ------
    FileNotFoundError, ConnectionError
        If there is no such file, or not all of it arrives. Nothing of a copy stays.
    OSError
        If the temporary folder takes no copy, for instance because it is full.
    ImportError
        If fsspec, or the library that it needs for such addresses, is not installed.
    """
    if not is_remote(path):
        return path
    with _named(path):
        system, inner = _system(path)
        size = system.info(inner)["size"]
        source = system.open(inner, "rb")
    made = Address(path)
    made.text = path.text
    with source, _writing_copy(path):
        folder = tempfile.mkdtemp(prefix="structhash-")
        delete = weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
        try:
            made.copy = os.path.join(folder, "data")
            with open(made.copy, "wb") as target:
                shutil.copyfileobj(_File(source, path), target, _CHUNK)
            if size is not None and os.path.getsize(made.copy) != size:
                raise ConnectionError(
                    f"cannot read {path}: {os.path.getsize(made.copy)} of {size} bytes arrived"
                )
        except BaseException:
            delete()
            raise
    return made


@contextlib.contextmanager
def _writing_copy(path: Address) -> Iterator[None]:
    """Turn errors of files of this machine into errors that name the temporary folder; others pass."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # one of `_named`
            raise
        raise OSError(
            error.errno,
            f"cannot copy {path} into the temporary folder {tempfile.gettempdir()}: {error.strerror}; "
            "set TMPDIR to a folder with enough room",
        ) from error


def readable(path: Path) -> Path:
    """The same path if `opened` can read parts of its file, else that of a copy; errors as `fetched`."""
    if not is_remote(path):
        return path
    with _named(path):
        system, inner = _system(path)
        size = system.info(inner)["size"]
    if size:  # parts are counted from the end
        # a server may give nothing but whole files
        with contextlib.suppress(ConnectionError, ValueError), opened(path) as file:
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
    if path.is_web:  # signs in a host or a query are no pattern
        signs = set("*[") & set(str(path).partition("://")[2].partition("/")[2])
    else:
        signs = set("*?[") & set(path.text)
    if path.is_web and not signs and not path.text.endswith("/"):
        return None
    with _named(path):
        system, inner = _system(path)
        if signs and not system.exists(inner):
            loud = {"on_error": "raise"} if path.is_web else {}  # else a refused folder would look empty
            found = system.glob(inner, detail=True, **loud).values()
            if not found:
                raise FileNotFoundError
        elif path.is_web or system.isdir(inner):
            found = system.ls(inner, detail=True)
        else:
            return None
        listed = [_address(system, each) for each in found]
    return [each for each in listed if not (path.is_web and _is_link_of_listing(each, path))]


def _is_link_of_listing(found: Address, folder: Address) -> bool:
    """Whether a link of a web page is that to the folder itself, or one that sorts it, such as ``?C=N;O=D``."""
    place = str(found)
    sorts = place.endswith("/") and not found.text.endswith("/")
    return sorts or place.rstrip("/") == str(folder).rstrip("/")


def _address(system: Any, found: dict[str, Any]) -> Address:
    """The address of what a file system lists."""
    text = system.unstrip_protocol(found["name"]).rstrip("/")
    path = as_path(f"{text}/" if found["type"] == "directory" else text)
    assert isinstance(path, Address)
    return path


def _system(path: Address) -> tuple[Any, str]:
    """The file system of an address, which remembers no listing, and what it calls the address."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise not_installed("fsspec", "it", "remote", error) from error
    system, inner = url_to_fs(path.text)
    system.invalidate_cache()
    return system, inner


@contextlib.contextmanager
def _named(path: Address) -> Iterator[None]:
    """Turn errors of the block into errors that name the address, and show no secret of any address."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"cannot read {path}: {hide_secrets(str(error))}") from None
    except Exception as error:
        cause: BaseException | None = error
        if isinstance(error, FileNotFoundError):
            cause = error.__cause__ if path.is_web else None  # fsspec raises this for any refusal
            if cause is None or getattr(cause, "status", None) == _NOT_FOUND:
                raise FileNotFoundError(f"no such file: {path}") from None
        said = hide_secrets(str(cause)) or type(cause).__name__
        raise ConnectionError(f"cannot read {path}: {said}") from None


class _File:
    """An open file whose errors name its address."""

    def __init__(self, file: Any, path: Address) -> None:
        self._file, self._path = file, path

    def read(self, n: int = -1) -> bytes:
        """The next n bytes, or all that are left."""
        with _named(self._path):
            return self._file.read(n)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
