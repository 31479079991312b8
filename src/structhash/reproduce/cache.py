"""Finished runs as files: what is missing is run, and each result is kept at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from structhash import __version__
from structhash.io.container import atomic
from structhash.reproduce.plan import METHODS, Run
from structhash.reproduce.run import DEPTHS, MEASURES, draw, perform
from structhash.reproduce.sets import Loaded, load_set

__all__ = ["Finished", "finish_runs", "run_path"]

_LAYOUT = 2  # of the files; a change to what `perform` returns raises it


class Finished(NamedTuple):
    """One run and its record, as `perform` returns it."""

    run: Run
    record: dict[str, Any]


def run_path(folder: Path, run: Run, sha256: str) -> Path:
    """The file of a run: its name has a digest of everything that the result depends on.

    Parameters
    ----------
    folder : path
    run : Run
    sha256 : str
        Of the data file.

    Returns
    -------
    path
    """
    kind = METHODS[run.method]
    identity = [*run, kind.spec, kind.distance, kind.by_prefix, sha256, __version__, MEASURES, DEPTHS, _LAYOUT]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    return folder / f"{run.data}-{run.method}-{run.n_bits}-{run.seed}-{digest}.json"


def finish_runs(
    runs: Sequence[Run],
    data_folder: Path,
    folder: Path,
    on_run: Callable[[bool], None] | None = None,
) -> Iterator[Finished]:
    """The results of all runs; those without a file are run, and get one.

    Parameters
    ----------
    runs : sequence of Run
        Those of one data set and seed stand together: they share the split.
    data_folder : path
        Holds the data sets.
    folder : path
        Holds the results; it exists.
    on_run : callable, optional
        Called after each run with whether it had a file.

    Yields
    ------
    Finished

    Raises
    ------
    ValueError
        If the file of a run is damaged.
    Exception
        That of a run, with a note that names it. The files of earlier runs stay.
    """
    for name, of_set in groupby(runs, key=lambda run: run.data):
        data = load_set(data_folder, name)
        for seed, of_seed in groupby(of_set, key=lambda run: run.seed):
            drawn = None
            for run in of_seed:
                path = run_path(folder, run, data.sha256)
                known = path.exists()
                if known:
                    record = _read(path)
                else:
                    drawn = draw(data, seed) if drawn is None else drawn
                    record = _perform(run, data, drawn)
                    with atomic(path) as temporary:
                        temporary.write_text(json.dumps(record), encoding="utf-8")
                if on_run is not None:
                    on_run(known)
                yield Finished(run, record)


def _read(path: Path) -> dict[str, Any]:
    """The record in a file; ValueError where another program has damaged it."""
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError:
        raise ValueError(f"{path} is damaged; delete it, and the same command makes it again") from None


def _perform(run: Run, data: Loaded, drawn: Any) -> dict[str, Any]:
    """`perform`, whose errors name the run."""
    try:
        return perform(run, data, drawn)
    except Exception as error:
        error.add_note(f"in the reproduction: {run.data}, {run.method}, {run.n_bits} bits, seed {run.seed}")
        raise
