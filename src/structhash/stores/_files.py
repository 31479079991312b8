"""Delete the file of a database that a failed export has made."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["committed_or_deleted"]


@contextlib.contextmanager
def committed_or_deleted(connection: Any, path: Path, new: bool, tables: str) -> Iterator[None]:
    """Commit a transaction after the block; if it fails, delete its file if it is new and held no table.

    The file is deleted before the connection lets go of its lock, so no other process has written into it.

    Parameters
    ----------
    connection : connection
        Open on the file, in a transaction.
    path : Path
    new : bool
        Whether there was no such file before the connection was opened.
    tables : str
        A statement that gives the tables.
    """
    ours = new and not connection.execute(tables).fetchall()
    try:
        yield
        connection.execute("COMMIT")
        ours = False  # an interrupt from here on leaves the committed file
    except BaseException:
        if ours:
            with contextlib.suppress(OSError):  # the error of the block is the one to raise
                path.unlink()
        raise
