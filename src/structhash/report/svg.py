"""Charts as SVG inside a page: lines, points and reference lines. The colours are those of the page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from structhash.report.elements import Html, element, join

__all__ = ["N_COLOURS", "Axis", "Series", "chart", "key"]

N_COLOURS = 8  # of series that are told apart by colour, shape and dash; `page.css` has them

_WIDTH, _HEIGHT = 440, 300
_MIN_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 428, 12, 254  # of the plot
_MIN_NAME, _LETTER, _DIGIT = 12, 8.0, 9.0  # letters of a name at an axis; widths of a letter and of a digit
_GAP = 5  # between two of its values
_TITLE_ROOM = 30  # of the title of the vertical axis, with the gaps before and after the values
_MARGIN = 0.05  # of the range of an axis, on both ends
_SHAPES = (  # paths about (0, 0)
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-3.6,-3.6h7.2v7.2h-7.2z",
    "M0,-4.6l4.6,8h-9.2z",
    "M0,-5l5,5l-5,5l-5,-5z",
    "M0,4.6l4.6,-8h-9.2z",
    "M-1.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M0,-5l1.4,3.4l3.6,.2l-2.8,2.4l.9,3.6l-3.1,-2l-3.1,2l.9,-3.6l-2.8,-2.4l3.6,-.2z",
    "M-4.5,-2.6l4.5,-2.4l4.5,2.4v5.2l-4.5,2.4l-4.5,-2.4z",
)


class Series(NamedTuple):
    """Points of one name.

    Attributes
    ----------
    name : str
    points : sequence of (float, float)
        Values on both axes. One that is not finite, or not above 0 on a logarithmic axis, is left out.
    colour : int
        Which of `N_COLOURS`; -1 for grey.
    kind : str
        ``"line"``: points joined by lines; ``"points"``; ``"reference"``: a dashed line from edge to edge at
        the height of the first point; ``"steps"``: a thin line of steps, without points.
    notes : sequence of str
        What a reader sees when the pointer rests on a point; by default its values.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: int = -1
    kind: str = "line"
    notes: Sequence[str] = ()


class Axis(NamedTuple):
    """One axis.

    Attributes
    ----------
    title : str
    log : bool
        Whether it is logarithmic.
    ticks : sequence of float
        Where values are written; by default round values.
    names : sequence of str
        What is written at 1, 2, and so on, in place of values.
    """

    title: str
    log: bool = False
    ticks: Sequence[float] = ()
    names: Sequence[str] = ()


class _Scale(NamedTuple):
    """How values become places."""

    low: float  # after the logarithm
    high: float
    first: float  # the place of `low`
    last: float
    log: bool

    def place(self, value: float) -> float:
        """Where a value is drawn."""
        value = math.log10(value) if self.log else value
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)


def chart(series: Sequence[Series], x: Axis, y: Axis, title: str) -> Html:
    """Draw series.

    Parameters
    ----------
    series : sequence of Series
        Those of grey first, if others are to be drawn over them.
    x, y : Axis
    title : str
        What the picture shows, for readers that do not see it.

    Returns
    -------
    Html
        An ``<svg>``.

    Examples
    --------
    >>> chart([Series("a", [(8, 0.5), (16, 0.7)], 0)], Axis("bits", log=True), Axis("mAP"), "mAP")[:4]
    '<svg'
    """
    drawn = [(each, _drawable(each, x, y)) for each in series]
    points = [point for _, kept in drawn for _, point in kept]
    values = [[point[0] for each, kept in drawn if each.kind != "reference" for _, point in kept]]
    values.append([point[1] for point in points])
    up = _scale(values[1], y, _BOTTOM, _TOP)
    heights = _ticks(y, up)
    written = list(zip(heights, _tick_labels(heights), strict=True))
    left = max(_MIN_LEFT, _TITLE_ROOM + _DIGIT * max((len(text) for _, text in written), default=0))
    across = _scale(values[0], x, left, _RIGHT)
    parts = [element("title", title), *_draw_x(x, across), *_draw_y(y, up, written, left)]
    parts += [_draw(each, kept, across, up) for each, kept in drawn if kept]
    return element("svg", *parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", class_="chart")


def key(series: Series) -> Html:
    """The sign of a series and its name, for a legend outside the picture."""
    if series.kind in ("reference", "steps"):
        sign = element("path", d="M1,7h22", class_=f"{_style(series)} {series.kind}")
    else:
        line = element("path", d="M1,7h22", class_="line") if series.kind == "line" else None
        sign = join(
            [line, element("path", d=_SHAPES[series.colour], class_="dot", transform="translate(12,7)")]
        )
        sign = element("g", sign, class_=_style(series))
    picture = element("svg", sign, viewBox="0 0 24 14", width="24", height="14", aria_hidden="true")
    return element("li", picture, series.name)


def _style(series: Series) -> str:
    """The class that gives a series its colour."""
    return f"c{series.colour}" if series.colour >= 0 else "grey"


def _drawable(series: Series, x: Axis, y: Axis) -> list[tuple[int, tuple[float, float]]]:
    """Numbers and values of the points that both axes can show."""
    return [
        (number, point)
        for number, point in enumerate(series.points)
        if all(math.isfinite(v) and (v > 0 or not axis.log) for v, axis in zip(point, (x, y)))
    ]


def _scale(values: Sequence[float], axis: Axis, first: float, last: float) -> _Scale:
    """The scale on which all values have their place."""
    found = [math.log10(value) if axis.log else value for value in values] or [0.0, 1.0]
    low, high = min(found), max(found)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1):
        low, high = low - 0.5, high + 0.5
    margin = _MARGIN * (high - low)
    return _Scale(low - margin, high + margin, first, last, axis.log)


def _ticks(axis: Axis, scale: _Scale) -> list[float]:
    """Values inside a scale that are written at its axis."""
    if axis.ticks or axis.names:
        return _inside(axis.ticks or [place + 1.0 for place in range(len(axis.names))], scale)
    if not scale.log:
        return _inside(_round_values(scale.low, scale.high), scale)
    steps = (1,) if scale.high - scale.low > 2 else (1, 2, 5)
    decades = range(math.floor(scale.low) - 1, math.ceil(scale.high) + 1)
    found = _inside([step * 10.0**decade for decade in decades for step in steps], scale)
    return found if len(found) > 1 else _inside(_round_values(10**scale.low, 10**scale.high), scale)


def _round_values(low: float, high: float) -> list[float]:
    """About five round values between two others."""
    rough = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * nice for nice in (1, 2, 2.5, 5, 10) if unit * nice >= rough)
    return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _inside(values: Sequence[float], scale: _Scale) -> list[float]:
    """Values that have a place between the ends of a scale."""
    first, last = sorted((scale.first, scale.last))
    return [value for value in values if first - 0.5 <= scale.place(value) <= last + 0.5]


def _tick_labels(values: Sequence[float]) -> list[str]:
    """Values as text, with nine digits, or as many as tell them apart; needless ones are left out.

    >>> _tick_labels([0.9, 0.9005, 0.901]), _tick_labels([1, 65537]), _tick_labels([2e9, 1e-7])
    (['0.9', '0.9005', '0.901'], ['1', '65,537'], ['2e9', '1e-7'])
    """
    gaps = [b - a for a, b in itertools.pairwise(sorted(values)) if b > a]
    error = min([*(gap / 100 for gap in gaps), *(1e-9 * abs(value) for value in values if value)], default=0.0)
    for digits in range(4, 16):
        rounded = [float(f"{value:.{digits}g}") for value in values]
        if all(abs(a - b) <= error for a, b in zip(values, rounded)):
            break
    return [_text(value, digits) for value in rounded]


def _text(value: float, digits: int) -> str:
    """A number without needless digits; a very small or large one with its power of ten."""
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        return f"{value:,.{max(digits, 7)}g}"
    head, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{head.rstrip('0').rstrip('.')}e{int(power)}"


def _draw_x(axis: Axis, scale: _Scale) -> list[Html]:
    """The horizontal axis: line, values that have room, title."""
    left, right = scale.first, scale.last
    parts = [element("path", d=f"M{left:g},{_BOTTOM}H{right}", class_="axis")]
    free, ticks = 0.0, _ticks(axis, scale)
    texts = _tick_labels(ticks)
    if axis.names:
        room = (right - left) / len(axis.names)
        texts = [_short(axis.names[round(value) - 1], room) for value in ticks]
    for value, text in zip(ticks, texts, strict=True):
        place, half = scale.place(value), (_LETTER if axis.names else _DIGIT) / 2 * len(text)
        parts.append(element("path", d=f"M{place:.1f},{_BOTTOM}v5", class_="axis"))
        middle = min(place, _WIDTH - half)  # no text beyond the edge
        if middle - half >= free:
            parts.append(element("text", text, x=f"{middle:.1f}", y=_BOTTOM + 19, text_anchor="middle"))
            free = middle + half + _GAP
    title = _short(axis.title, _WIDTH)
    middle = min((left + right) / 2, _WIDTH - _LETTER / 2 * len(title))
    return [*parts, element("text", title, x=f"{middle:g}", y=_HEIGHT - 8, text_anchor="middle")]


def _short(name: str, room: float) -> str:
    """The beginning of a name or a title, as much as there is room for."""
    most = max(int((room - _GAP) / _LETTER), _MIN_NAME)
    return name if len(name) <= most else name[: most - 1] + "…"


def _draw_y(axis: Axis, scale: _Scale, written: Sequence[tuple[float, str]], left: float) -> list[Html]:
    """The vertical axis: a thin line for each value, title."""
    parts = []
    for value, text in written:
        place = scale.place(value)
        parts.append(element("path", d=f"M{left:g},{place:.1f}H{_RIGHT}", class_="grid"))
        parts.append(element("text", text, x=f"{left - 7:g}", y=f"{place + 4:.1f}", text_anchor="end"))
    turned = f"translate(15,{(_TOP + _BOTTOM) / 2}) rotate(-90)"
    title = _short(axis.title, _HEIGHT)
    return [*parts, element("text", title, transform=turned, text_anchor="middle")]


def _draw(series: Series, kept: list[tuple[int, tuple[float, float]]], across: _Scale, up: _Scale) -> Html:
    """One series."""
    places = [(across.place(x), up.place(y)) for _, (x, y) in kept]
    note = element("title", series.name)
    if series.kind == "reference":
        path = f"M{across.first:g},{places[0][1]:.1f}H{across.last}"
        return element("path", note, d=path, class_=f"{_style(series)} reference")
    if series.kind == "steps":
        path = "M" + "".join(
            f"{'H' if i else ''}{x:.1f}{'V' if i else ','}{y:.1f}" for i, (x, y) in enumerate(places)
        )
        return element("path", note, d=path, class_=f"{_style(series)} steps")
    parts: list[Html] = []
    if series.kind == "line" and len(places) > 1:
        path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(element("path", note, d=path, class_="line"))
    for (number, point), (x, y) in zip(kept, places):
        said = series.notes[number] if series.notes else f"{series.name}: {point[0]:.4g}, {point[1]:.4g}"
        moved = f"translate({x:.1f},{y:.1f})"
        shape = _SHAPES[series.colour]
        parts.append(element("path", element("title", said), d=shape, transform=moved, class_="dot"))
    return element("g", *parts, class_=_style(series))
