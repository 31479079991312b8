"""What is said where an optional library is missing."""

from __future__ import annotations

__all__ = ["not_installed"]


def not_installed(library: str, needed_by: str, extra: str, error: ImportError) -> ImportError:
    """The error for a library that could not be imported.

    Parameters
    ----------
    library : str
        Name of its module.
    needed_by : str
        What needs it: the name of a class, or what is done.
    extra : str
        The extra of structhash that brings it.
    error : ImportError
        What the import raised.

    Returns
    -------
    ImportError

    Examples
    --------
    >>> not_installed("h5py", "reading a.h5", "hdf5", ModuleNotFoundError(name="h5py"))
    ImportError('reading a.h5 needs h5py, which is not installed; pip install structhash[hdf5]')
    """
    missing = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == library
    why = "is not installed" if missing else f"does not load ({error})"
    return ImportError(f"{needed_by} needs {library}, which {why}; pip install structhash[{extra}]")
