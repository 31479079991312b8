"""Atomic writes: a file is written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["atomic"]


@contextlib.contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file completely or not at all.

    The block writes to a temporary file in the same folder. When the block succeeds, that file is flushed to
    disk and replaces `path` in one step. When the block raises, that file is deleted and `path` stays the same.

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
    target = Path(os.path.realpath(path))  # a link is followed, so that it stays a link
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
        temporary.chmod(mode)  # the block may have made a new file with other rights
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # not every system can flush a folder
        _flush(target.parent)


def _flush(path: Path) -> None:
    """Flush a file or a folder to disk."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
