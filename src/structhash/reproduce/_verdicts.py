"""What a checked claim is."""

from __future__ import annotations

from typing import NamedTuple

MARGIN = 0.01  # means that differ by no more are comparable


class Claim(NamedTuple):
    """One claim of the paper and what our runs say.

    Attributes
    ----------
    statement, where : str
        What the paper claims, in our words, and where.
    rule : str
        What counts as holding.
    verdict : str
        ``"holds"``, ``"does not hold"``, or ``"not measured"``.
    evidence : list of str
        Numbers, a line each.
    note : str
        The result in short, and what explains it; ``""`` where the evidence is short itself.
    """

    statement: str
    where: str
    rule: str
    verdict: str
    evidence: list[str]
    note: str = ""


def verdict(
    statement: str, where: str, rule: str, holds: bool | None, evidence: list[str], note: str = ""
) -> Claim:
    """A claim that holds, does not hold, or (None) was not measured."""
    if holds is None:
        return Claim(statement, where, rule, "not measured", [])
    return Claim(statement, where, rule, "holds" if holds else "does not hold", evidence, note)
