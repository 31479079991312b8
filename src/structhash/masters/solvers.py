"""A linear programme over cutting planes, which is changed in place and solved again."""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

__all__ = ["PlaneProgram"]


class PlaneProgram:
    """min costs'u + C sum_g xi_g  s.t.  a_rg'u + xi_g >= b_rg for every plane r, 0 <= u <= upper, xi >= 0.

    Planes may be added at any time; each `solve` starts from the last basis. Rows hold within `precision`.
    """

    def __init__(
        self, costs: NDArray[np.float64], C: float, upper: float, groups: int = 1, precision: float = 1e-7
    ) -> None:
        self.n, self.C, self.upper, self.groups = len(costs), C, upper, groups
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        for side in ("primal", "dual"):
            self.highs.setOptionValue(f"{side}_feasibility_tolerance", precision)
        n_columns, empty = self.n + groups, np.zeros(0, np.int32)
        high = np.append(np.full(self.n, upper), np.full(groups, highspy.kHighsInf))
        prices = np.append(costs, np.full(groups, C))
        self.highs.addCols(n_columns, prices, np.zeros(n_columns), high, 0, empty, empty, np.zeros(0))

    def add(self, A: NDArray[np.float64], b: NDArray[np.float64]) -> None:
        """Planes a_rg (k, groups, n) with offsets b_rg (k, groups)."""
        rows = np.concatenate([A, np.ones((*b.shape, 1))], axis=-1)
        index = np.broadcast_to(np.arange(self.n + 1, dtype=np.int32), rows.shape).copy()
        index[..., -1] += np.arange(self.groups, dtype=np.int32)
        starts = np.arange(b.size, dtype=np.int32) * (self.n + 1)
        high = np.full(b.size, highspy.kHighsInf)
        self.highs.addRows(b.size, b.ravel(), high, rows.size, starts, index.ravel(), rows.ravel())

    def remove(self, planes: NDArray[np.int64]) -> None:
        """Remove planes by their numbers; later ones move up."""
        rows = (planes[:, None] * self.groups + np.arange(self.groups)).astype(np.int32).ravel()
        self.highs.deleteRows(len(rows), rows)

    def solve(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Free weights u (n,), slacks xi (groups,) and plane duals (planes, groups)."""
        status = self.highs.run()
        if (
            status != highspy.HighsStatus.kOk
            or self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal
        ):
            raise RuntimeError(
                f"the linear programme of the master failed ({self.highs.getModelStatus()}) "
                f"at C={self.C:g}; give a smaller C"
            )
        solution = self.highs.getSolution()
        x = np.array(solution.col_value)
        duals = np.maximum(np.array(solution.row_dual), 0.0).reshape(-1, self.groups)
        return np.clip(x[: self.n], 0.0, self.upper) + 0.0, x[self.n :], duals  # without -0.0
