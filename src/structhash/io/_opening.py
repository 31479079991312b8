"""Checks before a file is opened, and the errors of files that cannot be read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from structhash.io.container import what

__all__ = ["check_file", "guard", "unreadable"]


def check_file(path: Path, suffixes: Iterable[str], hint: str = "") -> None:
    """Check that a file is there, is not empty, and has a known extension.

    Parameters
    ----------
    path : Path
    suffixes : iterable of str
        Known extensions, lower case, with the dot.
    hint : str
        Appended to the message about an unknown extension.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the extension is unknown, the path is not a file, or the file is empty.
    """
    if path.suffix.lower() not in suffixes:
        reason = f"unknown extension {path.suffix!r}, known are {', '.join(suffixes)}"
        if path.is_file() and (found := what(path)):
            reason += f"; it is {found}"
        raise ValueError(f"cannot read {path}: {reason}{hint}")
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if not path.is_file():
        raise ValueError(f"cannot read {path}: it is not a file")
    if path.stat().st_size == 0:
        raise ValueError(f"cannot read {path}: it is empty")


@contextlib.contextmanager
def guard(path: Path, suffix: str = "") -> Iterator[None]:
    """Turn errors of the block into the ValueError of `unreadable`.

    numpy and zipfile raise a dozen kinds of error on damaged files. A PermissionError passes through.
    `suffix` is the extension that the content should fit, by default that of the path.
    """
    try:
        yield
    except PermissionError:
        raise
    except Exception as error:
        raise unreadable(path, suffix or path.suffix.lower(), error) from None


def unreadable(path: Path, suffix: str, error: Exception | str) -> ValueError:
    """Make the ValueError for a file whose content does not fit its extension.

    Parameters
    ----------
    path : Path
        An existing file.
    suffix : str
        The extension that the content should fit, such as ".npy".
    error : Exception or str
        The error of the reader.

    Returns
    -------
    error : ValueError
        To be raised by the caller.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.npy"
    >>> _ = path.write_text("1 2")
    >>> unreadable(path, ".npy", "no magic string")  # doctest: +ELLIPSIS
    ValueError('cannot read .../x.npy: it is text, not a .npy file')
    """
    found = what(path)
    if found and suffix not in found:
        return ValueError(f"cannot read {path}: it is {found}, not a {suffix} file")
    if "pickle" in str(error):  # numpy would advise to load the file unsafely
        error = "no numbers in numpy's format; save arrays of numbers"
    return ValueError(f"cannot read {path}: it is damaged or holds Python objects ({error})")
