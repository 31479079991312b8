"""The finished fits of a comparison, kept beside its output until all are finished."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from structhash.evaluation.compare import Result
from structhash.evaluation.found import Found
from structhash.evaluation.methods import with_traits
from structhash.evaluation.scoring import Scores

__all__ = ["count_fits", "digest_of", "open_journal"]


def digest_of(arrays: Iterable[Any]) -> str:
    """A text that differs where data differ."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def count_fits(results: Iterable[Result]) -> str:
    """How many fits gave results, in words."""
    n_fits = len({(each.method, each.n_bits, each.seed) for each in results})
    return f"{n_fits} fit{'' if n_fits == 1 else 's'}"


def open_journal(
    path: Path, settings: dict[str, Any], force: bool
) -> tuple[list[Result], Callable[[list[Result]], None]]:
    """The results in a journal, and a function that adds those of one fit.

    Parameters
    ----------
    path : path
        The file: a line of the settings, then a line a fit.
    settings : dict
        JSON values that differ where results must not be mixed; the first result that is added begins the file
        with them.
    force : bool
        Whether to drop the results of another run.

    Returns
    -------
    results : list of Result
    add : callable

    Raises
    ------
    ValueError
        If the file is of another run.
    """
    run = json.dumps(settings, sort_keys=True)
    first, *lines = path.read_text("utf-8", "replace").split("\n") if path.exists() else [""]
    if first not in ("", run) and not force:
        raise ValueError(
            f"{path} holds finished fits of other data, settings or versions; give another -o, or --force"
        )
    fits = [_read_fit(line) for line in lines] if first == run else []
    found = {_key(each): each for results in fits for each in results}

    def add(results: list[Result]) -> None:
        if any(each.error or found.get(_key(each)) is each for each in results):
            return
        line = json.dumps([_plain(each) for each in results])
        try:
            if not fits:
                path.write_text(run)
            fits.append(results)
            with open(path, "a") as file:
                file.write(f"\n{line}")  # it begins a line, since the one before it may have been cut
        except OSError as error:
            raise OSError(error.errno, f"cannot write {path}: {error.strerror}") from error

    return list(found.values()), add


def _key(result: Result) -> tuple[Any, ...]:
    """What tells results of one run apart."""
    return result.method, result.distance, result.n_bits, result.seed


def _plain(result: Result) -> dict[str, Any]:
    """A result as `json` takes it."""
    per_query = {name: values.tolist() for name, values in result.scores.per_query.items()}
    return {**result._asdict(), "scores": [result.scores.mean, per_query]}


def _read_fit(line: str) -> list[Result]:
    """The results of one fit; none where its line was cut."""
    try:
        found = json.loads(line)
    except ValueError:
        return []
    for each in found:
        mean, per_query = each["scores"]
        each["found"] = Found(*each.get("found", ()))
        each["scores"] = Scores(mean, {name: np.array(values) for name, values in per_query.items()})
    return [Result(**with_traits(each)) for each in found]
