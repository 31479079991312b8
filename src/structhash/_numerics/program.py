"""A model as a list of simple steps, so that programs without this package can encode.

All numbers are float64. A value is a matrix with one row for each row of X. A constant is a number, a vector or
a matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["OPERATIONS", "Program"]

OPERATIONS = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "minimum", "maximum", "power"), 2),
    "greater": 2,  # 1 or 0
    "matmul": 2,  # the second is a constant matrix
    **dict.fromkeys(("exp", "log", "sqrt", "abs"), 1),
    **dict.fromkeys(("row_sum", "row_max"), 1),  # (n, 1)
    "kth_largest": 2,  # (n, 1): of a value and a constant k, from 1
    "columns": 2,  # of a value and a constant vector of column numbers
    "concatenate": None,  # values side by side
}  # and how many inputs they take; None is any number

_MAX_EXPONENT = 700.0  # of which exp is finite
_TINY = 1e-300  # divides where a row of zeros has a norm of 0


class Program:
    """Steps from rows "X" to results. The same step on the same inputs is kept once.

    Attributes
    ----------
    arrays : dict of str to array
        Constants by name, float32 or float64, in C order.
    steps : list of list of str
        Operation, name of the result, names of the inputs; each name is "X", a constant or an earlier result.

    Examples
    --------
    >>> program = Program()
    >>> program.step("subtract", "X", np.array([1.0, 2.0]))
    't0'
    >>> program.steps
    [['subtract', 't0', 'X', 'c0']]
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.steps: list[list[str]] = []
        self._known: dict[Any, str] = {}

    def step(self, operation: str, *inputs: Any) -> str:
        """Add a step and return the name of its result.

        Parameters
        ----------
        operation : str
            One of `OPERATIONS`.
        *inputs : str, float or array
            Names of values; numbers and arrays become constants.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there is no such operation, or it takes another number of inputs.
        """
        if operation not in OPERATIONS or OPERATIONS[operation] not in (None, len(inputs)):
            raise ValueError(
                f"{operation}: no operation of {len(inputs)} inputs; give one of {', '.join(OPERATIONS)}"
            )
        names = tuple(each if isinstance(each, str) else self._constant(each) for each in inputs)
        key = (operation, names)
        if key not in self._known:
            self._known[key] = f"t{len(self.steps)}"
            self.steps.append([operation, self._known[key], *names])
        return self._known[key]

    def steps_to(self, result: str) -> list[list[str]]:
        """The steps that lead to a result, which the last one gives."""
        wanted, found = {result}, []
        for step in reversed(self.steps):
            if step[1] in wanted:
                wanted.update(step[2:])
                found.append(step)
        return found[::-1]

    def normalized(self, value: str) -> str:
        """Rows divided by their Euclidean norms; a row of zeros stays zero."""
        largest = self.step("row_max", self.step("abs", value))
        scaled = self.step("divide", value, self.step("maximum", largest, _TINY))
        norms = self.step("sqrt", self.step("row_sum", self.step("multiply", scaled, scaled)))
        return self.step("divide", scaled, self.step("maximum", norms, _TINY))

    def to_sum_one(self, value: str) -> str:
        """Rows divided by their sums."""
        return self.step("divide", value, self.step("row_sum", value))

    def softmax(self, value: str) -> str:
        """Softmax of each row."""
        return self.to_sum_one(self.step("exp", self.step("subtract", value, self.step("row_max", value))))

    def logistic(self, value: str) -> str:
        """1 / (1 + exp(-value))."""
        exponents = self.step("minimum", self.step("multiply", value, -1.0), _MAX_EXPONENT)
        return self.step("divide", 1.0, self.step("add", self.step("exp", exponents), 1.0))

    def sharpened(self, value: str, exponent: Any) -> str:
        """Probabilities to a power, each row scaled to sum to 1."""
        relative = self.step("divide", value, self.step("row_max", value))
        return self.to_sum_one(self.step("power", relative, exponent))

    def similarities(self, value: str, anchors: NDArray[Any], sigma: Any) -> str:
        """Gaussian similarities exp(-|z - a|^2 / (2 sigma^2)) of rows to anchors (m, k)."""
        scale = 1 / float(sigma) ** 2
        halved = self.step("multiply", self.step("row_sum", self.step("multiply", value, value)), scale / 2)
        products = self.step("matmul", self.step("multiply", value, scale), anchors.T)
        own = (anchors.astype(np.float64) ** 2).sum(axis=1) * (scale / 2)
        exponents = self.step("subtract", self.step("subtract", products, halved), own)
        return self.step("exp", self.step("minimum", exponents, 0.0))

    def interpolated(self, value: str, places: NDArray[Any], heights: NDArray[Any]) -> str:
        """`numpy.interp` of a column, at sorted places."""
        x, y = places.astype(np.float64), heights.astype(np.float64)
        run, rise = np.diff(x), np.diff(y)
        above = self.step("maximum", self.step("subtract", value, x[:-1]), 0.0)
        ramp = self.step("minimum", above, run)
        slopes = np.where(run > 0, rise / np.where(run > 0, run, 1), 0)
        jumps = np.where(run > 0, 0, rise)
        found = self.step("matmul", ramp, slopes[:, None])
        if jumps.any():
            found = self.step(
                "add", found, self.step("matmul", self.step("greater", value, x[:-1]), jumps[:, None])
            )
        return self.step("add", found, y[0])

    def _constant(self, given: Any) -> str:
        """The name of a constant."""
        array = np.asarray(given)
        if array.dtype != np.float32:
            array = array.astype(np.float64)
        array = np.array(array, order="C")  # a copy, also of a view
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = f"c{len(self.arrays)}"
            self.arrays[self._known[key]] = array
        return self._known[key]
