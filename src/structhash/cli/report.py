"""``structhash report``: a comparison as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from structhash.cli._journal import digest_of
from structhash.cli._pages import Rows, write_page
from structhash.cli.compare import comparison_of, has_own_queries
from structhash.cli.outputs import check_output, holds_comparison
from structhash.io import read, suffixes

__all__ = ["report"]


def report(result: Path, out: Path, *, data: Path | None, images: str, texts: str | None, force: bool) -> None:
    """Write the page about a comparison.

    Parameters
    ----------
    result : path
        What ``structhash compare`` wrote.
    out : path
        The page.
    data : path or None
        The data that were compared on; without it, rows are shown by label and number.
    images : str
        See `structhash.report.rows.show_rows`.
    texts : str or None
        See `structhash.cli.texts.read_texts`.
    force : bool
        Whether `out` may replace a file of another kind.

    Raises
    ------
    ValueError
        If `result` is no comparison, or was made from other data.
    """
    check_output(out, result, data, makes="page", force=force, refused=(*suffixes(), ".json"))
    if data is None and (texts is not None or images != "auto"):
        raise ValueError("--images and --texts show the rows of --data; give that too")
    document = _read_comparison(result)
    rows = None if data is None else _read_rows(document, result, data, images, texts)
    try:
        write_page(out, document, rows)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(
            f"cannot read {result}: it is a damaged comparison, or one of another version ({error!r})"
        ) from error


def _read_comparison(path: Path) -> dict[str, Any]:
    """A comparison; ValueError if the file holds something else."""
    if not holds_comparison(path):
        raise ValueError(f"{path} is no comparison; give what structhash compare wrote with -o or --json")
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def _read_rows(document: dict[str, Any], result: Path, data: Path, images: str, texts: str | None) -> Rows:
    """The rows of the data of a comparison, read as it read them; ValueError if they are other data."""
    options = document["options"]
    dataset = read(data, **options.get("reading", {}))
    _, arrays, _ = comparison_of(dataset, data, document["protocol"], None, None)
    if digest_of(arrays) != document["data_sha256"]:
        raise ValueError(f"{data} is not what {result} was made from ({document['data']}); give that file")
    return Rows(dataset, data, has_own_queries(dataset, document["protocol"]), images, texts)
