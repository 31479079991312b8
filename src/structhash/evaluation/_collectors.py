"""Values of one measure, collected while blocks of queries come in, and their mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash import metrics


class Collector:
    """The values of one measure, one a query, and their mean over the queries that have a value."""

    def __init__(self, name: str) -> None:
        self._measure = metrics.parse(name)
        self._values: list[NDArray[np.float64]] = []

    def add(self, tied: metrics.TieBlocks) -> None:
        """Measure further queries."""
        self._values.append(self._measure(tied))

    def per_query(self) -> NDArray[np.float64]:
        """Value of each query, nan where it has none."""
        return np.concatenate(self._values)

    def mean(self) -> float:
        """Mean over the queries that have a value; nan where none has."""
        values = self.per_query()
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else float("nan")


class CurveCollector(Collector):
    """The areas under precision-recall curves. Their mean is the area under the mean curve."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._total: NDArray[np.float64] | None = None  # sum of the curves: recall, precision
        self._n_curves = 0  # queries with a relevant document

    def add(self, tied: metrics.TieBlocks) -> None:
        """Measure further queries, and add up their curves."""
        super().add(tied)
        if n_curves := int((tied.relevant > 0).sum()):
            curves = n_curves * np.array(metrics.precision_recall_curve(tied))
            self._total = curves if self._total is None else self._total + curves
            self._n_curves += n_curves

    def mean(self) -> float:
        """Area under the mean precision / mean recall curve by the trapezoid rule; nan without curves."""
        if self._total is None:
            return float("nan")
        recall, precision = self._total / self._n_curves
        return float(np.trapezoid(precision, recall))


_SPECIAL = {"pr_area": CurveCollector}  # measures whose mean is not the mean of their values


def is_mean_of_queries(name: str) -> bool:
    """Whether the mean of the measure of this canonical name is the mean of the values of its queries."""
    return name not in _SPECIAL


def collector(name: str) -> Collector:
    """A new collector for the measure of this canonical name."""
    return _SPECIAL.get(name, Collector)(name)
