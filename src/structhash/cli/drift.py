"""``structhash drift``: does a model still do for new rows?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from structhash._numerics.blocks import sample_rows
from structhash.cli.display import bar, print_facts
from structhash.cli.documents import stamp, to_json
from structhash.cli.inputs import Choices, read_for
from structhash.estimators.base import HashEncoder
from structhash.estimators.loading import load_model
from structhash.evaluation.drift import Drift, judge_drift

__all__ = ["drift"]

_LEAST_SHARE_SHOWN = 0.005  # of new classes; 0 says nothing about the rows


def drift(
    model: Path,
    data: Path,
    *,
    training: Path | None,
    k: int,
    min_gain: float,
    max_rows: int,
    fail: bool,
    seed: int,
    as_json: bool,
    choices: Choices,
) -> None:
    """Judge a model by new rows, and print the verdict with its reasons.

    Parameters
    ----------
    model : path
        A model file.
    data : path
        A data file of new rows; their labels count if the model was learned from labels.
    training : path or None
        The data file that the model was fitted on. Where its format is that of `data`, it is read as that.
    k, min_gain : int, float
        As `judge_drift` takes them.
    max_rows : int
        Rows that are drawn of a larger file.
    fail : bool
        Whether the exit status is 1 where a refit is advised.
    seed : int
        Draws rows, the split and the refit.
    as_json : bool
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    """
    encoder = load_model(model)
    X, y, n = _drawn(encoder, data, max_rows, seed, choices)
    before = None
    if training is not None:
        shared = choices if training.suffix == data.suffix else {}
        before = _drawn(encoder, training, max_rows, seed, shared)[0]
    with bar("drift", None, "models"):
        found = judge_drift(encoder, X, y, before, k, min_gain, seed)
    if as_json:
        names = {"model": model.name, "data": data.name, "rows": n, "drawn": len(X), "seed": seed}
        print(to_json(names | stamp() | _plain(found)))
    else:
        print_facts(_in_words(found, n, len(X)), False)
    if fail and found.verdict == "refit":
        raise typer.Exit(1)


def _drawn(
    encoder: HashEncoder, path: Path, most: int, seed: int, choices: Choices
) -> tuple[NDArray[Any], NDArray[Any] | None, int]:
    """Rows and labels of a data file, at most so many, drawn at random; and the number of all."""
    data = read_for(encoder, path, choices)
    rows = sample_rows(len(data.X), most, np.random.default_rng(seed))
    return data.X[rows], None if data.y is None else data.y[rows], len(data.X)


def _plain(found: Drift) -> dict[str, Any]:
    """The result as plain values."""
    parts = {"gain": found.gain, "bits": found.bits, "distances": found.distances}
    return found._asdict() | {name: part and part._asdict() for name, part in parts.items()}


def _in_words(found: Drift, n: int, n_drawn: int) -> dict[str, Any]:
    """The verdict, its reasons, and what was measured."""
    facts: dict[str, Any] = {"verdict": found.verdict, "because": "; ".join(found.reasons)}
    facts["new rows"] = n if n_drawn == n else f"a sample of {n_drawn} of {n}"
    if found.gain is not None:
        facts |= {found.gain.measure: found.gain.model, "after a refit": found.gain.refit}
    if found.new_class_share is not None and found.new_class_share >= _LEAST_SHARE_SHOWN:
        facts["of new classes"] = f"{found.new_class_share:.0%} or more"
    if found.bits is not None:
        facts["bit moved most"] = (
            f"bit {found.bits.bit}: 1 in {found.bits.training:.0%} of training, {found.bits.new:.0%} of new"
        )
    if found.distances is not None:
        facts["nearest training row"] = (
            f"new rows at {found.distances.new:.4g}, held-out training rows at {found.distances.training:.4g}"
        )
    return facts
