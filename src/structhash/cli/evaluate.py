"""``structhash evaluate``: scores of one model on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import counted
from structhash.cli.display import print_table
from structhash.cli.documents import deliver, stamp
from structhash.cli.inputs import Choices, check_labels, read_for, read_judgements, split_measures
from structhash.cli.outputs import check_output
from structhash.estimators.base import HashEncoder
from structhash.estimators.loading import load_model
from structhash.estimators.reader import EVERY_READER, Reader, load_reader
from structhash.evaluation.reading import other_blocks
from structhash.evaluation.scoring import (
    Block,
    Relevance,
    every_distance,
    judged_relevance,
    prepared_blocks,
    relevance_by_labels,
    retrieval,
)
from structhash.evaluation.splits import labelled_queries, seen_classes
from structhash.io import Dataset, suffixes

__all__ = ["evaluate"]


class _Task(NamedTuple):
    """Queries, the database to be searched, and which rows of it are relevant."""

    by: str  # "labels" or "judgements"
    queries: NDArray[Any]
    database: NDArray[Any]
    relevance: Relevance


def evaluate(
    model: Path,
    data: Path,
    *,
    n_queries: int,
    seed: int,
    measures: list[str] | None,
    ties: str,
    out: Path | None,
    force: bool,
    as_json: bool,
    choices: Choices,
    reader: Path | None = None,
) -> None:
    """Score the codes of a model by retrieval.

    Parameters
    ----------
    model : path
        A model file.
    data : path
        A data file: queries Q with judgements, or labels.
    n_queries, seed : int
        Number of queries where rows are split by labels, and what draws them.
    measures : list of str or None
        Names, maybe with commas between them; None for the usual ones.
    ties : str
        ``"expected"`` or ``"id"``; see `structhash.evaluation.retrieval`.
    out : path or None
        A JSON file to write.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to print JSON.
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    reader : path or None
        The file of a fitted reader, which gets a line of its own; or auto, where codes are no bits.
    """
    check_output(out, model, data, reader, makes="evaluation", force=force, refused=suffixes())
    names = split_measures(measures)
    encoder = load_model(model)
    fitted = _fitted_reader(reader, encoder)
    task = _read_task(read_for(encoder, data, choices), data, n_queries, seed)
    lines = _every_reading(encoder, task, fitted)
    means = {name: retrieval(blocks, names, ties).mean for name, blocks in lines}
    document = {
        "model": model.name,
        "data": data.name,
        "relevance": task.by,
        "n_queries": len(task.queries),
        "n_database": len(task.database),
        "n_bits": encoder.n_bits_,
        "seed": seed,
        "ties": ties,
        **stamp(),
        "lines": [{"distance": distance, "mean": mean} for distance, mean in means.items()],
    }
    deliver(document, out, as_json)
    if not as_json:
        _print(task, encoder.n_bits_, means)


def _fitted_reader(path: Path | None, encoder: HashEncoder) -> Reader | None:
    """The reader in a file, if one is given; ValueError if the path is the name of a reader.

    Codes that are no bits have readers that need no file; auto names them.
    """
    if path is None or (str(path) == "auto" and not encoder.codes_are_bits):
        return None
    if not encoder.codes_are_bits:
        raise ValueError(
            f"--reader {path}: codes of {type(encoder).__name__} are numbers, not bits, and each way to read "
            "them has a line; leave --reader out, or give auto"
        )
    if str(path) in EVERY_READER and not path.exists():
        raise ValueError(
            f"--reader {path}: give the file of a fitted reader, which `structhash reader` writes; bits and "
            "real values have lines without one"
        )
    return load_reader(path, encoder)


def _print(task: _Task, n_bits: int, means: dict[str, dict[str, float]]) -> None:
    """Print a line for each distance."""
    sizes = f"{counted(len(task.queries), 'query', 'queries')} against {counted(len(task.database), 'row')}"
    print(f"{sizes} by {task.by}, {counted(n_bits, 'bit')}\n")
    names = next(iter(means.values()))
    print_table(("distance", *names), [(distance, *mean.values()) for distance, mean in means.items()])


def _every_reading(
    encoder: HashEncoder, task: _Task, fitted: Reader | None
) -> Iterator[tuple[str, Iterator[Block]]]:
    """Name and blocks of each distance, of queries read by their real values, and of those of a reader."""
    codes = encoder.encode(task.database)
    yield from every_distance(encoder, task.queries, task.database, task.relevance, codes)
    yield from other_blocks(encoder, task.queries, codes, task.relevance)
    if fitted is not None:
        name = f"reader {fitted.name}"
        if fitted.n_bits != encoder.n_bits_:
            name, codes = f"{name}, {fitted.n_bits} bits", encoder.encode(task.database, fitted.n_bits)
        yield name, prepared_blocks(fitted.prepare(task.queries), codes, task.relevance)


def _read_task(data: Dataset, path: Path, n_queries: int, seed: int) -> _Task:
    """Judged queries where the data file has them, else a split by labels.

    Parameters
    ----------
    data : Dataset
    path : path
        The file that it came from.
    n_queries : int
    seed : int

    Returns
    -------
    _Task

    Raises
    ------
    ValueError
        If the file has neither, or nothing in it is relevant to any query.
    """
    if data.Q is not None and data.qrels is not None:
        relevance = judged_relevance(read_judgements(data, path), len(data.Q), len(data.X))
        return _Task("judgements", data.Q, data.X, relevance)
    y = check_labels(data, path, "an evaluation needs them (or queries Q and judgements qrels)")
    split = labelled_queries(seen_classes(y, seed, n_queries), y)
    asked, held = y[split.queries], y[split.database]
    if not (np.isin(asked, held) if y.ndim == 1 else asked & held.any(axis=0)).any():
        raise ValueError(f"{path}: no query shares its label with a row of the database; give more rows")
    relevance = relevance_by_labels(asked, held)
    return _Task("labels", data.X[split.queries], data.X[split.database], relevance)
