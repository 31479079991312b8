"""Decision stumps, h(x) = [x_j > t], on the rows as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats
from structhash._numerics.program import Program
from structhash._numerics.scaling import check_rows_differ
from structhash.families._stumps import best_cut, searched_features
from structhash.families.base import DEFAULT_START, Family
from structhash.families.starts.base import Start
from structhash.io.fields import Field, Fields
from structhash.pair_weights import PairWeights
from structhash.pieces import Params

__all__ = ["Stump"]


@dataclass(frozen=True)
class Stump(Family):
    """One feature against one threshold: the family in which column generation is exact.

    The search finds the stump with the highest h'Lh (eq. cgh-wl) of all features and thresholds. So a bit in
    `history_` without redraws and with a violation <= 0 proves that no stump would help. The scale of a feature
    does not matter.

    Examples
    --------
    >>> from structhash.pieces import load
    >>> load("families", "stump").decide(np.array([[5.0], [7.0]]), {"feature": [0], "threshold": [6.0]})
    array([[-1.],
           [ 1.]])
    """

    state_fields: ClassVar[Fields | None] = (Field("low", ("n_features",)), Field("high", ("n_features",)))
    bit_fields: ClassVar[Fields | None] = (
        Field("feature", ("n_bits",), "int", below="n_features"),
        Field("threshold", ("n_bits",)),
    )

    def prepare(self, X: NDArray[Any], rng: np.random.Generator) -> Params:
        """Lowest and highest value of each feature of the training rows X (n, d).

        Raises
        ------
        ValueError
            If all rows are the same.
        """
        check_rows_differ(X)
        low, high = X.min(axis=0), X.max(axis=0)
        return {"low": as_floats(low), "high": as_floats(high)}

    def features(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """The rows themselves, as floats."""
        return as_floats(X)

    def decide(self, Z: NDArray[Any], params: Params) -> NDArray[Any]:
        """x_j - t (n, m) for m stumps: ``feature`` (m,) and ``threshold`` (m,)."""
        return Z[:, params["feature"]] - params["threshold"]

    def express(self, program: Program, X: str, state: Params, params: Params) -> str:
        """See `Family.express`."""
        return program.step("subtract", program.step("columns", X, params["feature"]), params["threshold"])

    def learn(
        self,
        Z: NDArray[Any],
        pairs: PairWeights,
        rng: np.random.Generator,
        start: Start = DEFAULT_START,
        retry: bool = False,
    ) -> Params:
        """The best stump: ``feature`` (1,) int32 and ``threshold`` (1,). `start` has no effect."""
        columns = searched_features(Z, rng, retry)
        cut = best_cut(Z[:, columns], pairs.weights)
        return {"feature": columns[[cut.feature]], "threshold": np.array([cut.threshold], Z.dtype)}
