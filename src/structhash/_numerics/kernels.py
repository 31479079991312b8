"""The decorator of all numerical kernels: numba's `njit`, with a cache on disk that no run depends on.

Compiled code is kept where numba keeps it: in the folder that NUMBA_CACHE_DIR names, else beside the source,
else in the user's cache folder. Where none of these can be written it is kept in a private folder inside the
temporary folder, or not at all. A damaged cache is written again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import tempfile
from collections.abc import Callable
from typing import Any

import numba
from numba.core import caching

__all__ = ["njit"]

logger = logging.getLogger("structhash.kernels")


def njit(*, cache: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with the cache of this module; a function is compiled when it is first called.

    Parameters
    ----------
    cache : bool
        Whether to keep compiled code on disk.
    **options
        As in numba.

    Returns
    -------
    callable
        The decorator.
    """
    Kernel = numba.njit(**options)

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = Kernel(function)
        if cache:  # numba has no public way to say which cache a function has
            kernel._cache = _cache_of(function)
        return kernel

    return decorate


def _cache_of(function: Callable[..., Any]) -> Any:
    """The cache of one function; none where no folder can be written."""
    try:
        return _Cache(function)
    except (RuntimeError, OSError):
        return _NoCache()


class _UserFolder(caching.UserWideCacheLocator):
    """The user's cache folder, where the user has a home."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        return super().from_function(py_func, py_file) if os.path.isabs(os.path.expanduser("~")) else None


class _TemporaryFolder(caching.UserWideCacheLocator):
    """A private folder inside the temporary folder."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = os.path.join(_private_folder(), self.get_suitable_cache_subpath(py_file))


def _private_folder() -> str:
    """A folder that only this user can read and write. Code is loaded from it, so any other one is refused."""
    user = os.getuid() if os.name == "posix" else 0  # elsewhere, each user has a temporary folder
    folder = os.path.join(tempfile.gettempdir(), f"structhash-kernels-{user}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    found = os.lstat(folder)
    theirs = found.st_uid != user or (os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077)
    if theirs or not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"{folder} is not a private folder of this user")
    return folder


class _Files(caching.CompileResultCacheImpl):
    """Where compiled code is kept: the first folder that can be written."""

    _locator_classes = (
        caching.UserProvidedCacheLocator,
        caching.InTreeCacheLocator,
        _UserFolder,
        caching.IPythonCacheLocator,
        caching.ZipCacheLocator,
        _TemporaryFolder,
    )


class _Cache(caching.FunctionCache):
    """The cache of one kernel. No error in it ends a run."""

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled code; None where there is none, so that numba compiles."""
        found = None
        try:
            found = super().load_overload(sig, target_context)
        except Exception:
            logger.warning("compiled code in %s is damaged; it is compiled again", self.cache_path)
            with contextlib.suppress(OSError):
                self.flush()
        if found is None:
            _announce("compiling numerical code, once; this can take half a minute")
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if the disk can take it."""
        with contextlib.suppress(Exception):
            super().save_overload(sig, data)


class _NoCache(caching.NullCache):
    """No cache."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Nothing, so that numba compiles."""
        _announce("compiling numerical code, in every run: no folder to keep it in; set NUMBA_CACHE_DIR to one")


_announced: list[str] = []  # what was said in this process


def _announce(text: str) -> None:
    """Log that compilation begins, once a process."""
    if not _announced:
        _announced.append(text)
        logger.info(text)
