"""Random planes, each half way between two random training points; a family keeps the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count
from structhash.families.starts.base import Start
from structhash.pair_weights import PairWeights
from structhash.pieces import Params

__all__ = ["RandomPlanes"]


@dataclass(frozen=True)
class RandomPlanes(Start):
    """Random planes, each half way between two random training points; a family keeps the best.

    Parameters
    ----------
    count : int
        Planes drawn, >= 1.
    """

    count: int = 32

    def __post_init__(self) -> None:
        check_count("count", self.count)

    def __call__(
        self, Z: NDArray[Any], pairs: PairWeights, rng: np.random.Generator, memo: dict[Any, Any] | None = None
    ) -> Params:
        """`count` planes in the space of Z (n, d)."""
        normal = rng.standard_normal((Z.shape[1], self.count)).astype(Z.dtype)
        a, b = Z[rng.integers(len(Z), size=self.count)], Z[rng.integers(len(Z), size=self.count)]
        return {"normal": normal, "offset": -np.einsum("md,dm->m", (a + b) / 2, normal)}
