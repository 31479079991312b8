"""Instruments of `speed.py`: clocks, seconds of the phases of a fit, peak memory."""

import ctypes
import functools
import gc
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from structhash.families import linear
from structhash.families.starts.spectral import Spectral
from structhash.masters.columns import Columns
from structhash.masters.ranking import RankingMaster
from structhash.masters.triplet import TripletMaster
from structhash.pair_weights import PairGraph
from structhash.training import column_generation


def clock() -> np.ndarray:
    """Wall and process CPU seconds."""
    return np.array([time.perf_counter(), time.process_time()])


class Phases:
    """Wall and CPU seconds of phases that call each other. Each second counts for the innermost phase."""

    timed = (
        ("pair weights", PairGraph, "pair_weights"),
        ("pair weights", column_generation, "score"),
        ("pair weights", linear, "score"),
        ("start", Spectral, "__call__"),
        ("refine", linear, "minimize"),
        ("inference", Columns, "evaluate"),
        ("master", RankingMaster, "add"),
        ("master", TripletMaster, "add"),
    )

    def __init__(self) -> None:
        self.seconds = {phase: np.zeros(2) for phase, _, _ in self.timed} | {"other": np.zeros(2)}
        self.running, self.last = ["other"], clock()

    def charge(self) -> None:
        """Give the time since the last call to the innermost phase."""
        now = clock()
        self.seconds[self.running[-1]] += now - self.last
        self.last = now

    def wrap(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self.charge()
            self.running.append(phase)
            try:
                return function(*args, **kwargs)
            finally:
                self.charge()
                self.running.pop()

        return timed

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Time the functions in `timed`; only in the thread that calls."""
        with ExitStack() as stack:
            for phase, owner, name in self.timed:
                wrapped = self.wrap(phase, getattr(owner, name))
                stack.enter_context(mock.patch.object(owner, name, wrapped))
            self.last = clock()
            yield
            self.charge()


def peak_of(run: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """What a function returns, and the peak of memory while it runs, in bytes.

    Where the system cannot forget an earlier peak, it is that of the whole process, and `peak_of` says so. Call
    this in a fresh process, so that nothing else counts.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # glibc only: freed memory goes back to the system
        ctypes.CDLL(None).malloc_trim(0)
    reset = forget_peak()
    before = resident("VmRSS") if reset else peak_so_far()
    returned = run()
    peak = resident("VmHWM") if reset else peak_so_far()
    return returned, {"before": before, "peak": peak, "peak_of": "fit" if reset else "process"}


def forget_peak() -> bool:
    """Let the peak of this process start again; False where the system cannot."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def resident(key: str) -> int:
    """VmRSS or VmHWM of this process in bytes."""
    for row in Path("/proc/self/status").read_text().splitlines():
        if row.startswith(f"{key}:"):
            return int(row.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {key}")


def peak_so_far() -> int:
    """Largest resident size since the process began, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
