"""Sections about what lies behind the means: results of each class, and the hardest queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structhash.report.elements import Html, csv_link, element
from structhash.report.page import Cell, choice, figure, table
from structhash.report.svg import Axis, Series, chart

__all__ = ["classes", "hardest"]


def classes(details: dict[str, Any], names: Sequence[str], colours: Sequence[int] | None = None) -> list[Html]:
    """Results of each class, a figure and a table for each measure.

    Parameters
    ----------
    details : dict
        What `structhash.evaluation.details.details` returned.
    names : sequence of str
        Of its lines.
    colours : sequence of int, optional
        Those of its lines, as `Series` takes them; by default in their order.

    Returns
    -------
    list of Html
    """
    colours = range(len(names)) if colours is None else colours
    measures = details["classes"]["values"]
    said = "Means over the queries of a class, for the best line of each method."
    if "pr_area" in measures:
        said += " For pr_area these are means of the areas of single queries."
    return [
        element("p", said),
        choice("Measure", {name: _of_measure(details["classes"], name, names, colours) for name in measures}),
    ]


def hardest(details: dict[str, Any], names: Sequence[str]) -> list[Html]:
    """The queries that most methods answer worst.

    Parameters
    ----------
    details, names
        See `classes`.

    Returns
    -------
    list of Html
    """
    measure = details["measure"]
    rows = []
    for each in details["hardest"]:
        query, label = each["query"], each["label"]
        start = [Cell(str(query), query, "number"), Cell("–" if label is None else label, style="name")]
        rows.append([*start, Cell(str(each["seed"]), each["seed"], "number"), *map(_value, each["values"])])
    about = f"{measure} of the queries with the least mean over these lines. Queries are named by row numbers."
    return [table(["query", "label", "seed", *names], rows, "hardest queries.csv", about)]


def _of_measure(found: dict[str, Any], measure: str, names: Sequence[str], colours: Sequence[int]) -> Html:
    """Figure and table of one measure."""
    values = found["values"][measure]  # a list a line
    worst = sorted(range(len(found["labels"])), key=lambda place: _missing_last(values[0][place]))
    labels = [found["labels"][place] for place in worst]
    rows = [
        [
            Cell(found["labels"][place], style="name"),
            Cell(str(found["queries"][place]), found["queries"][place], "number"),
            *(_value(line[place]) for line in values),
        ]
        for place in worst
    ]
    series = []
    for number, (name, line) in enumerate(zip(names, values, strict=True)):
        points = [(rank + 1.0, _number(line[place])) for rank, place in enumerate(worst)]
        notes = [f"{label}: {name} {point[1]:.3f}" for label, point in zip(labels, points)]
        series.append(Series(name, points, colours[number], "line" if number == 0 else "points", notes))
    head = ["class", "queries", *names]
    cells = [[label, *(line[place] for line in values)] for label, place in zip(labels, worst)]
    link = csv_link(f"{measure} by class.csv", ["class", *names], cells)
    title = f"{measure} by class"
    across = Axis(f"classes, hardest first for {names[0]}", names=labels)
    picture = chart(series[::-1], across, Axis(measure), title)
    shown = figure(title, picture, series, link, "The pointer on a sign names its class.")
    return element("div", shown, table(head, rows, f"{measure} by class, table.csv"), class_="stack")


def _value(value: float | None) -> Cell:
    """A cell of a score."""
    return Cell("–", "", "number") if value is None else Cell(f"{value:.3f}", value, "number")


def _number(value: float | None) -> float:
    """A score, nan where there is none."""
    return float("nan") if value is None else value


def _missing_last(value: float | None) -> float:
    """What sorts missing scores to the end."""
    return np.inf if value is None else value
