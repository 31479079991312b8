"""Addresses of files on other machines, such as ``s3://bucket/a.parquet``, in the place of paths."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote

if sys.platform == "win32":
    from pathlib import WindowsPath as _Path
else:
    from pathlib import PosixPath as _Path

__all__ = ["Address", "as_path", "hide_secrets", "is_address"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # a letter alone is a drive
_WEB = re.compile(r"https?:/", re.IGNORECASE)
_IN_TEXT = re.compile(_SCHEME.pattern + r"[^\s'\"<>]+")  # pathlib keeps one of two slashes
_QUERY = re.compile(r"[?#].*", re.DOTALL)
_QUERY_ELSEWHERE = re.compile(r"\?[^/?=]*=.*", re.DOTALL)  # other signs may be those of a pattern or a name
_USER = re.compile(r"(?<=:)(//?)[^/]*@")
_USER_ELSEWHERE = re.compile(r"(?<=:)(//?)[^/@]*:[^/]*@")  # abfs://container@account has no password


class Address(_Path):
    """A path that a message shows as the address, and that opens the copy on this machine, where there is one.

    Its name and its suffix are those of the file, without the query of a web address. Its text for messages
    and results has no user, password, query or fragment, because these may be secrets. Without a copy, no file
    of this machine is at such a path. Paths are not made of it, except its folder.

    Attributes
    ----------
    text : str
        The whole address.
    copy : str or None
        Path of the copy.
    """

    text: str = ""
    copy: str | None = None

    def __str__(self) -> str:
        return _without_secrets(self.text)

    def __fspath__(self) -> str:
        if self.copy is None:
            raise FileNotFoundError(errno.ENOENT, f"no such file of this machine: {self}; it is an address")
        return self.copy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return as_path, (self.text,)

    @property
    def is_web(self) -> bool:
        """Whether a web server has it."""
        return _is_web(self.text)

    @property
    def parent(self) -> Path:  # type: ignore[override]
        """The folder, which ends in a slash."""
        folder, slash, _ = _without_query(self.text).rstrip("/").rpartition("/")
        return self if folder.endswith("/") else as_path(folder + slash)

    def resolve(self, strict: bool = False) -> Self:
        """The same address."""
        return self

    def absolute(self) -> Self:
        """The same address."""
        return self

    def _refuse(self, *_: Any, **__: Any) -> Any:
        """ValueError: pathlib would make a path of this machine."""
        raise ValueError(
            f"{self} is an address, of which no other path is made; give the other address as text"
        )

    __truediv__ = __rtruediv__ = joinpath = relative_to = with_name = with_stem = with_suffix = _refuse
    parents = property(_refuse)


def as_path(path: str | os.PathLike[str]) -> Path:
    """The path of a file, an `Address` where a text is one.

    >>> as_path("https://host/a%20b.npy?key=2").name, str(as_path("https://host/a%20b.npy?key=2"))
    ('a b.npy', 'https://host/a%20b.npy')
    >>> isinstance(as_path("a.npy"), Address)
    False
    """
    if not isinstance(path, str) or not is_address(path) or "://" not in path:
        return path if isinstance(path, Path) else Path(path)
    made = Address(unquote(_without_query(path)) if _is_web(path) else path)
    made.text = path
    return made


def hide_secrets(message: str) -> str:
    """A message with each address as `Address` shows it.

    >>> hide_secrets("403, url='https://me:password@host/a.npy?key=1'")
    "403, url='https://host/a.npy'"
    """
    return _IN_TEXT.sub(lambda found: _without_secrets(found[0]), message)


def _without_secrets(text: str) -> str:
    """An address without its user, its password and its query."""
    web = _is_web(text)
    text = (_USER if web else _USER_ELSEWHERE).sub(r"\1", text, count=1)
    return (_QUERY if web else _QUERY_ELSEWHERE).sub("", text)


def _without_query(text: str) -> str:
    """An address without the query and the fragment that web addresses have."""
    return _QUERY.sub("", text) if _is_web(text) else text


def _is_web(text: str) -> bool:
    """Whether a text begins as a web address."""
    return _WEB.match(text) is not None


def is_address(path: str | os.PathLike[str]) -> bool:
    """Whether a text, or a path that was made of it, begins as an address does.

    >>> is_address("s3://bucket/a.npy"), is_address(Path("s3://bucket/a.npy")), is_address("C:/a.npy")
    (True, True, False)
    """
    return _SCHEME.match(str(path)) is not None
