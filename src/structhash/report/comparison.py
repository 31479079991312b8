"""The page about a comparison of methods, from the document that `structhash compare` writes."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from structhash.evaluation.report import SIGNIFICANCE_LEVEL, Line, from_json
from structhash.report.behind import classes, hardest
from structhash.report.elements import Html, element
from structhash.report.examples import examples
from structhash.report.figures import quality_figures
from structhash.report.page import Cell, choice, missing, page, section, table
from structhash.report.results import line_name, results
from structhash.report.rows import ShownRows

__all__ = ["command_of", "comparison_page"]

_NO_DETAILS = "This is left out: the result does not hold it. `structhash compare` writes it; run it again."
_NO_DATA = (
    "Rows are shown by label and number: this page was made from the result alone. Give --data to show them."
)


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
    if scored:
        pictures = {name: quality_figures(scored, name, document["features"]) for name in measures}
        said = element("p", "Where a method has several distances, the best one at each length is drawn.")
        parts["figures"] = ("Quality against size and time", [said, choice("Measure", pictures)])
    parts["classes"] = ("Classes", _behind(details, "classes", lines))
    parts["hardest"] = ("Hardest queries", _behind(details, "hardest", lines))
    parts["examples"] = ("What is found first", _examples(details, lines, shown))
    parts["made"] = ("How this was made", _made(document, lines))
    sections = [section(name, title, *content) for name, (title, content) in parts.items()]
    links = {name: title for name, (title, _) in parts.items()}
    return page(f"Comparison of codes: {document['data']}", _summary(document, scored), sections, links)


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


def _summary(document: dict[str, Any], lines: Sequence[Line]) -> list[Html]:
    """What was measured, and the best line of each length."""
    n_seeds = len(document["options"]["seeds"])
    said = (
        f"{document['rows']:,} rows of {document['features']:,} features, protocol {document['protocol']}, "
        f"{n_seeds} seed{'' if n_seeds == 1 else 's'}."
    )
    measure = document["options"]["measures"][0]
    lengths = sorted({line.n_bits for line in lines}, key=lambda n_bits: n_bits or math.inf)
    best = [_best_of(lines, n_bits, measure) for n_bits in lengths]
    return [element("p", said), element("ul", *best, class_="plain")]


def _best_of(lines: Sequence[Line], n_bits: int, measure: str) -> Html | None:
    """Which line of a length is best, and which are not significantly below it."""
    same = [line for line in lines if line.n_bits == n_bits and math.isfinite(line.mean[measure])]
    if not same:
        return None
    best = max(same, key=lambda line: line.mean[measure])
    value = f"{measure} {best.mean[measure]:.3f}"
    if not n_bits:
        return element("li", f"The float vectors themselves have {value}.")
    near = [x for x in same if x is not best and x.p_value[measure] >= SIGNIFICANCE_LEVEL]
    rest = " All others are significantly below." if len(same) > 1 else ""
    if near:
        rest = f" Not significantly below: {', '.join(f'{x.method} ({x.distance})' for x in near)}."
    head = f"At {n_bits} bits, "
    return element("li", head, element("b", best.method), f" ({best.distance}) is best: {value}.{rest}")


def _behind(details: dict[str, Any], part: str, lines: Sequence[Line]) -> list[Html]:
    """The section of classes, or that of the hardest queries."""
    if not details:
        return [missing(_NO_DETAILS)]
    if details[part] is None:
        return [missing("This is left out: the queries have no labels.")]
    names = [line_name(lines[place]) for place in details["lines"]]
    return {"classes": classes, "hardest": hardest}[part](details, names)


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
    facts = {name: document[name] for name in known if name in document}
    facts |= {name: value for name, value in options.items() if value not in (None, {})}
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
