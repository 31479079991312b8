"""The contract of a supervision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count
from structhash.pair_weights import Comparisons

__all__ = ["Supervision", "check_partners"]


class Supervision:
    """Which points belong together: `fit` takes it as `y` in place of an array of labels.

    A subclass is a frozen dataclass. It gives `comparisons`; one with query vectors of its own also gives
    `training_matrix`.
    """

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Draw the near and far partners of every query.

        Parameters
        ----------
        X : ndarray (n, d)
            Rows given to `fit`.
        rng : Generator
            All draws come from it.

        Returns
        -------
        Comparisons
            Its row numbers refer to `training_matrix(X)`. No query lacks near or far partners.

        Raises
        ------
        ValueError
            If the supervision does not fit X, or a setting is not allowed.
        """
        raise NotImplementedError

    def training_matrix(self, X: NDArray[Any]) -> NDArray[Any]:
        """The matrix that bits are learned from: X by default; a subclass may stack its queries below X."""
        return X

    def count_queries(self, X: NDArray[Any]) -> int:
        """Number of possible queries; those without near or far partners are skipped."""
        return len(X)


def check_partners(n_near: Any, n_far: Any) -> None:
    """ValueError unless both numbers of partners to draw are integers >= 1."""
    check_count("n_near", n_near)
    check_count("n_far", n_far)
