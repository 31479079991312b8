"""A file of a database that a failed export made does not stay."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["deleted_on_error"]


@contextlib.contextmanager
def deleted_on_error(connection: Any, path: Path, new: bool, tables: str) -> Iterator[None]:
    """Delete the file of a transaction if the block raises, unless the file was there or has held a table.

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
    except BaseException:
        if ours:
            with contextlib.suppress(OSError):  # the error of the block is the one to raise
                path.unlink()
        raise
