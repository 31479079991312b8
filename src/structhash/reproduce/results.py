"""What finished runs say: means over seeds, values of each query, and the cost of training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.reproduce.cache import Finished
from structhash.reproduce.plan import METHODS, N_BITS

__all__ = ["Results"]


class Results:
    """Finished runs, found by what they are.

    Parameters
    ----------
    finished : iterable of Finished
    """

    def __init__(self, finished: Iterable[Finished]) -> None:
        self.finished = list(finished)

    @property
    def sets(self) -> list[str]:
        """Names of the data sets that were scored, in the order of the runs."""
        return list(dict.fromkeys(run.data for run, _ in self.finished if run.lengths))

    def methods(self, data: str) -> list[str]:
        """Names of the methods that were scored on a data set, in the order of the runs."""
        return list(dict.fromkeys(run.method for run, _ in self.finished if run.data == data and run.lengths))

    def by_seed(
        self, data: str, method: str, measure: str, n_bits: int = N_BITS, distance: str | None = None
    ) -> list[float]:
        """The mean of a measure for each seed; no number where nothing was scored.

        Parameters
        ----------
        data, method, measure : str
        n_bits : int
        distance : str, optional
            That of the method by default.

        Returns
        -------
        list of float
        """
        wanted = n_bits, distance or METHODS[method].distance
        return [
            line["mean"][measure]
            for run, record in self.finished
            if (run.data, run.method) == (data, method)
            for line in record["scores"]
            if (line["n_bits"], line["distance"]) == wanted and measure in line["mean"]
        ]

    def mean(
        self, data: str, method: str, measure: str, n_bits: int = N_BITS, distance: str | None = None
    ) -> float | None:
        """The mean of `by_seed`; None where nothing was scored.

        Parameters
        ----------
        data, method, measure, n_bits, distance
            As in `by_seed`.

        Returns
        -------
        float or None
        """
        found = self.by_seed(data, method, measure, n_bits, distance)
        return float(np.mean(found)) if found else None

    def lengths(self, data: str, method: str) -> list[int]:
        """Code lengths at which a method was scored, in order."""
        return sorted(
            {n for run, _ in self.finished if (run.data, run.method) == (data, method) for n in run.lengths}
        )

    def per_query(
        self, data: str, method: str, measure: str, distance: str | None = None
    ) -> NDArray[np.float64]:
        """Values of a measure for all queries of all seeds, at 64 bits; empty where nothing was scored.

        Parameters
        ----------
        data, method, measure : str
        distance : str, optional
            That of the method by default.

        Returns
        -------
        float64 array
        """
        distance = distance or METHODS[method].distance
        found = [
            record["per_query"][distance][measure]
            for run, record in self.finished
            if (run.data, run.method, run.n_bits) == (data, method, N_BITS) and distance in record["per_query"]
        ]
        return np.array([value for values in found for value in values], np.float64)

    def history(self, data: str, method: str, name: str) -> NDArray[np.float64] | None:
        """Rounds or seconds of each of the 64 bits, mean over seeds.

        Parameters
        ----------
        data, method : str
        name : str
            ``"rounds"`` or ``"seconds"``.

        Returns
        -------
        float64 array (64,) or None
            None where there is no history.
        """
        found = [
            record["history"][name]
            for run, record in self.finished
            if (run.data, run.method, run.n_bits) == (data, method, N_BITS) and record["history"]
        ]
        return np.mean(found, axis=0) if found else None

    def timed(self, method: str) -> list[tuple[int, float]]:
        """Training rows and seconds of the runs that were made to be timed, in order of the rows."""
        return sorted(
            (run.n_train, float(np.sum(record["history"]["seconds"])))
            for run, record in self.finished
            if run.method == method and not run.lengths
        )

    def timed_set(self) -> tuple[str, int] | None:
        """Data set and code length of the runs that were made to be timed; None where there are none."""
        return next(((run.data, run.n_bits) for run, _ in self.finished if not run.lengths), None)

    def examples(self, data: str) -> list[dict[str, Any]]:
        """The ranking examples of a data set, as `perform` returns them; empty where there are none."""
        return next(
            (record["examples"] for run, record in self.finished if run.data == data and record["examples"]), []
        )
