"""The page about a comparison of methods, from the document that `structhash compare` writes."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any

from structhash.evaluation.report import SIGNIFICANCE_LEVEL, Line, from_json
from structhash.report.behind import classes, hardest
from structhash.report.elements import Html, element, join
from structhash.report.examples import examples
from structhash.report.figures import bytes_of, quality_figures
from structhash.report.page import Cell, choice, missing, page, section, table
from structhash.report.rows import ShownRows

__all__ = ["command_of", "comparison_page", "line_name"]

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
    parts = {"results": ("Results", _results(lines, measures, document["features"]))}
    if scored:
        pictures = {name: quality_figures(scored, name, document["features"]) for name in measures}
        parts["figures"] = ("Quality against size and time", [choice("Measure", pictures)])
    parts["classes"] = ("Classes", _behind(details, "classes", lines, document))
    parts["hardest"] = ("Hardest queries", _behind(details, "hardest", lines, document))
    parts["examples"] = ("What is found first", _examples(details, lines, shown))
    parts["made"] = ("How this was made", _made(document, lines))
    sections = [section(name, title, *content) for name, (title, content) in parts.items()]
    links = {name: title for name, (title, _) in parts.items()}
    return page(f"Comparison of codes: {document['data']}", _summary(document, scored), sections, links)


def line_name(line: Line) -> str:
    """A line in a few words.

    >>> line_name(Line("itq", "plain", 64, [], [], {}, {}, {}, {}, 0, 0))
    'itq, plain, 64 bits'
    """
    length = f"{line.n_bits} bits" if line.n_bits else "vectors"
    return f"{line.method}, {line.distance}, {length}"


def command_of(document: dict[str, Any]) -> str:
    """The command that makes a comparison like this one again."""
    options = document["options"]
    words = ["structhash", "compare", document["data"], "--protocol", document["protocol"]]
    for name, between in (("methods", ","), ("bits", ","), ("seeds", ","), ("measures", ",")):
        words += [f"--{name}", between.join(map(str, options[name]))]
    for name in ("queries", "train"):
        if options.get(name) is not None:
            words += [f"--{name}", str(options[name])]
    for name, value in options.get("reading", {}).items():
        words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return shlex.join(words)


def _with_nan(line: Line) -> Line:
    """A line whose missing values are nan, as before it was written."""
    number = {name: math.nan if value is None else value for name, value in line.mean.items()}
    seconds = [math.nan if value is None else value for value in (line.fit_seconds, line.encode_seconds)]
    return line._replace(mean=number, fit_seconds=seconds[0], encode_seconds=seconds[1])


def _summary(document: dict[str, Any], lines: Sequence[Line]) -> list[Html]:
    """What was measured, and the best line of each length."""
    n_seeds = len(document["options"]["seeds"])
    said = (
        f"{document['rows']:,} rows of {document['features']:,} features, protocol {document['protocol']}, "
        f"{n_seeds} seed{'' if n_seeds == 1 else 's'}."
    )
    measure = document["options"]["measures"][0]
    best = [
        _best_of(lines, n_bits, measure)
        for n_bits in sorted({x.n_bits for x in lines}, key=lambda n: n or math.inf)
    ]
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
    near = [x for x in same if x is not best and (x.p_value[measure] or 0) >= SIGNIFICANCE_LEVEL]
    names = ", ".join(f"{line.method} ({line.distance})" for line in near)
    rest = (
        f" Not significantly below: {names}."
        if near
        else " All others are significantly below."
        if len(same) > 1
        else ""
    )
    head = f"At {n_bits} bits, "
    return element("li", head, element("b", best.method), f" ({best.distance}) is best: {value}.{rest}")


def _results(lines: Sequence[Line], measures: Sequence[str], n_features: int) -> list[Html]:
    """The table of all lines, and that of the seeds."""
    head = ["method", "distance", "bits", "bytes", *measures, "fit s", "encode s"]
    rows = [_row(line, lines, measures, n_features) for line in lines]
    about = (
        f"* significantly below the best code of its length (bold): paired t-test over the queries of all seeds, "
        f"{SIGNIFICANCE_LEVEL:.0%}, Holm-corrected over the lines; p below each value. Times are means over the seeds."
    )
    parts = [table(head, rows, "results.csv", about)]
    failed = [element("li", f"{line_name(line)}: {line.error}") for line in lines if line.error]
    if failed:
        parts.append(join([element("h3", "Failed"), element("ul", *failed, class_="plain")]))
    by_seed = [
        [
            Cell(line.method, style="name"),
            line.distance,
            *_numbers(f"{line.n_bits}", str(seed)),
            *_scores(line, measures, place),
        ]
        for line in lines
        if not line.error
        for place, seed in enumerate(line.seeds)
    ]
    seeds = table(
        ["method", "distance", "bits", "seed", *measures],
        by_seed,
        "seeds.csv",
        "Each seed is a split and a model.",
    )
    return [*parts, element("details", element("summary", "Results of each seed"), seeds)]


def _row(line: Line, lines: Sequence[Line], measures: Sequence[str], n_features: int) -> list[Cell]:
    """One line of the table of results."""
    bits = Cell(str(line.n_bits), line.n_bits, "number") if line.n_bits else Cell("–", "", "number")
    size = bytes_of(line, n_features)
    cells = [Cell(line.method, style="name"), Cell(line.distance), bits, Cell(f"{size:,}", size, "number")]
    same = [other for other in lines if other.n_bits == line.n_bits and not other.error]
    for measure in measures:
        value, p_value = line.mean[measure], line.p_value[measure]
        if not math.isfinite(value):
            cells.append(Cell("failed" if line.error else "–", "", "number"))
            continue
        best = line.n_bits > 0 and value == max(x.mean[measure] for x in same if math.isfinite(x.mean[measure]))
        star = "*" if p_value is not None and p_value < SIGNIFICANCE_LEVEL else ""
        below = "best" if best else _p(p_value) if line.n_bits else ""
        cells.append(Cell(f"{value:.3f}{star}\n{below}", value, "number best" if best else "number"))
    for seconds in (line.fit_seconds, line.encode_seconds):
        known = math.isfinite(seconds)
        cells.append(Cell(f"{seconds:.2f}" if known else "–", seconds if known else "", "number"))
    return cells


def _p(value: float | None) -> str:
    """A p-value in words."""
    if value is None:
        return ""
    return "p < 0.001" if value < 0.001 else f"p {value:.3f}"


def _numbers(*texts: str) -> list[Cell]:
    """Cells of whole numbers."""
    return [Cell(text, text, "number") for text in texts]


def _scores(line: Line, measures: Sequence[str], place: int) -> list[Cell]:
    """The measures of one seed."""
    values = [line.by_seed[measure][place] for measure in measures]
    return [Cell("–", "", "number") if x is None else Cell(f"{x:.3f}", x, "number") for x in values]


def _behind(details: dict[str, Any], part: str, lines: Sequence[Line], document: dict[str, Any]) -> list[Html]:
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
    facts = {
        name: document[name]
        for name in ("data", "data_sha256", "rows", "features", "protocol", "date")
        if name in document
    }
    facts |= {name: value for name, value in options.items() if value is not None}
    rows = [[Cell(name), Cell(_words(value), style="name")] for name, value in facts.items()]
    rows += [[Cell(f"version of {name}"), Cell(value)] for name, value in document.get("versions", {}).items()]
    chosen = [f"{line_name(line)}: {'; '.join(line.chosen)}" for line in lines if line.chosen]
    picked = [
        element("h3", "Chosen on training rows, for each seed"),
        element("ul", *(element("li", x) for x in chosen), class_="plain"),
    ]
    return [
        element("pre", command_of(document)),
        table(["setting", "value"], rows, "settings.csv"),
        *(picked if chosen else []),
    ]


def _words(value: Any) -> str:
    """A setting as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
