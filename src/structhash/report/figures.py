"""Figures of a comparison: quality against bits, bytes, the time to encode and the time of a query."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from structhash.evaluation.details import best_lines
from structhash.evaluation.report import Line
from structhash.report.elements import Html, csv_link, element
from structhash.report.page import figure, missing
from structhash.report.svg import N_COLOURS, Axis, Series, chart

__all__ = ["bytes_of", "method_colours", "milliseconds", "pareto_front", "quality_figures"]

_FLOAT_BYTES = 4  # of a coordinate
_ABOUT_BYTES = (
    f"A coordinate of a float vector takes {_FLOAT_BYTES} bytes. A distance that is not a Hamming distance may "
    "read more than the bytes of the code."
)
_ABOUT_TIME = (
    "Mean over the seeds, with the time to fit a reader. Points of one colour are the lengths of a method."
)
_ABOUT_QUERIES = (
    "To code a query and search the whole database on one thread: the last column of the results says more. A "
    "distance that no index has is left out. Points of one colour are the lengths of a method."
)


class _Horizontal(NamedTuple):
    """What quality is drawn against: the horizontal axis of a figure."""

    name: str
    of: Callable[[Line], float]
    title: str
    front: str = ""  # the name of the line that joins the points that no other beats; "" for lines of methods
    note: str = ""
    own_ticks: bool = True  # whether the values of the lines are written at the axis


def bytes_of(line: Line, n_features: int) -> int | None:
    """Bytes that a row takes: whole bytes of a code, four for each coordinate of a float vector.

    The name of a distance says which bits it stores beside the code. One-hot codes are stored as the place of
    the bit that is set. It is None for a distance that reads floats beside codes: how many is not known.

    >>> bytes_of(Line("rabitq", "factors, +64 bits", 20, [], [], {}, {}, {}, {}, 0, 0), 100)
    11
    """
    if not line.is_code:
        return None if line.n_bits else _FLOAT_BYTES * n_features
    if line.one_hot:
        return max(1, -(-(line.n_bits - 1).bit_length() // 8))
    more = re.search(r"\+(\d+) bits", line.distance)
    return -(-line.n_bits // 8) + (-(-int(more[1]) // 8) if more else 0)


def pareto_front(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other point beats: none has as low an x and a higher y, or a lower x and as high a y.

    >>> pareto_front([(1, 0.5), (2, 0.4), (3, 0.9), (3, 0.8)])
    [(1, 0.5), (3, 0.9)]
    """
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front


def quality_figures(
    lines: Sequence[Line], measure: str, n_features: int, colours: Mapping[str, int] | None = None
) -> Html:
    """The figures of one measure.

    Parameters
    ----------
    lines : sequence of Line
        Those with scores.
    measure : str
    n_features : int
        Length of a float vector.
    colours : mapping, optional
        What `method_colours` returned; by default that of this measure.

    Returns
    -------
    Html
    """
    codes = _best_distances([each for each in lines if each.is_code], measure)
    vectors = [each for each in lines if not each.is_code and math.isfinite(each.mean[measure])]
    colours = method_colours(lines, measure) if colours is None else colours

    def size(line: Line) -> float:
        return bytes_of(line, n_features) or math.nan

    bits = _Horizontal("bits", lambda line: line.n_bits, "bits of a code")
    stored = _Horizontal("bytes", size, "bytes of a row", "best for its bytes", _ABOUT_BYTES)
    title, best = "seconds to encode the database", "best for its time"
    encoding = _Horizontal("encoding time", _encoding, title, best, _ABOUT_TIME, own_ticks=False)
    title = "milliseconds a query"
    asking = _Horizontal("query time", milliseconds, title, best, _ABOUT_QUERIES, own_ticks=False)
    parts = [_against(x, codes, vectors, measure, colours) for x in (bits, stored)]
    for x in (encoding, asking):
        timed = _best_distances([each for each in lines if each.is_code and x.of(each) > 0], measure)
        if timed:
            parts.append(_against(x, timed, [], measure, colours))
        else:
            parts.append(
                missing(f"{measure} against {x.name} is left out: the result does not hold these times.")
            )
    return element("div", *parts, class_="figures")


def _encoding(line: Line) -> float:
    """Seconds to encode the database."""
    return line.encode_seconds


def milliseconds(line: Line) -> float:
    """Milliseconds of a query; nan where it was not timed."""
    return math.nan if line.query_seconds is None else 1000 * line.query_seconds


def _best_distances(lines: Sequence[Line], measure: str) -> dict[str, list[Line]]:
    """The lines of each method, by length: of several distances the best."""
    best: dict[tuple[str, int], Line] = {}
    for line in lines:
        value, key = line.mean[measure], (line.method, line.n_bits)
        if math.isfinite(value) and (key not in best or value > best[key].mean[measure]):
            best[key] = line
    methods = dict.fromkeys(method for method, _ in best)
    return {
        name: sorted((x for x in best.values() if x.method == name), key=lambda x: x.n_bits) for name in methods
    }


def method_colours(lines: Sequence[Line], measure: str) -> dict[str, int]:
    """A colour for each of the best methods with codes, the best first."""
    codes = [each for each in lines if each.is_code]
    best = [codes[place].method for place in best_lines(codes, measure, N_COLOURS)]
    return {method: number for number, method in enumerate(best)}


def _against(
    x: _Horizontal,
    codes: dict[str, list[Line]],
    vectors: list[Line],
    measure: str,
    colours: Mapping[str, int],
) -> Html:
    """One figure: a series a method, the best drawn last, over the others; float vectors are dashed lines."""
    series = []
    for method in sorted(codes, key=lambda name: -colours.get(name, N_COLOURS)):
        points = [(x.of(line), line.mean[measure]) for line in codes[method]]
        notes = [
            f"{method}, {line.distance}, {line.n_bits} bits: {line.mean[measure]:.3f}" for line in codes[method]
        ]
        kind = "points" if x.front else "line"
        series.append(Series(method, points, colours.get(method, -1), kind, notes))
    others = [
        Series(_vectors_name(x, line), [(1, line.mean[measure])], colours.get(line.method, -1), "reference")
        for line in vectors
    ]
    if x.front:
        front = pareto_front([point for each in series for point in each.points])
        others.append(Series(x.front, front, -1, "steps"))
    listed = [line for found in codes.values() for line in found]
    ticks = sorted({x.of(line) for line in listed}) if x.own_ticks else ()
    title = f"{measure} against {x.name}"
    rows = [
        (line.method, line.distance, line.n_bits, x.of(line), line.mean[measure])
        for line in listed + vectors
        if math.isfinite(x.of(line))
    ]
    link = csv_link(f"{title}.csv", ["method", "distance", "bits", x.name, measure], rows)
    legend = [each for each in series if each.colour >= 0][::-1] + others
    if any(each.colour < 0 for each in series):
        legend.append(Series("other methods", (), -1, series[0].kind))
    picture = chart([*others, *series], Axis(x.title, True, ticks), Axis(measure), title)
    return figure(title, picture, legend, link, x.note or None)


def _vectors_name(x: _Horizontal, line: Line) -> str:
    """The float vectors, with their place where it is far from that of codes; or another line of floats."""
    if line.n_bits:
        return f"{line.method}, {line.distance}"
    return f"float vectors ({x.of(line):,} {x.name})" if x.of(line) else "float vectors"
