"""Sum of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from structhash.objectives.regularizers.base import Regularizer

__all__ = ["L1"]


@dataclass(frozen=True)
class L1(Regularizer):
    """Sum of the weights, ||w||_1 (eq. cgh-shinge-l1, eq. sh).

    Examples
    --------
    >>> L1().cost([0, 1]), L1().upper
    (1.0, inf)
    """

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: 1."""
        return 1.0
