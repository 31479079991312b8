"""The section of ranking examples: queries and what each method finds first, wrong ones framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structhash.report.elements import Html, element, join
from structhash.report.page import missing
from structhash.report.rows import ShownRows

__all__ = ["examples"]

_N_TEXTS = 5  # texts of a ranking; each takes a line
_N_OPEN = 3  # examples that are open at the start
_MAX_LABEL = 40  # characters


def examples(details: dict[str, Any], names: Sequence[str], shown: ShownRows) -> list[Html]:
    """Examples of rankings. A reader opens and closes each.

    Parameters
    ----------
    details : dict
        What `structhash.evaluation.details.details` returned.
    names : sequence of str
        Of the lines of the comparison.
    shown : ShownRows
        What the rows look like.

    Returns
    -------
    list of Html
    """
    said = (
        "Queries drawn at random, then the hardest ones, with the rows that each method finds first. A solid "
        "frame and ✓: relevant; a dashed frame and ✗: not relevant. With a row are its label and its number. "
        "Rows at equal distances come in random order."
    )
    parts = [element("p", said)]
    if shown.why:
        parts.append(missing(shown.why))
    for place, each in enumerate(details["examples"]):
        ranked = _rankings(each, details, names, shown)
        kind = f"query {shown.kind}".strip()
        content = _title(each), _query(each, shown), ranked
        parts.append(element("details", *content, class_=kind, open=place < _N_OPEN))
    return parts


def _title(example: dict[str, Any]) -> Html:
    """Which query it is, and why it is shown."""
    label = "" if example["label"] is None else f", label {_short(example['label'])}"
    kind = "one of the hardest" if example["hard"] else "random"
    return element(
        "summary", f"Query {example['query']}{label} ", element("small", f"{kind}, seed {example['seed']}")
    )


def _query(example: dict[str, Any], shown: ShownRows) -> Html | None:
    """What the query looks like."""
    asked = shown.queries.get(example["query"])
    return asked and element("div", element("div", asked, class_="item plain"), class_="strip")


def _rankings(example: dict[str, Any], details: dict[str, Any], names: Sequence[str], shown: ShownRows) -> Html:
    """What each method finds first."""
    n_shown = _N_TEXTS if shown.kind == "text" else None
    parts: list[Html] = []
    for place, value, found in zip(details["lines"], example["values"], example["found"], strict=True):
        score = "no value" if value is None else f"{value:.3f}"
        items = [_item(row, grade, details, shown) for row, grade in found[:n_shown]]
        parts.append(element("div", names[place], f": {details['measure']} {score}", class_="who"))
        parts.append(element("ol", *items, class_="strip"))
    return element("div", *parts, class_="ranking")


def _item(row: int, grade: int, details: dict[str, Any], shown: ShownRows) -> Html:
    """One row that was found."""
    sign = ("✓" if grade == 1 else f"✓{grade}") if grade > 0 else "✗"
    label, name = details["labels"].get(str(row)), details["ids"].get(str(row), str(row))
    about = element("b", join([sign, None if label is None else _short(label)], " "))
    small = element("small", name)
    return element(
        "li", shown.documents.get(row), about, " ", small, class_="item" if grade > 0 else "item wrong"
    )


def _short(label: str) -> str:
    """A label that fits into a line."""
    return label if len(label) <= _MAX_LABEL else label[: _MAX_LABEL - 1] + "…"
