"""``structhash recall``: what codes of a data file would find, before anything is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import sample_rows
from structhash._numerics.validation import counted
from structhash.cli._recall_plot import draw, new_figure
from structhash.cli.display import bar, print_table
from structhash.cli.documents import stamp, to_json
from structhash.cli.inputs import Choices, split_numbers
from structhash.cli.outputs import check_output
from structhash.evaluation.recall import RecallEstimate, estimate_recall
from structhash.io import read_rows

__all__ = ["draw_rows", "recall"]

_PLOT_SUFFIXES = (".png", ".svg")
_USUAL_FACTOR = 10  # that of search --rescore


def recall(
    data: Path,
    *,
    bits: str,
    k: int,
    n_queries: int,
    max_rows: int,
    reader: str,
    factor: int | None,
    wanted: float | None,
    plot: Path | None,
    seed: int,
    force: bool,
    as_json: bool,
    choices: Choices,
) -> None:
    """Estimate the recall of codes, and print it with their size.

    Parameters
    ----------
    data : path
        A data file; its labels are not used.
    bits : str
        Lengths of codes, with commas between them.
    k, n_queries, max_rows : int
        Neighbours that are asked for; held-out queries; rows that are drawn of a larger file.
    reader : str
        As `fit_reader` takes it.
    factor, wanted : int or None, float or None
        Candidates a neighbour of the two-stage search, or the recall that it is to have.
    plot : path or None
        A picture to write.
    seed : int
        Draws rows, queries and the model.
    force, as_json : bool
        Whether `plot` may replace a file of another kind; whether to print JSON.
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    """
    lengths = split_numbers("--bits", bits, 1)
    if factor is not None and wanted is not None:
        raise ValueError("--factor and --recall contradict each other; give one of them")
    figure = None if plot is None else _checked_figure(plot, data, force)
    X, n = draw_rows(data, max_rows, seed, choices)
    how: dict[str, Any] = {"reader": reader, "factor": factor or _USUAL_FACTOR, "recall": wanted}
    with bar("recall", None, "lengths"):
        found = estimate_recall(X, lengths, k, n_queries, **how, random_state=seed)
    if plot is not None:
        draw(figure, found, plot)
    if as_json:
        print(to_json(_document(found, data, n, len(X), X.dtype.name, seed)))
    else:
        _print(found, n, len(X), X.dtype.name)


def draw_rows(data: Path, most: int, seed: int, choices: Choices) -> tuple[NDArray[Any], int]:
    """Rows of a data file, in their order, and the number of all rows.

    Parameters
    ----------
    data : path
    most : int
        Of more rows, so many are drawn at random. Only these stay in memory.
    seed : int
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.

    Returns
    -------
    float array (m, d), int
    """
    rows = read_rows(data, **choices)
    drawn = sample_rows(rows.shape[0], most, np.random.default_rng(seed))
    kept, first = [], 0
    for block in rows.blocks:
        inside = drawn[np.searchsorted(drawn, first) : np.searchsorted(drawn, first + len(block))]
        kept.append(block[inside - first])
        first += len(block)
    if not kept:
        raise ValueError(f"{data} has no rows; give some")
    return np.concatenate(kept), rows.shape[0]


def _checked_figure(plot: Path, data: Path, force: bool) -> Any:
    """A figure to draw on; errors where it could not be written to this file."""
    if plot.suffix.lower() not in _PLOT_SUFFIXES:
        raise ValueError(f"--plot {plot}: give a name that ends in .png or .svg")
    check_output(plot, data, makes="plot", force=force)
    return new_figure()


def _document(found: RecallEstimate, data: Path, n: int, n_drawn: int, dtype: str, seed: int) -> dict[str, Any]:
    """The result for machines."""
    facts = found._asdict() | {"lines": [line._asdict() for line in found.lines]}
    del facts["vector_bytes"]
    vectors = {"n_bytes": found.vector_bytes, "dtype": dtype}
    return {
        "data": data.name,
        "rows": n,
        "drawn": n_drawn,
        "seed": seed,
        **stamp(),
        **facts,
        "vectors": vectors,
    }


def _print(found: RecallEstimate, n: int, n_drawn: int, dtype: str) -> None:
    """The result for people."""
    if n_drawn < n:
        print(f"a sample of {n_drawn} of {n} rows; with all rows, recall is lower")
    if found.n_repeated:
        print(
            f"{counted(found.n_repeated, 'row repeats another and is', 'rows repeat another and are')} left out"
        )
    print(
        f"recall@{found.k} of {counted(found.n_queries, 'query', 'queries')} against {found.n_database} rows, "
        "nearest by Euclidean distance\n"
    )
    table: list[tuple[Any, ...]] = [
        (
            f"{each.n_bits} bits",
            *each[1:3],
            each.read,
            each.reader,
            each.rescored,
            each.factor,
            _or_blank(each.sums),
        )
        for each in found.lines
    ]
    table.append((f"vectors, {dtype}", found.vector_bytes, 1.0, 1.0, "", 1.0, "", ""))
    print_table(("row", "bytes", "bits", "read", "reader", "rescored", "factor", "sums"), table)


def _or_blank(value: float | None) -> float | str:
    """A number, or a blank cell."""
    return "" if value is None else value
