"""The tables of a comparison: means with their tests, and the results of each seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from structhash.evaluation.query_time import N_NEAREST, N_TIMED
from structhash.evaluation.report import SIGNIFICANCE_LEVEL, Line
from structhash.report._best_codes import best_code, p_below, p_words
from structhash.report._measure_words import measure_words
from structhash.report.elements import Html, element
from structhash.report.figures import bytes_of, milliseconds
from structhash.report.page import Cell, table

__all__ = ["line_name", "results"]

_NO_VALUE = Cell("–", "", "number")
_LEGEND = (
    "* significantly below the best code of its length (bold): paired t-test over the queries of all seeds, "
    f"{SIGNIFICANCE_LEVEL:.0%}, Holm-corrected over the lines, with p below the value. Lines that compare "
    "floats are not tested. fit s, encode s: seconds to train and to encode the database, means over the seeds."
)
_ABOUT_QUERIES = (
    f" query ms: milliseconds in which a query is coded and its {N_NEAREST} nearest codes are found, in the "
    f"whole database. At most {N_TIMED} queries run as one batch, and one thread searches; the time is divided "
    "by their number. Distances that no index has are not timed."
)


def line_name(line: Line) -> str:
    """A line in a few words.

    >>> line_name(Line("itq", "plain", 64, [], [], {}, {}, {}, {}, 0, 0))
    'itq, plain, 64 bits'
    """
    length = f"{line.n_bits} bits" if line.is_code else "floats" if line.n_bits else "vectors"
    return f"{line.method}, {line.distance}, {length}"


def results(lines: Sequence[Line], measures: Sequence[str], n_features: int) -> list[Html]:
    """The table of all lines, what failed, and the table of the seeds.

    Parameters
    ----------
    lines : sequence of Line
        With nan where a value is missing.
    measures : sequence of str
    n_features : int
        Length of a float vector.

    Returns
    -------
    list of Html
    """
    head = ["method", "bits", *measures, "distance", "bytes", "fit s", "encode s"]
    rows, about = [_row(line, lines, measures, n_features) for line in lines], _LEGEND
    if any(line.query_seconds is not None for line in lines):
        head.append("query ms")
        rows = [[*row, _time(milliseconds(line))] for row, line in zip(rows, lines)]
        about += _ABOUT_QUERIES
    parts = [table(head, rows, "results.csv", about), element("p", measure_words(measures), class_="note")]
    if failed := [element("li", f"{line_name(line)}: {line.error}") for line in lines if line.error]:
        parts += [element("h3", "Failed"), element("ul", *failed, class_="plain")]
    scored = [line for line in lines if not line.error]
    rows = [_seed_row(line, measures, place) for line in scored for place in range(len(line.seeds))]
    head = ["method", "bits", *measures, "distance", "seed"]
    seeds = table(head, rows, "seeds.csv", "Each seed is a split and a model.")
    return [*parts, element("details", element("summary", "Results of each seed"), seeds)]


def _row(line: Line, lines: Sequence[Line], measures: Sequence[str], n_features: int) -> list[Cell]:
    """One line of the table of results."""
    size, cells = bytes_of(line, n_features), _start(line)
    cells += [_tested(line, measure, best_code(lines, measure, line.n_bits)) for measure in measures]
    times = _time(line.fit_seconds), _time(line.encode_seconds)
    stored = _NO_VALUE if size is None else Cell(f"{size:,}", size, "number")
    return [*cells, Cell(line.distance), stored, *times]


def _time(value: float) -> Cell:
    """A time, in any unit."""
    if not math.isfinite(value):
        return _NO_VALUE
    return Cell(f"{value:,.0f}" if value >= 10 else f"{value:.2g}", value, "number")


def _tested(line: Line, measure: str, best: Line | None) -> Cell:
    """A mean, with its test against the best code of its length."""
    value = line.mean[measure]
    if not math.isfinite(value):
        return _NO_VALUE._replace(shown="failed") if line.error else _NO_VALUE
    if not line.is_code or best is None:
        return Cell(f"{value:.3f}", value, "number")
    if value == best.mean[measure]:
        return Cell(f"{value:.3f}\nbest", value, "number best")
    p_value = p_below(line, best, measure)
    if p_value is None:
        return Cell(f"{value:.3f}", value, "number")
    star = "*" if p_value < SIGNIFICANCE_LEVEL else ""
    return Cell(f"{value:.3f}{star}\n{p_words(p_value)}", value, "number")


def _seed_row(line: Line, measures: Sequence[str], place: int) -> list[Cell]:
    """The measures of one seed of a line."""
    values = [line.by_seed[measure][place] for measure in measures]
    scores = [_NO_VALUE if value is None else Cell(f"{value:.3f}", value, "number") for value in values]
    seed = Cell(str(line.seeds[place]), line.seeds[place], "number")
    return [*_start(line), *scores, Cell(line.distance), seed]


def _start(line: Line) -> list[Cell]:
    """Method and bits of a line."""
    bits = Cell(str(line.n_bits), line.n_bits, "number") if line.is_code else _NO_VALUE
    return [Cell(line.method, style="name"), bits]
