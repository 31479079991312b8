"""What every embedding gives."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash.pieces import Params


class Embedding:
    """Vectors in which near means alike, and how alike they are: see `structhash.embeddings`.

    `state` is a dict of plain arrays. `labelled` says whether labels are needed; `pull`, how much codes shall
    draw together what is alike (`structhash.masters.listwise`); `nearest`, how many of a point's partners are
    those of largest cosine; `sample`, how many points bits are learned from and how many partners each has, at
    most. One that is linear may have ``linear(state)``, a centre (d,), a matrix (d, k) and a scale, so that
    planes in it are planes among the rows. One in which points, rows and queries are not coded alike has
    ``raised(Z)``, the vectors to learn bits from, ``raised(Z, power)``, those to code rows and queries from,
    ``row_power(y)``, and a tuple `query_powers` to choose from, those best as a rule first.
    """

    labelled: ClassVar[bool]
    pull: ClassVar[float]
    nearest: ClassVar[int]
    sample: ClassVar[tuple[int, int]]

    def fit(
        self, X: NDArray[Any], y: Any, others: Any, points: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Params, NDArray[Any]]:
        """State, learned from rows X (n, d) and labels y (n,) or None, and the vectors of the rows `points`.

        They are numbered in `others` (m, d), rows like those to be searched, or, where it is None, in X, and
        then are such as they would be had X not held them.
        """
        ...

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]: ...

    def targets(
        self, Z: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any], counts: NDArray[Any]
    ) -> NDArray[np.float64]:
        """How the chance to be like each query (q,) is spread over its partners (q, m): rows that sum to 1.

        A partner stands for `counts` (m,) points like it.
        """
        ...
