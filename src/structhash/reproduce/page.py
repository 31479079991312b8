"""The reproduction as one page that loads nothing: claims, tables, figures and ranking examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.report import page as parts
from structhash.report.elements import Html, csv_link, element
from structhash.report.pictures import picture
from structhash.report.svg import Axis, Series, chart
from structhash.reproduce._verdicts import Claim
from structhash.reproduce.document import Reproduction
from structhash.reproduce.figures import Figure
from structhash.reproduce.run import EXAMPLE_METHOD
from structhash.reproduce.sets import SETS
from structhash.reproduce.tables import N_NAMES, Table

__all__ = ["make_page"]

_COLOURS = {  # a method has one colour in all figures; the others are grey
    "StructH-N": 0,
    "CGH": 1,
    "StructH-N-Stage": 2,
    "StructH-SN-Stage": 3,
    "STHs": 3,
    "KSH": 4,
    "BREs": 4,
    "StructH-A": 5,
    "ITQ": 6,
    "StructH-Kernel": 7,
    "SPLH": 7,
}
_SIGNS = {"holds": "\u2713", "does not hold": "\u2717", "not measured": "\u2013"}
_STYLES = {"holds": "holds", "does not hold": "fails", "not measured": None}


def make_page(made: Reproduction, pixels: Mapping[str, NDArray[Any]]) -> str:
    """The page.

    Parameters
    ----------
    made : Reproduction
    pixels : mapping
        The rows (n, height * width) of each data set of images that has examples, by its name.

    Returns
    -------
    str
        HTML. All pictures are inside it.
    """
    sections = {
        "claims": ("Claims", [_claim(claim) for claim in made.claims]),
        "tables": ("Tables", [_table(table, number) for number, table in enumerate(made.tables, 1)]),
        "figures": ("Figures", _figures(made.figures)),
        "examples": ("Ranking examples, the paper's Figure 4", _examples(made, pixels)),
        "runs": (
            "How it was made",
            [element("ul", *(element("li", line) for line in made.about), class_="plain")],
        ),
    }
    built = [parts.section(name, title, *children) for name, (title, children) in sections.items()]
    links = {name: title for name, (title, _) in sections.items()}
    summary = [element("p", *_linked(line)) for line in made.summary]
    return parts.page("The paper, reproduced", summary, built, links)


def _linked(text: str) -> list[str]:
    """Text whose addresses are links."""
    pieces = re.split(r"(https://\S*\w)", text)
    return [element("a", each, href=each) if place % 2 else each for place, each in enumerate(pieces)]


def _claim(claim: Claim) -> Html:
    """One claim: verdict, rule, evidence."""
    lines = [element("li", line) for line in claim.evidence]
    shown = element("ul", *lines, class_="plain")
    verdict = element(
        "span", f"{_SIGNS[claim.verdict]} {claim.verdict.capitalize()}", class_=_STYLES[claim.verdict]
    )
    evidence = element("details", element("summary", "Evidence"), shown)
    return element(
        "div",
        element("h3", verdict, f": {claim.statement}"),
        element("p", f"{claim.where}. It holds if: {claim.rule}.", class_="note"),
        element("p", claim.note) if claim.note else None,
        evidence if lines else None,
        class_="query",
    )


def _table(table: Table, number: int) -> Html:
    """A table whose numbers can be sorted and saved, and its remarks."""
    lines = [
        [
            parts.Cell(cell.text, None, "")
            if place < N_NAMES
            else parts.Cell(cell.text, "" if cell.text == "-" else cell.text, "number" + " best" * cell.best)
            for place, cell in enumerate(line)
        ]
        for line in table.lines
    ]
    shown = parts.table(table.head, lines, f"table{number}.csv", label=table.title)
    remarks = [element("p", remark, class_="note") for remark in table.remarks]
    return element("div", element("h3", table.title), shown, *remarks)


def _figures(figures: list[Figure]) -> list[Html]:
    """All panels, those of one figure side by side."""
    built = []
    for name, panels in groupby(figures, key=lambda figure: figure.part):
        drawn = [_figure(panel) for panel in panels]
        built.append(element("div", element("h3", name), element("div", *drawn, class_="figures")))
    return built


def _figure(figure: Figure) -> Html:
    """One panel with its legend and numbers."""
    series = [Series(curve.method, curve.points, _COLOURS.get(curve.method, -1)) for curve in figure.curves]
    series.sort(key=lambda each: each.colour >= 0)  # grey ones below the others
    ticks = sorted({x for curve in figure.curves for x, _ in curve.points}) if "x" in figure.log else ()
    axes = Axis(figure.x, "x" in figure.log, ticks), Axis(figure.y, "y" in figure.log)
    title = f"{figure.title}: {figure.y} against {figure.x}"
    rows = [(curve.method, x, y) for curve in figure.curves for x, y in curve.points]
    link = csv_link("figure.csv", ["method", figure.x, figure.y], rows)
    return parts.figure(title, chart(series, *axes, title), series[::-1], link, figure.note or None)


def _examples(made: Reproduction, pixels: Mapping[str, NDArray[Any]]) -> list[Html]:
    """Queries and what they retrieve, for every set of images."""
    found: list[Html] = []
    for data, examples in made.examples.items():
        shape, X = SETS[data].image_shape, pixels[data]
        assert shape is not None  # only sets of images have examples
        scale = float(np.max(X))
        found.append(element("h3", SETS[data].title))
        for hard in (False, True):
            text = "The queries with the lowest precision." if hard else "The first query of each class."
            found.append(element("p", text, class_="note"))
            for example in (each for each in examples if each["hard"] == hard):
                images = [_image(X[example["query"]], shape, scale, "item plain", "query")]
                for row, right in zip(example["found"], example["right"], strict=True):
                    style, said = ("item", "right") if right else ("item wrong", "wrong")
                    images.append(_image(X[row], shape, scale, style, said))
                found.append(element("ul", *images, class_="strip"))
    if not found:
        return [parts.missing("No set of images is among these runs.")]
    text = f"{EXAMPLE_METHOD}, 64 bits, seed 0: a query, then the ten nearest rows; wrong ones dashed."
    return [element("p", text), *found]


def _image(row: NDArray[Any], shape: tuple[int, int], scale: float, style: str, said: str) -> Html:
    """One image, ink dark, in its frame."""
    shown = picture(scale - row.astype(np.float64), shape, 0.0, scale, said)
    return element("li", shown, said, class_=f"{style} ink")
