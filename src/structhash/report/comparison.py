"""The page about a comparison of methods, from the document that `structhash compare` writes."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structhash.evaluation.report import Line, from_json
from structhash.report.behind import classes, hardest
from structhash.report.elements import Html, element
from structhash.report.examples import examples
from structhash.report.figures import method_colours, quality_figures
from structhash.report.opening import opening
from structhash.report.page import Cell, choice, missing, page, section, table
from structhash.report.results import line_name, results
from structhash.report.rows import ShownRows

__all__ = ["command_of", "comparison_page"]

_NO_DETAILS = "This is left out: the result does not hold it."
_NO_DATA = "Rows are shown by label and number: this page was made from the result alone."
_LIMITS = ("queries", "train")  # options that are upper limits: the first lines have the numbers themselves


def comparison_page(document: dict[str, Any], shown: ShownRows | None = None) -> str:
    """A page about a comparison.

    Parameters
    ----------
    document : dict
        What `structhash compare` writes, read by `json`. A document of an earlier version may lack parts; the
        page then says so.
    shown : ShownRows, optional
        What the rows of the examples look like; by default their labels and numbers.

    Returns
    -------
    str
        HTML that loads nothing.
    """
    lines = [_with_nan(line) for line in from_json(document)]
    measures = list(document["options"]["measures"])
    scored = [line for line in lines if not line.error]
    details = document.get("details") or {}
    parts = {"results": ("Results", results(lines, measures, document["features"]))}
    colours = method_colours(scored, measures[0])  # a method has one colour in all charts
    if scored:
        pictures = {name: quality_figures(scored, name, document["features"], colours) for name in measures}
        said = element("p", "Where a method has several distances, the best one at each length is drawn.")
        parts["figures"] = ("Quality against size and time", [said, choice("Measure", pictures)])
    parts["classes"] = ("Classes", _behind(details, "classes", lines, colours))
    parts["hardest"] = ("Hardest queries", _behind(details, "hardest", lines, colours))
    parts["examples"] = ("What is found first", _examples(details, lines, shown))
    parts["made"] = ("How this was made", _made(document, lines))
    sections = [section(name, title, *content) for name, (title, content) in parts.items()]
    links = {name: title for name, (title, _) in parts.items()}
    return page(f"Comparison of codes: {document['data']}", opening(document, scored), sections, links)


def command_of(document: dict[str, Any]) -> str:
    """The command that makes a comparison like this one again."""
    options = document["options"]
    words = ["structhash", "compare", document["data"], "--protocol", document["protocol"]]
    for name in ("methods", "bits", "seeds", "measures"):
        words += [f"--{name}", ",".join(map(str, options[name]))]
    for name in ("queries", "train"):
        if options.get(name) is not None:
            words += [f"--{name}", str(options[name])]
    for name, value in options.get("reading", {}).items():
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words += [word for each in np.atleast_1d(value) for word in (f"--{name}", str(each))]
    return shlex.join(words)


def _with_nan(line: Line) -> Line:
    """A line whose missing values are nan, as before it was written."""
    return line._replace(
        mean={name: _number(value) for name, value in line.mean.items()},
        fit_seconds=_number(line.fit_seconds),
        encode_seconds=_number(line.encode_seconds),
    )


def _number(value: float | None) -> float:
    """A number; nan for None."""
    return math.nan if value is None else value


def _behind(
    details: dict[str, Any], part: str, lines: Sequence[Line], colours: Mapping[str, int]
) -> list[Html]:
    """The section of classes, or that of the hardest queries."""
    if not details:
        return [missing(_NO_DETAILS)]
    if details[part] is None:
        return [missing("This is left out: the queries have no labels, or several each.")]
    names = [line_name(lines[place]) for place in details["lines"]]
    if part == "hardest":
        return hardest(details, names)
    shown = [lines[place] for place in details["lines"]]
    return classes(details, names, [colours.get(line.method, -1) for line in shown])


def _examples(details: dict[str, Any], lines: Sequence[Line], shown: ShownRows | None) -> list[Html]:
    """The section of rankings."""
    if not details:
        return [missing(_NO_DETAILS)]
    if not details["examples"]:
        return [missing("This is left out: the protocol does not rank the whole database.")]
    names = [line_name(line) for line in lines]
    return examples(details, names, shown or ShownRows({}, {}, "", _NO_DATA))


def _made(document: dict[str, Any], lines: Sequence[Line]) -> list[Html]:
    """Settings, versions and command."""
    options = document["options"]
    known = ("data", "data_sha256", "rows", "features", "protocol", "date")
    said = {"data_sha256": "SHA-256 of the data"}
    facts = {said.get(name, name): document[name] for name in known if name in document}
    if "date" in facts:
        facts["date"] = facts["date"].replace("T", " ").replace("+00:00", " UTC")
    facts |= {name: value for name, value in options.items() if name not in _LIMITS and value not in (None, {})}
    rows = [[Cell(name), Cell(_words(value), style="name")] for name, value in facts.items()]
    rows += [[Cell(f"version of {name}"), Cell(value)] for name, value in document.get("versions", {}).items()]
    chosen = [f"{line_name(line)}: {'; '.join(line.chosen)}" for line in lines if line.chosen]
    parts = [element("pre", command_of(document)), table(["setting", "value"], rows, "settings.csv")]
    if chosen:
        picked = element("ul", *(element("li", each) for each in chosen), class_="plain")
        parts += [element("h3", "Chosen on training rows, for each seed"), picked]
    return parts


def _words(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
