"""The decision stump with the highest score h'Lh, as a plane across one feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.families._stumps import best_cut
from structhash.families.starts.base import Start
from structhash.pair_weights import PairWeights
from structhash.pieces import Params

__all__ = ["BestStump"]


@dataclass(frozen=True)
class BestStump(Start):
    """The decision stump with the highest score h'Lh, as a plane across one feature.

    Searched exactly over all features of Z and all thresholds (Section 2.1, initialisation by stumps).

    Examples
    --------
    >>> import numpy as np
    >>> from structhash.pair_weights import pair_graph
    >>> from structhash.pair_weights import Comparisons
    >>> one = np.array([0, 1])
    >>> graph = pair_graph(Comparisons(np.array([0]), np.array([1]), one, np.array([2]), one), 3)
    >>> Z = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> plane = BestStump()(Z, graph.pair_weights(np.array([-1.0, 1.0])), np.random.default_rng(0))
    >>> plane["normal"].T, plane["offset"]
    (array([[1., 0.]]), array([-0.5]))
    """

    def __call__(
        self, Z: NDArray[Any], pairs: PairWeights, rng: np.random.Generator, memo: dict[Any, Any] | None = None
    ) -> Params:
        """One plane in the space of Z (n, d): e_j and -t."""
        cut = best_cut(Z, pairs.weights)
        normal = np.zeros((Z.shape[1], 1), Z.dtype)
        normal[cut.feature] = 1
        return {"normal": normal, "offset": np.array([-cut.threshold], Z.dtype)}
