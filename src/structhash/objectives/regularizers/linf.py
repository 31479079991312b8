"""A bound on every weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from structhash._numerics.validation import check_positive
from structhash.objectives.regularizers.base import Regularizer

__all__ = ["LInf"]


@dataclass(frozen=True)
class LInf(Regularizer):
    """No weight exceeds a bound: min C loss(w) over 0 <= w <= bound (eq. cgh-general-linf2).

    This is ||w||_inf (eq. cgh-general-linf) as a constraint. C only scales the objective; the bound, C' in the
    paper, decides. The dual pays bound * max(0, h'Lh) for each bit (eq. cgh-general-linf-dual), so at the
    optimum an unused bit has h'Lh <= 0.

    Parameters
    ----------
    bound : float
        Largest weight, above 0.

    Raises
    ------
    ValueError
        If the bound is not allowed.

    Examples
    --------
    >>> LInf(0.5).cost([0, 1]), LInf(0.5).upper
    (0.0, 0.5)
    """

    bound: float = 1.0

    def __post_init__(self) -> None:
        check_positive("bound", self.bound)

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: 0."""
        return 0.0

    @property
    def upper(self) -> float:
        """Largest weight allowed."""
        return self.bound
