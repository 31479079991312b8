"""The best code of a length, and the tests against it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from structhash.evaluation.report import Line


def best_code(lines: Sequence[Line], measure: str, n_bits: int) -> Line | None:
    """The code of a length with the largest mean; None where no code has one."""
    same = [x for x in lines if x.is_code and x.n_bits == n_bits and math.isfinite(x.mean[measure])]
    return max(same, key=lambda line: line.mean[measure], default=None)


def p_below(line: Line, best: Line, measure: str) -> float | None:
    """p-value of a line against the best code of its length.

    It is None where an earlier version tested both against a line that compares floats.
    """
    return line.p_value[measure] if best.p_value[measure] == 1 else None


def p_words(p_value: float) -> str:
    """A p-value in words."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
