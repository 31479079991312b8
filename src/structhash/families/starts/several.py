"""Starts that compete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.families.starts.base import Start
from structhash.pair_weights import PairWeights
from structhash.pieces import Params, load

__all__ = ["Several"]


@dataclass(frozen=True)
class Several(Start):
    """Starts that compete: a family begins at the plane with the highest h'Lh of all of them.

    Parameters
    ----------
    of : str
        Names with their settings, joined by ``+``.
    """

    of: str = "spectral+random_planes+best_stump"

    def __post_init__(self) -> None:
        self.starts()  # refuses unknown names

    def starts(self) -> list[Any]:
        """The competing starts."""
        return [load("starts", name) for name in str(self.of).split("+")]

    def __call__(
        self, Z: NDArray[Any], pairs: PairWeights, rng: np.random.Generator, memo: dict[Any, Any] | None = None
    ) -> Params:
        """All planes in the space of Z (n, d)."""
        planes = [start(Z, pairs, rng, memo) for start in self.starts()]
        return {name: np.concatenate([each[name] for each in planes], axis=-1) for name in planes[0]}
