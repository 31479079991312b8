"""Linear bits, h(x) = [v'x + b > 0] (eq. cgh-hash-fun)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from structhash._numerics.blocks import as_floats, float_type, row_slices
from structhash._numerics.program import Program
from structhash._numerics.scaling import FEATURE_BLOCK_ROWS, check_rows_differ, float_blocks, mean_and_scale
from structhash._numerics.validation import check_count, check_positive
from structhash.codes.planes import Planes, make_planes
from structhash.families.base import DEFAULT_START, Family
from structhash.families.starts.base import Start
from structhash.io.fields import Field, Fields
from structhash.pair_weights import PairWeights, laplacian, score, sum_absolute
from structhash.pieces import Params

__all__ = ["Linear"]

MAX_SIGMOID_ARGUMENT = 30.0  # beyond, the sigmoid is 0 or 1 and its slope a denormal number, which is slow
_ON_THE_PLANE = 1e-12  # a value of this share of the largest one is rounding


@dataclass(frozen=True)
class Linear(Family):
    """Planes in the centred feature space, refined on a sigmoid relaxation.

    L-BFGS starts at the best plane of the start and maximises s'Ls with s = sigmoid(Zv + b) (eq.
    cgh-wl-smooth). Its result is kept only if the true 0/1 score h'Lh is higher. A plane that passes through
    training rows is moved into a gap beside them.

    Parameters
    ----------
    max_iter : int
        L-BFGS iterations, >= 0. A small number also keeps the plane from fitting noise.
    sharpness : float
        Standard deviation of v'z over the training points at the first plane, > 0. A larger value makes the
        sigmoid closer to a step.
    """

    state_fields: ClassVar[Fields | None] = (Field("mean", ("n_features",)), Field("scale", positive=True))
    bit_fields: ClassVar[Fields | None] = (
        Field("normal", ("n_bits", "n_features")),
        Field("offset", ("n_bits",)),
    )

    max_iter: int = 50
    sharpness: float = 2.0

    def __post_init__(self) -> None:
        check_count("max_iter", self.max_iter, 0)
        check_positive("sharpness", self.sharpness)

    def prepare(self, X: NDArray[Any], rng: np.random.Generator) -> Params:
        """Mean of the training rows X (n, d) and their root mean squared norm around it.

        Raises
        ------
        ValueError
            If all rows are the same.
        """
        check_rows_differ(X)
        mean, scale = mean_and_scale(lambda: float_blocks(X))
        dtype = float_type(X.dtype)
        return {"mean": mean.astype(dtype), "scale": np.asarray(scale, dtype)}

    def features(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Centred and scaled rows (n, d)."""
        Z = np.empty(X.shape, np.result_type(float_type(X.dtype), state["mean"]))
        for run in row_slices(len(X), FEATURE_BLOCK_ROWS):
            np.subtract(as_floats(X[run]), state["mean"], out=Z[run])
            Z[run] /= state["scale"]
        return Z

    def decide(self, Z: NDArray[Any], params: Params) -> NDArray[Any]:
        """Zv + b (n, m) for m planes: ``normal`` (m, d) and ``offset`` (m,)."""
        D = Z @ params["normal"].T
        D += params["offset"]
        return D

    def express(self, program: Program, X: str, state: Params, params: Params) -> str:
        """See `Family.express`."""
        Z = program.step("divide", program.step("subtract", X, state["mean"]), state["scale"])
        return program.step("add", program.step("matmul", Z, params["normal"].T), params["offset"])

    def planes(self, state: Params, params: Params) -> Planes:
        """The bits as planes among the rows themselves."""
        return make_planes(state["mean"], params["normal"], -params["offset"] * state["scale"].astype(float))

    def learn(
        self,
        Z: NDArray[Any],
        pairs: PairWeights,
        rng: np.random.Generator,
        start: Start = DEFAULT_START,
        retry: bool = False,
    ) -> Params:
        """One plane for the signed pair weights: ``normal`` (1, d) and ``offset`` (1,)."""
        planes = start(Z, pairs, rng)
        projected = Z @ planes["normal"] + planes["offset"]
        scores = [score(pairs, column > 0) for column in projected.T]
        best = int(np.argmax(scores))
        deviation = projected[:, best].std()
        sharp = self.sharpness / deviation if deviation > 0 else 1.0
        plane = np.append(planes["normal"][:, best], planes["offset"][best]) * Z.dtype.type(sharp)
        refined = self._refine(Z, pairs, plane).astype(Z.dtype)
        if score(pairs, Z @ refined[:-1] + refined[-1] > 0) > scores[best]:
            plane = refined
        return {"normal": plane[None, :-1], "offset": _between_rows(Z, pairs, plane)}

    def _refine(self, Z: NDArray[Any], pairs: PairWeights, plane: NDArray[Any]) -> NDArray[np.float64]:
        """L-BFGS on -s'Ls from a plane (d + 1,), normal and offset."""
        size = 2 * sum_absolute(pairs.values)
        if size == 0 or self.max_iter == 0:  # scipy takes one step even at maxiter=0
            return plane

        def risk(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            theta = theta.astype(Z.dtype)
            s = expit(np.clip(Z @ theta[:-1] + theta[-1], -MAX_SIGMOID_ARGUMENT, MAX_SIGMOID_ARGUMENT))
            Ls = laplacian(pairs, s)
            slope = -2 * Ls * s * (1 - s) / size
            return -float(s @ Ls) / size, np.append(Z.T @ slope, slope.sum()).astype(np.float64)

        options = {"maxiter": self.max_iter}
        return minimize(risk, plane.astype(np.float64), jac=True, method="L-BFGS-B", options=options).x


def _between_rows(Z: NDArray[Any], pairs: PairWeights, plane: NDArray[Any]) -> NDArray[Any]:
    """The offset (1,) of a plane (d + 1,), moved into a gap beside it if training rows lie on the plane.

    Rounding would decide the bit of such a row, and can change with the rows that it is encoded with. Few
    distinct rows often have such planes, by symmetry. The gap is the one with the higher score.
    """
    values = Z @ plane[:-1] + plane[-1]
    sizes = np.abs(values)
    on_it = sizes <= _ON_THE_PLANE * sizes.max()
    others = values[~on_it]
    if len(others) in (0, len(values)):
        return plane[-1:]
    moves = [-side[np.abs(side).argmin()] / 2 for side in (others[others > 0], others[others < 0]) if len(side)]
    best = max(moves, key=lambda move: score(pairs, values + move > 0))
    return plane[-1:] + best
