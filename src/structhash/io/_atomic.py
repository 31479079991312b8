"""Atomic writes: a file is written completely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic", "check_target", "try_writing"]

_FULL = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS]  # what the disk itself says
_TRIAL_BYTES = 1 << 20


@contextlib.contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file completely or not at all.

    The block writes to a temporary file, in a new hidden folder beside `path`. When the block succeeds, that
    file is flushed to disk and replaces `path` in one step. When the block raises, `path` stays the same. The
    hidden folder is deleted in both cases. A process that is killed leaves it, and the next write
    to `path` deletes it.

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
        If `path` is a folder, a device, or a link that leads to itself.
    OSError
        If the disk is full, or the folder may not be written. The message names `path` and the reason.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with atomic(target) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> target.read_text()
    'whole'
    """
    target = check_target(path)
    with _named(path, target), _hidden_folder(target) as folder:
        temporary = folder / "new"
        temporary.touch()
        mode = (target if target.exists() else temporary).stat().st_mode
        try:
            yield temporary
        except OSError as error:
            if error.errno is None:  # numpy does not say why it wrote too little; one more write does
                _append(temporary)
            raise
        temporary.chmod(mode)  # the block may have made a new file with other rights
        _flush(temporary)
        os.replace(temporary, target)
    with contextlib.suppress(OSError):  # not every system can flush a folder
        _flush(target.parent)


def check_target(path: str | os.PathLike[str]) -> Path:
    """The file that `path` leads to: links are followed, so that they stay links; errors as `atomic`."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file")
    if target.is_symlink():
        raise ValueError(f"cannot write {path}: it is a link that leads to itself; give another name")
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {path}: it is not an ordinary file; give another name")
    if not target.parent.is_dir():
        folder = target.parent if os.path.islink(path) else Path(path).parent
        raise FileNotFoundError(f"cannot write {path}: the folder {folder} does not exist; create it first")
    return target


def try_writing(path: str | os.PathLike[str]) -> None:
    """Write a mebibyte beside `path` and delete it, so that a full disk or a read-only folder is found early.

    Raises
    ------
    ValueError, OSError
        As `atomic`.
    """
    with contextlib.suppress(_Enough), atomic(path) as temporary:
        _append(temporary)
        raise _Enough


class _Enough(Exception):
    """Ends an atomic write before the file is replaced."""


@contextlib.contextmanager
def _named(path: str | os.PathLike[str], target: Path) -> Iterator[None]:
    """Name the file and the reason in errors of the disk."""
    try:
        yield
    except Exception as error:
        code = _disk_error(error, target)
        if code is None:
            raise
        raise OSError(code, f"cannot write {path}: {os.strerror(code)}") from error


@contextlib.contextmanager
def _hidden_folder(target: Path) -> Iterator[Path]:
    """A new folder beside a file, inside the block. A lock says that it is not stale."""
    _delete_stale(target)
    folder, handle = _locked_folder(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _locked_folder(target: Path) -> tuple[Path, int | None]:
    """A new hidden folder, and the handle that holds its lock."""
    while True:
        folder = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.tmp")
        folder.mkdir(mode=0o700)
        if fcntl is None:
            return folder, None
        try:
            handle = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # another process took it for stale before it was locked
            continue
        except BaseException:
            folder.rmdir()
            raise
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if folder.exists():
            return folder, handle
        os.close(handle)


def _delete_stale(target: Path) -> None:
    """Delete the hidden folders of processes that were killed while they wrote a file."""
    if fcntl is None:
        return
    name = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{16}\.tmp")
    with os.scandir(target.parent) as entries:
        found = [each.path for each in entries if name.fullmatch(each.name)]
    for path in found:
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
                shutil.rmtree(path)
            finally:
                os.close(handle)


def _prefix(target: Path) -> str:
    """How the names of the hidden folders of a file begin: short enough, and valid text, for any file name."""
    return f".{os.fsencode(target.name)[:100].decode(sys.getfilesystemencoding(), 'ignore')}."


def _disk_error(error: Exception, target: Path) -> int | None:
    """The number of the system's error if the disk, or a right on it, made a write fail; None otherwise."""
    if isinstance(error, OSError) and error.errno is not None:
        name = str(error.filename or target.parent)
        ours = name == str(target.parent) or name.startswith(str(target.with_name(_prefix(target))))
        return error.errno if ours else None
    for code in _FULL:  # libraries raise errors of their own with the system's words
        if os.strerror(code) in str(error):
            return code
    return None


def _append(path: Path) -> None:
    """Write a mebibyte to the end of a file."""
    with open(path, "ab") as file:
        file.write(bytes(_TRIAL_BYTES))


def _flush(path: Path) -> None:
    """Flush a file or a folder to disk."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
