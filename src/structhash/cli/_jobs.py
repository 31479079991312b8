"""Calls in several processes, whose warnings the first process gives."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from typing import Any

from joblib import Parallel, delayed

__all__ = ["results_of"]


def results_of(work: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_jobs: int) -> Iterator[Any]:
    """The results of calls, each as soon as it is there.

    Parameters
    ----------
    work : callable
    calls : iterable of tuple
        Arguments of `work`.
    n_jobs : int
        Number of processes. With 1, this process makes the calls.

    Yields
    ------
    result of a call

    Raises
    ------
    OSError
        If a process ended, as the system makes it where memory is short. Errors of `work` stay as they are.
    """
    if n_jobs == 1:
        yield from (work(*call) for call in calls)
        return
    processes = Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    try:
        for result, texts in processes(delayed(_quietly)(work, call, os.getpid()) for call in calls):
            for text in texts:
                warnings.warn(text, stacklevel=2)
            yield result
    except BrokenExecutor as error:
        raise OSError(
            f"one of {n_jobs} processes ended, perhaps for lack of memory ({type(error).__name__}); run again, "
            "with fewer --jobs"
        ) from error


def _quietly(work: Callable[..., Any], call: tuple[Any, ...], parent: int) -> tuple[Any, list[str]]:
    """The result of a call and its warnings, without its progress bar."""
    if os.getpid() != parent:
        _watch(parent)
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings(record=True) as caught:
        result = work(*call)
    return result, [str(each.message) for each in caught]


@functools.cache
def _watch(parent: int) -> None:
    """End this process when the first one has ended, which may be killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
