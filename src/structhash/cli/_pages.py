"""Pages about comparisons: what rows look like in them, and writing them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from structhash.cli.documents import to_json
from structhash.cli.texts import read_texts
from structhash.io import Dataset
from structhash.io.container import atomic
from structhash.report.comparison import comparison_page
from structhash.report.rows import ShownRows, show_rows
from structhash.report.thumbnails import image_files

__all__ = ["Rows", "write_page"]


class Rows:
    """The rows of a data set, as a page is to show them. What does not fit is refused here.

    Parameters
    ----------
    data : Dataset
    path : path
        The file that it came from.
    own_queries : bool
        Whether queries are rows of Q.
    images : str
        As `structhash.report.rows.show_rows` takes it, or a folder of image files.
    texts : str or None
        A file of texts, or a column of `path`; see `read_texts`.
    """

    def __init__(self, data: Dataset, path: Path, own_queries: bool, images: str, texts: str | None) -> None:
        named = images not in ("auto", "none")
        if texts is not None and named:
            raise ValueError(f"--images {images} and --texts both show the rows; give one of them")
        self._data, self._own_queries, self._images = data, own_queries, images
        self._texts = None if texts is None else read_texts(texts, path)
        self._files: list[Path] | None = None
        if named and Path(images).is_dir():
            self._files = image_files(Path(images), len(data.X), data.ids)
        self.show({})

    def show(self, details: dict[str, Any]) -> ShownRows:
        """The rows of some examples."""
        return show_rows(details, self._data, self._own_queries, self._images, self._texts, self._files)


def write_page(out: Path, document: dict[str, Any], rows: Rows | None) -> None:
    """Write the page about a comparison, whole or not at all.

    Parameters
    ----------
    out : path
    document : dict
        As `structhash compare` writes it.
    rows : Rows or None
    """
    document = json.loads(to_json(document))
    shown = None if rows is None else rows.show(document.get("details") or {})
    text = comparison_page(document, shown)
    with atomic(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
