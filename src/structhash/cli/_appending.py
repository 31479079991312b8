"""Processes that append to one file wait for each other; those that write into one folder do not start."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["alone_in", "appending"]


@contextlib.contextmanager
def appending(path: Path) -> Iterator[None]:
    """Run the block when no other process is in such a block for the same file.

    The block reads the file and replaces it. Without the lock, two processes could read the same old file, and
    what the first adds would be lost.
    """
    if not path.exists():
        raise FileNotFoundError(f"--append: no such file: {path}; leave it out to make a new index")
    while True:
        with open(path, "rb") as file:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # a file system without locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):  # else it was replaced meanwhile
                yield
                return


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes out of such a block for this folder; ValueError if one is in it."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ValueError(f"another process writes into {folder}: wait for its end, or give another") from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(handle)
