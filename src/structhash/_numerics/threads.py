"""Numbers of threads: one for linear algebra, so that last digits do not depend on it, and that of `n_jobs`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

from structhash._numerics.locks import fork_safe_lock
from structhash._numerics.validation import describe

__all__ = ["n_threads", "one_blas_thread"]

_LOCK = fork_safe_lock()
_entered: list[list[tuple[Any, int]]] = []  # BLAS libraries and their own numbers, once for each caller inside


def n_threads(n_jobs: Any) -> int:
    """Number of threads for the setting `n_jobs`; ValueError if it is no such setting."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"n_jobs={describe(n_jobs)}: give None for one thread, a number of threads, or -1 for all cores"
        )
    return int(effective_n_jobs(n_jobs))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread until the last caller leaves.

    The limit holds for the whole process. If each caller restored what it found, one that leaves early would
    lift the limit of the others, and the last to leave could make it permanent.
    """
    with _LOCK:
        _entered.append(_entered[0] if _entered else _limit())
    try:
        yield
    finally:
        with _LOCK:
            found = _entered.pop()
            if not _entered:
                for library, number in found:
                    _set(library, number)


def _limit() -> list[tuple[Any, int]]:
    """Limit each BLAS library to one thread; return them with their numbers before."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    found = [(library, library.num_threads) for library in libraries]
    for library in libraries:
        _set(library, 1)
    return found


def _set(library: Any, number: int) -> None:
    """Set the number of threads of a library.

    From 3.8 on, threadpoolctl lets one thread at a time set it, until that thread releases it.
    """
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(number)
    release(force=True)
