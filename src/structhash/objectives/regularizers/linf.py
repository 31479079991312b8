"""No weight above a bound: min C loss(w) over 0 <= w <= bound (eq. cgh-general-linf2)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.objectives.regularizers.base import Regularizer
from structhash.pair_weights import PairWeights


@dataclass(frozen=True)
class LInf(Regularizer):
    """No weight above a bound: min C loss(w) over 0 <= w <= bound (eq. cgh-general-linf2).

    It is ||w||_inf (eq. cgh-general-linf) as a constraint. C only scales the objective; the bound C' decides.
    The dual pays bound * max(0, h'Lh) for each bit (eq. cgh-general-linf-dual), so that at the optimum an
    unused bit has h'Lh <= 0.

    Parameters
    ----------
    bound : float
        Largest weight, above 0.

    Examples
    --------
    >>> LInf(0.5).cost([0, 1]), LInf(0.5).upper
    (0.0, 0.5)
    """

    bound: float = 1.0

    def __post_init__(self) -> None:
        if not _is_number(self.bound) or not 0 < self.bound < np.inf:
            raise ValueError(f"bound={describe(self.bound)}: give a finite number above 0, the largest weight")

    def cost(self, bit: NDArray[Any]) -> float:
        """Cost of one unit of this bit's weight: 0."""
        return 0.0

    def charge_costs(self, pairs: PairWeights) -> PairWeights:
        """The pair weights as they are: all bits cost the same."""
        return pairs

    @property
    def upper(self) -> float:
        """Largest weight allowed."""
        return self.bound


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
