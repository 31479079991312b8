"""Addresses of files on other machines, such as ``s3://bucket/a.parquet``, in the place of paths."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

if sys.platform == "win32":
    from pathlib import WindowsPath as _Path
else:
    from pathlib import PosixPath as _Path

__all__ = ["Address", "as_path", "is_address"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # a letter alone is a drive
_WEB = ("http", "https")


class Address(_Path):
    """A path that a message shows as the address, and that opens the copy on this machine, where there is one.

    Its name and its suffix are those of the file, without the query of a web address. Without a copy, no file
    of this machine is at such a path.

    Attributes
    ----------
    text : str
        The address.
    copy : str or None
        Path of the copy.
    """

    text: str | None = None
    copy: str | None = None

    def __str__(self) -> str:
        return super().__str__() if self.text is None else self.text

    def __fspath__(self) -> str:
        return self.copy or str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Address) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return as_path, (str(self),)

    @property
    def is_web(self) -> bool:
        """Whether a web server has it."""
        return str(self).partition(":")[0].lower() in _WEB


def as_path(path: str | os.PathLike[str]) -> Path:
    """The path of a file, an `Address` where a text is one.

    >>> as_path("https://host/a.npy?version=2").name, str(as_path("https://host/a.npy?version=2"))
    ('a.npy', 'https://host/a.npy?version=2')
    >>> isinstance(as_path("a.npy"), Address)
    False
    """
    if not isinstance(path, str) or not is_address(path) or "://" not in path:
        return path if isinstance(path, Path) else Path(path)
    web = path.partition(":")[0].lower() in _WEB
    made = Address(urlsplit(path)._replace(query="", fragment="").geturl() if web else path)
    made.text = path
    return made


def is_address(path: str | os.PathLike[str]) -> bool:
    """Whether a text, or a path that was made of it, begins as an address does.

    >>> is_address("s3://bucket/a.npy"), is_address(Path("s3://bucket/a.npy")), is_address("C:/a.npy")
    (True, True, False)
    """
    return _SCHEME.match(str(path)) is not None
