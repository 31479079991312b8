"""Processes that append to one file wait for each other."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["appending"]


@contextlib.contextmanager
def appending(path: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for this file, which the block reads and replaces.

    Without the lock, two processes would read the same file, and what the first adds would be lost.
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
