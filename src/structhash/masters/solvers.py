"""Linear programme over cutting planes, kept live between rows."""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray


class PlaneProgram:
    """min costs'u + C xi  s.t.  a_r'u + xi >= b_r for every plane r, 0 <= u <= upper, xi >= 0.

    Rows may be added at any time; each `solve` starts from the last basis. Rows hold within `precision`.
    """

    def __init__(self, costs: NDArray[np.float64], C: float, upper: float, precision: float = 1e-7) -> None:
        self.n, self.C, self.upper = len(costs), C, upper
        self.highs = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("threads", 1)
        for side in ("primal", "dual"):
            self.highs.setOptionValue(f"{side}_feasibility_tolerance", precision)
        empty = np.zeros(0, np.int32)
        lower = np.zeros(self.n + 1)
        high = np.append(np.full(self.n, upper), highspy.kHighsInf)
        self.highs.addCols(self.n + 1, np.append(costs, C), lower, high, 0, empty, empty, np.zeros(0))

    def add(self, A: NDArray[np.float64], b: NDArray[np.float64]) -> None:
        """Planes a_r (k, n) with offsets b_r (k,)."""
        k = len(A)
        rows = np.column_stack([A, np.ones(k)])
        starts = np.arange(k, dtype=np.int32) * (self.n + 1)
        index = np.tile(np.arange(self.n + 1, dtype=np.int32), k)
        self.highs.addRows(k, b, np.full(k, highspy.kHighsInf), rows.size, starts, index, rows.ravel())

    def solve(self) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
        """Free weights u (n,), slack xi and plane duals (rows,)."""
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
        duals = np.maximum(np.array(solution.row_dual), 0.0)
        return np.clip(x[:-1], 0.0, self.upper) + 0.0, float(x[-1]), duals  # without -0.0
