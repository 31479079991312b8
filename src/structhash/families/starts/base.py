"""The contract of a start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.pair_weights import PairWeights
from structhash.pieces import Params

__all__ = ["Start"]


class Start:
    """Where a family begins its search for a bit: one plane, or several that compete.

    A subclass is a frozen dataclass whose fields are settings.
    """

    def __call__(
        self, Z: NDArray[Any], pairs: PairWeights, rng: np.random.Generator, memo: dict[Any, Any] | None = None
    ) -> Params:
        """Candidate planes in the space of the features.

        Parameters
        ----------
        Z : ndarray (n, d)
            Features of the training points.
        pairs : PairWeights
        rng : Generator
        memo : dict, optional
            Shared by all bits of one fit. A start may keep in it, under its own key, what depends on Z only.

        Returns
        -------
        dict of arrays
            ``normal`` (d, m) and ``offset`` (m,) of m planes.
        """
        raise NotImplementedError
