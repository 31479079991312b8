"""The section of ranking examples: queries and what each method finds first, wrong ones framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structhash.report.elements import Html, element, join
from structhash.report.page import missing
from structhash.report.rows import ShownRows

__all__ = ["examples"]


def examples(details: dict[str, Any], names: Sequence[str], shown: ShownRows) -> list[Html]:
    """Examples of rankings.

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
    parts = [
        element(
            "p",
            "Queries drawn at random, then the hardest ones, with the first ten rows that each method finds. ",
            "A solid frame and ✓: relevant; a dashed frame and ✗: not relevant. Below a row are its label and its "
            "number. Rows at equal distances come in random order.",
        )
    ]
    if shown.why:
        parts.append(missing(shown.why))
    return [*parts, *(_example(each, details, names, shown) for each in details["examples"])]


def _example(example: dict[str, Any], details: dict[str, Any], names: Sequence[str], shown: ShownRows) -> Html:
    """One query with its rankings."""
    query = example["query"]
    label = "" if example["label"] is None else f", label {example['label']}"
    kind = "One of the hardest" if example["hard"] else "Random"
    title = element("h3", f"Query {query}{label} ", element("small", f"{kind}, seed {example['seed']}"))
    rankings: list[Html] = []
    for place, value, found in zip(details["lines"], example["values"], example["found"], strict=True):
        score = "no value" if value is None else f"{value:.3f}"
        items = [_item(row, grade, details, shown) for row, grade in found]
        rankings.append(element("div", names[place], f": {details['measure']} {score}", class_="who"))
        rankings.append(element("ol", *items, class_="strip"))
    asked = shown.queries.get(query)
    if asked is not None:
        asked = element("div", element("div", asked, class_="item plain"), class_="strip")
    return element(
        "div", title, asked, element("div", *rankings, class_="ranking"), class_=f"query {shown.kind}".strip()
    )


def _item(row: int, grade: int, details: dict[str, Any], shown: ShownRows) -> Html:
    """One row that was found."""
    sign = ("✓" if grade == 1 else f"✓{grade}") if grade > 0 else "✗"
    label, name = details["labels"].get(str(row)), details["ids"].get(str(row), str(row))
    about = element("b", join([sign, label], " "), title=f"row {row}")
    small = element("small", name)
    return element("li", shown.documents.get(row), about, small, class_="item" if grade > 0 else "item wrong")
