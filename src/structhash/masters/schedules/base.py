"""The contract of a schedule."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Schedule"]


class Schedule:
    """Which weights the master may move when a bit is added.

    A schedule maps the columns of all bits so far to the few *free* columns that the master solves over, and
    its solution back to one weight a bit.

    Attributes
    ----------
    weighted : bool
        Whether the final weights differ from bit to bit, so that search should use them.
    n_groups : int
        Groups of queries that have slacks of their own in a cutting-plane master.
    exact : bool
        Whether entry weights are kept in float64, for a certificate, or in float32, to save memory.
    """

    weighted: ClassVar[bool] = True
    n_groups: ClassVar[int] = 16
    exact: ClassVar[bool] = True

    def reduce(
        self, columns: NDArray[Any], costs: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Columns (n_bits, m) and costs (n_bits,) of all bits to those of the free weights, (n_free, m)."""
        raise NotImplementedError

    def expand(self, free_weights: NDArray[np.float64], n_bits: int) -> NDArray[np.float64]:
        """Free weights (n_free,) to one weight a bit (n_bits,)."""
        raise NotImplementedError
