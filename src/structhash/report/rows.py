"""What the rows of a data set look like in a page: pictures, texts, or only their labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from structhash._numerics.validation import join_names
from structhash.io import Dataset
from structhash.report.elements import Html, element
from structhash.report.pictures import find_shape, parse_shape, picture
from structhash.report.thumbnails import file_name, thumbnail

__all__ = ["ShownRows", "show_rows"]

_MAX_TEXT = 160  # characters of a row
_OWN_QUERIES = "Queries are shown by their row numbers: the {} are those of the database."


class ShownRows(NamedTuple):
    """Rows that a page shows.

    Attributes
    ----------
    documents, queries : dict of Html
        By row number; a row may be missing.
    kind : str
        ``"image"``, ``"text"``, or ``""`` for none.
    why : str
        Why rows are not shown by what they are; ``""`` where they are.
    """

    documents: dict[int, Html]
    queries: dict[int, Html]
    kind: str
    why: str


def show_rows(
    details: dict[str, Any],
    data: Dataset,
    own_queries: bool,
    images: str = "auto",
    texts: Sequence[str] | None = None,
    files: Sequence[Path] | None = None,
) -> ShownRows:
    """The rows of the examples of a comparison.

    Parameters
    ----------
    details : dict
        What `structhash.evaluation.details.details` returned.
    data : Dataset
        That of the comparison.
    own_queries : bool
        Whether queries are rows of Q, not of X.
    images : str
        ``"auto"``: pictures where `find_shape` finds them; ``"none"``; or a shape, see `parse_shape`.
    texts : sequence of str, optional
        A text for each row of X. They are shown in place of pictures.
    files : sequence of path, optional
        An image file for each row of X, see `structhash.report.thumbnails.image_files`. They are shown in place
        of pictures that are made of the rows.

    Returns
    -------
    ShownRows

    Raises
    ------
    ValueError
        If the shape or the number of texts does not fit the data.
    """
    examples = details.get("examples", [])
    documents = {row for each in examples for ranking in each["found"] for row, _ in ranking}
    queries = {each["query"] for each in examples}
    if texts is not None:
        if len(texts) != len(data.X):
            raise ValueError(f"there are {len(texts)} texts for {len(data.X)} rows; give one text a row")
        if own_queries:
            return ShownRows(_cut(texts, documents), {}, "text", _OWN_QUERIES.format("texts"))
        return ShownRows(_cut(texts, documents), _cut(texts, queries), "text", "")
    if files is not None:
        return _show_files(files, documents, set() if own_queries else queries, own_queries)
    shape: tuple[int, ...] | None = None
    if images == "auto":
        shape = find_shape(data.X)
    elif images != "none":
        shape = parse_shape(images, data.X.shape[1])
    if shape is None:
        why = "Rows are shown by label and number: they have no texts and do not look like pictures."
        return ShownRows({}, {}, "", why)
    low, high = float(data.X.min()), float(data.X.max())
    rows = data.Q if own_queries and data.Q is not None else data.X
    shown = {row: picture(data.X[row], shape, low, high, f"row {row}") for row in documents}
    asked_shown = {row: picture(rows[row], shape, low, high, f"query {row}") for row in queries}
    return ShownRows(shown, asked_shown, "image", "")


def _show_files(files: Sequence[Path], documents: set[int], queries: set[int], own_queries: bool) -> ShownRows:
    """Thumbnails of some rows. A file that cannot be read is left out: a comparison may have taken hours."""
    shown, damaged = {}, []
    for row in sorted(documents | queries):
        try:
            shown[row] = thumbnail(files[row])
        except ValueError:
            damaged.append(file_name(files[row]))
    why = [_OWN_QUERIES.format("image files")] if own_queries else []
    if damaged:
        why.append(f"Image files that cannot be read are left out: {join_names(damaged)}.")
    found, asked = ({row: shown[row] for row in rows if row in shown} for rows in (documents, queries))
    return ShownRows(found, asked, "image", " ".join(why))


def _cut(texts: Sequence[str], rows: Iterable[int]) -> dict[int, Html]:
    """The beginning of the texts of some rows."""
    found = {}
    for row in rows:
        text = " ".join(str(texts[row]).split())
        found[row] = element("span", text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…")
    return found
