"""The reproduction as Markdown: claims, tables, and the numbers of the figures."""

from __future__ import annotations

from collections.abc import Sequence

from structhash.reproduce.document import Reproduction
from structhash.reproduce.figures import Figure
from structhash.reproduce.tables import Table

__all__ = ["as_markdown"]


def as_markdown(made: Reproduction) -> str:
    """The text of the page, without images."""
    blocks = ["# The paper, reproduced", *made.summary, "## Claims"]
    blocks.append(_grid(["claim", ""], [[claim.statement, claim.verdict] for claim in made.claims]))
    blocks.append("## Evidence")
    for claim in made.claims:
        blocks.append(f"### {claim.verdict.capitalize()}: {claim.statement}")
        blocks.append(" ".join(filter(None, (f"{claim.where}. It holds if: {claim.rule}.", claim.note))))
        blocks += _listed(claim.evidence)
    blocks.append("## Tables")
    for table in made.tables:
        blocks += [f"### {table.title}", _table(table), *_listed(table.remarks)]
    blocks.append("## Figures")
    for figure in made.figures:
        blocks.append(f"### {figure.part}: {figure.title}, {figure.y} against {figure.x}")
        blocks += [_numbers(figure), *([figure.note] if figure.note else [])]
    if made.examples:
        blocks.append("Figure 4, ranking examples, is in the page: it consists of images.")
    blocks += ["## How it was made", *_listed(made.about)]
    return "\n\n".join(blocks) + "\n"


def _listed(lines: Sequence[str]) -> list[str]:
    """A list, if there is anything in it."""
    return ["\n".join(f"- {_escaped(line)}" for line in lines)] if lines else []


def _escaped(text: str) -> str:
    """Text in which no sign is markup."""
    return text.replace("*", "\\*").replace("|", "\\|")


def _table(table: Table) -> str:
    """A table; the best of a line is bold."""
    lines = [
        [f"**{cell.text}**" if cell.best else _escaped(cell.text) for cell in line] for line in table.lines
    ]
    return _grid(table.head, lines)


def _numbers(figure: Figure) -> str:
    """The numbers of a figure: a line a method, a column a value of x."""
    places = sorted({x for curve in figure.curves for x, _ in curve.points})
    lines = []
    for curve in figure.curves:
        known = dict(curve.points)
        lines.append([curve.method, *(f"{known[x]:.3g}" if x in known else "" for x in places)])
    return _grid([figure.x, *(f"{x:g}" for x in places)], lines)


def _grid(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
