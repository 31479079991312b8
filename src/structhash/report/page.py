"""A page in one file: no request leaves it. Its parts are sections, tables, figures and choices."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from structhash.report.elements import Html, csv_link, element, join
from structhash.report.svg import Series, key

__all__ = ["Cell", "choice", "figure", "missing", "page", "section", "table"]


class Cell(NamedTuple):
    """A cell of a table.

    Attributes
    ----------
    shown : str
    value : float or str or None
        What the table is sorted by; `shown` by default. nan comes last.
    style : str
        Classes of `page.css`: ``"number"``, ``"best"``.
    """

    shown: str
    value: Any = None
    style: str = ""


def page(title: str, summary: Iterable[str | None], sections: Sequence[Html], links: Mapping[str, str]) -> str:
    """A whole page.

    Parameters
    ----------
    title : str
    summary : iterable of str or None
        Paragraphs and lists below the title.
    sections : sequence of Html
        What `section` returned.
    links : mapping
        The title of each section by its name, for the list of contents.

    Returns
    -------
    str
        The page declares that it loads nothing and runs no script but its own.
    """
    style, script = (
        files("structhash.report").joinpath(name).read_text("utf-8") for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content="structhash"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style)),
    )
    contents = [element("a", text, href=f"#{name}") for name, text in links.items()]
    header = element("header", element("h1", title), *summary, element("nav", *contents, aria_label="Contents"))
    body = element("body", header, element("main", *sections), element("script", Html(script)))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def section(name: str, title: str, *children: str | None) -> Html:
    """A section of a page.

    Parameters
    ----------
    name : str
        Its place in the address of the page.
    title : str
    *children : str or None
        As for `element`.

    Returns
    -------
    Html
    """
    return element("section", element("h2", title), *children, id=name)


def missing(what: str) -> Html:
    """A line that says why a part is not there."""
    return element("p", what, class_="missing")


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Cell | str]],
    file_name: str,
    caption: str | None = None,
    label: str | None = None,
) -> Html:
    """A table that a reader can sort by any column, and save.

    Parameters
    ----------
    head : sequence of str
    rows : iterable of sequences of Cell or str
    file_name : str
        Of the .csv file that is saved.
    caption : str, optional
        A sentence below the table.
    label : str, optional
        What a screen reader calls the table; the caption by default.

    Returns
    -------
    Html
    """
    cells = [[each if isinstance(each, Cell) else Cell(each) for each in row] for row in rows]
    styles = [each.style.split()[0] if each.style else None for each in (cells or [[Cell("")] * len(head)])[0]]
    heads = [
        element("th", _head(name), scope="col", class_=style) for name, style in zip(head, styles, strict=True)
    ]
    body = [element("tr", *(_cell(each) for each in row)) for row in cells]
    found = element(
        "table", element("thead", element("tr", *heads)), element("tbody", *body), class_="sortable"
    )
    saved = [[each.shown if each.value is None else each.value for each in row] for row in cells]
    scroll = element(
        "div", found, class_="scroll", tabindex="0", role="region", aria_label=label or caption or "table"
    )
    about = element("p", caption, " ", csv_link(file_name, head, saved), class_="caption")
    return element("div", scroll, about, class_="table")


def figure(title: str, picture: Html, series: Sequence[Series], link: Html, note: str | None = None) -> Html:
    """A picture with its title, its legend and a link to its numbers.

    Parameters
    ----------
    title : str
    picture : Html
        What `structhash.report.svg.chart` drew.
    series : sequence of Series
        Those that the legend names.
    link : Html
        What `csv_link` returned.
    note : str, optional
        A sentence below the legend.

    Returns
    -------
    Html
    """
    legend = element("ul", *(key(each) for each in series), class_="legend")
    said = element("p", note, class_="note") if note else None
    return element("figure", element("figcaption", title, " ", link), picture, legend, said)


def choice(label: str, options: Mapping[str, Html]) -> Html:
    """Parts of which a reader sees one at a time. Without scripts, all are shown under their names.

    Parameters
    ----------
    label : str
        What is chosen.
    options : mapping
        Each part by its name. The first is shown at the start.

    Returns
    -------
    Html
    """
    parts = [element("div", element("h3", name), part, data_option=name) for name, part in options.items()]
    return element("div", *parts, class_="choice", data_label=label)


def _head(name: str) -> Html:
    """The name of a column; what comes after its first comma is small.

    >>> _head("itq, plain, 8 bits")
    'itq, <small>plain, 8 bits</small>'
    """
    first, comma, rest = name.partition(", ")
    return join([_breakable(first), comma, element("small", rest) if rest else None])


def _cell(cell: Cell) -> Html:
    """One cell, with the value that it is sorted by."""
    first, newline, second = cell.shown.partition("\n")
    shown = _breakable(first) if cell.style == "name" else first
    small = element("small", second) if newline else None
    return element("td", shown, small, data_value=cell.value, class_=cell.style or None)


def _breakable(text: str) -> Html:
    """Text that may be broken after the signs that method specs have.

    >>> _breakable("a:b_c=1")
    'a:<wbr>b_<wbr>c=<wbr>1'
    """
    return join(re.split(r"(?<=[:=_@,])(?=\w)", text), Html("<wbr>"))
