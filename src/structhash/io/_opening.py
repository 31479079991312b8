"""Checks before a file is opened, and the errors of files that cannot be read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from structhash.io._remote import is_remote
from structhash.io._signatures import check_is_file, recognise
from structhash.io.container import what

__all__ = ["check_file", "check_text", "guard", "suffix_of", "unreadable"]


def suffix_of(path: Path) -> str:
    """The extension of a name in lower case, of compressed files with that of what they hold.

    >>> suffix_of(Path("a.b.NPY")), suffix_of(Path("a.csv.gz"))
    ('.npy', '.csv.gz')
    """
    return "".join(path.suffixes[-2 if path.suffix.lower() == ".gz" else -1 :]).lower()


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
    if path.exists():
        check_is_file(path)
    if suffix_of(path) not in suffixes:
        reason = f"unknown extension {path.suffix!r}, known are {', '.join(suffixes)}"
        kind, remedy = _recognise(path) if path.is_file() else ("", "")
        if kind == "text":
            remedy = "; a .csv file holds numbers separated by commas"
        if kind:
            reason += f"; it is {kind}{remedy}"
        raise ValueError(f"cannot read {path}: {reason}{hint}")
    check_is_file(path)
    if path.stat().st_size == 0:
        raise ValueError(f"cannot read {path}: it is empty")


def check_text(path: Path) -> None:
    """Refuse a file that is compressed, in UTF-16 or of another program, where text is expected."""
    kind, remedy = _recognise(path)
    with open(path, "rb") as file:
        if not kind and b"\0" in file.read(4096):
            kind, remedy = "UTF-16 or no text", "; save it as UTF-8 text"
    if kind not in ("", "text"):
        raise ValueError(f"cannot read {path}: it is {kind}{remedy}")


def _recognise(path: Path) -> tuple[str, str]:
    """What a file is, ours or not, and what to do with it; "" where there is nothing to say."""
    if is_remote(path):
        return "", ""
    return what(path), recognise(path)[1]


@contextlib.contextmanager
def guard(path: Path, name: str = "its array", suffix: str = "") -> Iterator[None]:
    """Turn errors of the block into the ValueError of `unreadable`, which calls the array `name`.

    numpy and zipfile raise a dozen kinds of error on damaged files. PermissionError and ConnectionError pass.
    `suffix` is the extension that the content should fit, by default that of the path.
    """
    try:
        yield
    except (PermissionError, ConnectionError):
        raise
    except Exception as error:
        raise unreadable(path, suffix or path.suffix.lower(), error, name) from None


def unreadable(path: Path, suffix: str, error: Exception | str, name: str = "its array") -> ValueError:
    """Make the ValueError for a file whose content does not fit its extension.

    Parameters
    ----------
    path : Path
        An existing file.
    suffix : str
        The extension that the content should fit, such as ".npy".
    error : Exception or str
        The error of the reader.
    name : str
        What the array is called, for the message.

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
    if isinstance(error, MemoryError):
        return ValueError(f"cannot read {path}: not enough memory for {name} ({error}); give fewer rows")
    kind, remedy = _recognise(path)
    if kind and suffix not in kind:
        return ValueError(f"cannot read {path}: it is {kind}, not a {suffix} file{remedy}")
    if "Object arrays" in str(error) or "Python objects in dtype" in str(error):
        return ValueError(
            f"cannot read {path}: {name} holds Python objects; save arrays of numbers, for instance by "
            "astype(float), and labels by y.astype(str)"
        )
    if "pickle" in str(error):  # numpy would advise to load the file unsafely
        error = "no numbers in numpy's format; save arrays of numbers"
    return ValueError(f"cannot read {path}: it is damaged or holds Python objects ({error})")
