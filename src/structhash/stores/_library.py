"""What is said where the library of a database is missing; each is optional."""

from __future__ import annotations

__all__ = ["not_installed"]


def not_installed(library: str, needed_by: str) -> ImportError:
    """The error that names the class which needs a library."""
    return ImportError(f"{needed_by} needs {library}, which is not installed; pip install structhash[stores]")
