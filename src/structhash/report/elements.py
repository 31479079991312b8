"""Elements of HTML and SVG as text. What is not yet HTML is escaped, so that no label can become markup."""

from __future__ import annotations

import base64
import csv
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["Html", "csv_link", "element", "join"]

_VOID = {"br", "col", "img", "input", "link", "meta"}  # elements without an end


class Html(str):
    """Text that is HTML: `element` takes it as it is."""

    __slots__ = ()


def element(tag: str, /, *children: str | None, **attributes: Any) -> Html:
    """One element.

    Parameters
    ----------
    tag : str
    *children : str or None
        `Html` stays; any other text is escaped. None is left out.
    **attributes
        Values become text and are escaped. One that is None or False is left out, and True has no value. An
        underscore at the end of a name is dropped, any other is a hyphen: ``class_``, ``data_value``.

    Returns
    -------
    Html

    Examples
    --------
    >>> element("td", "a < b", class_="left", data_value=3)
    '<td class="left" data-value="3">a &lt; b</td>'
    """
    start = tag
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        start += " " + key.rstrip("_").replace("_", "-")
        if value is not True:
            start += f'="{html.escape(str(value))}"'
    if tag in _VOID:
        return Html(f"<{start}>")
    return Html(f"<{start}>{join(children)}</{tag}>")


def join(children: Iterable[str | None], between: str = "") -> Html:
    """Children of an element, one after another; `between` is HTML.

    >>> join(["a & b", Html("<br>"), None])
    'a &amp; b<br>'
    """
    parts = (each if isinstance(each, Html) else html.escape(each) for each in children if each is not None)
    return Html(between.join(parts))


def csv_link(file_name: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Html:
    """A link that saves a table as a .csv file. The table is in the link itself.

    Parameters
    ----------
    file_name : str
        Name of the file that is saved.
    head : sequence of str
        Names of the columns.
    rows : iterable of sequences
        Cells; None is an empty cell.

    Returns
    -------
    Html
    """
    text = io.StringIO()
    csv.writer(text).writerows([head, *rows])
    content = base64.b64encode(text.getvalue().encode()).decode()
    address = f"data:text/csv;charset=utf-8;base64,{content}"
    return element("a", "numbers (.csv)", href=address, download=file_name, class_="download")
