"""Figures of a comparison: quality against bits, against bytes and against the time to encode."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from structhash.evaluation.details import best_lines
from structhash.evaluation.report import Line
from structhash.report.elements import Html, csv_link, element
from structhash.report.page import figure, missing
from structhash.report.svg import N_COLOURS, Axis, Series, chart

__all__ = ["bytes_of", "pareto_front", "quality_figures"]

_FLOAT_BYTES = 4  # of a coordinate


def bytes_of(line: Line, n_features: int) -> int:
    """Bytes that a row takes: whole bytes of a code, four for each coordinate of a float vector.

    The name of a distance says which bits it stores beside the code.

    >>> bytes_of(Line("rabitq", "factors, +64 bits", 20, [], [], {}, {}, {}, {}, 0, 0), 100)
    11
    """
    if not line.n_bits:
        return _FLOAT_BYTES * n_features
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


def quality_figures(lines: Sequence[Line], measure: str, n_features: int) -> Html:
    """The figures of one measure.

    Parameters
    ----------
    lines : sequence of Line
        Those with scores.
    measure : str
    n_features : int
        Length of a float vector.

    Returns
    -------
    Html
    """
    codes = _best_distances([each for each in lines if each.n_bits], measure)
    vectors = [each for each in lines if not each.n_bits and math.isfinite(each.mean[measure])]
    colours = _colours(lines, measure)
    parts = [
        _against_bits(codes, vectors, measure, colours),
        _against_bytes(codes, vectors, measure, colours, n_features),
        _against_time(codes, measure, colours),
    ]
    return element("div", *parts, class_="figures")


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


def _colours(lines: Sequence[Line], measure: str) -> dict[str, int]:
    """A colour for each of the best methods; the same in all figures of one measure."""
    codes = [each for each in lines if each.n_bits]
    best = [codes[place].method for place in best_lines(codes, measure, N_COLOURS)]
    return {method: number for number, method in enumerate(best)}


def _series(
    codes: dict[str, list[Line]], colours: dict[str, int], measure: str, kind: str, x: str
) -> list[Series]:
    """A series a method: grey ones first, then the best ones, the best of all last."""
    found = []
    for method in sorted(codes, key=lambda name: -colours.get(name, N_COLOURS)):
        points = [(_abscissa(each, x), each.mean[measure]) for each in codes[method]]
        notes = [
            f"{method}, {each.distance}, {each.n_bits} bits: {each.mean[measure]:.3f}" for each in codes[method]
        ]
        found.append(Series(method, points, colours.get(method, -1), kind, notes))
    return found


def _abscissa(line: Line, x: str) -> float:
    """What a line is drawn against."""
    return {"bits": line.n_bits, "bytes": bytes_of(line, 0), "seconds": line.encode_seconds}[x]


def _finish(
    title: str, series: list[Series], others: list[Series], axes: tuple[Axis, Axis], link: Html, note: str = ""
) -> Html:
    """A figure whose legend names the best methods in order, and all others once."""
    legend = [each for each in series if each.colour >= 0][::-1] + others
    if any(each.colour < 0 for each in series):
        legend.append(Series("other methods", (), -1, series[0].kind))
    picture = chart([*others, *series], *axes, title)
    return figure(title, picture, legend, link, note or None)


def _against_bits(
    codes: dict[str, list[Line]], vectors: list[Line], measure: str, colours: dict[str, int]
) -> Html:
    """Quality against the length of the code."""
    series = _series(codes, colours, measure, "line", "bits")
    lengths = sorted({each.n_bits for lines in codes.values() for each in lines})
    others = [Series("float vectors", [(1, each.mean[measure])], -1, "reference") for each in vectors]
    listed = [each for found in codes.values() for each in found] + vectors
    rows = [(each.method, each.distance, each.n_bits or None, each.mean[measure]) for each in listed]
    link = csv_link(f"{measure} against bits.csv", ["method", "distance", "bits", measure], rows)
    axes = Axis("bits of a code", True, lengths), Axis(measure)
    return _finish(f"{measure} against bits", series, others, axes, link)


def _against_bytes(
    codes: dict[str, list[Line]], vectors: list[Line], measure: str, colours: dict[str, int], n_features: int
) -> Html:
    """Quality against the bytes of a row, with the float vectors."""
    series = _series(codes, colours, measure, "points", "bytes")
    points = [(float(bytes_of(each, n_features)), each.mean[measure]) for each in vectors]
    if points:
        note = f"float vectors: {points[0][0]:.0f} bytes, {points[0][1]:.3f}"
        series.append(Series("float vectors", points, -1, "points", [note]))
    front = pareto_front([point for each in series for point in each.points])
    others = [Series("best for its bytes", front, -1, "steps")]
    if points:  # the legend names it apart from other grey points
        others.append(series.pop())
    listed = [each for found in codes.values() for each in found] + vectors
    rows = [(each.method, each.distance, bytes_of(each, n_features), each.mean[measure]) for each in listed]
    link = csv_link(f"{measure} against bytes.csv", ["method", "distance", "bytes", measure], rows)
    note = f"A coordinate of a float vector takes {_FLOAT_BYTES} bytes." if points else ""
    sizes = sorted({bytes_of(each, n_features) for each in listed})
    axes = Axis("bytes of a row", True, sizes), Axis(measure)
    return _finish(f"{measure} against bytes", series, others, axes, link, note)


def _against_time(codes: dict[str, list[Line]], measure: str, colours: dict[str, int]) -> Html:
    """Quality against the seconds that the database takes to be encoded."""
    timed = {name: [each for each in lines if each.encode_seconds > 0] for name, lines in codes.items()}
    series = _series(timed, colours, measure, "points", "seconds")
    front = pareto_front([point for each in series for point in each.points])
    if not front:
        return missing(f"{measure} against time is left out: no line says how long it took to encode.")
    others = [Series("best for its time", front, -1, "steps")]
    listed = [each for found in timed.values() for each in found]
    rows = [(x.method, x.distance, x.n_bits, x.encode_seconds, x.mean[measure]) for x in listed]
    head = ["method", "distance", "bits", "encode seconds", measure]
    link = csv_link(f"{measure} against encoding time.csv", head, rows)
    axes = Axis("seconds to encode the database", True), Axis(measure)
    note = (
        "Mean over the seeds, with the time to fit a reader. Points of one colour are the lengths of a method."
    )
    return _finish(f"{measure} against encoding time", series, others, axes, link, note)
