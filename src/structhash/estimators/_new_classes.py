"""Tell when rows that are coded are of classes that the training labels lack."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structhash.estimators._input import open_rows
from structhash.estimators._learned import LearnedEncoder

MIN_WARNED_ROWS = 1000  # fewer rows prove little
_MIN_NEW_SHARE = 0.1  # from which on a warning is due
_MEANWHILE = "; until then, code queries of new classes with encode, as rows are"


class NewClassEncoder(LearnedEncoder):
    """An estimator that warns when it codes many rows of new classes."""

    def new_class_share(self, X: Any) -> float:
        """A lower bound on the share of rows that are of no class of the training labels.

        Codes that follow class probabilities say little of such rows. Class probabilities are seldom sure of a
        row of a new class, so the bound compares how sure they are of these rows and of left-out training rows.
        It holds with 99 percent confidence if the known classes are as mixed as in training. Rows that differ
        from the training rows for another reason count, too.

        Parameters
        ----------
        X : array (n, d)
            As `encode` takes them. Of more than 1,000 rows, 1,000 are judged, evenly spread.

        Returns
        -------
        float
            From 0 to 1. It is 0 in four cases:

            - The model has no class probabilities. It learned without labels or from judgements, or it distils
              ``"centered"``, ``"metric"`` or ``"manifold"`` (`embedding_` says so), or it is neither a
              `DistilHash` nor an `AdditiveHash`. Then 0 says nothing about the rows.
            - The `unlabeled` rows of the fit taught the model to tell known from new classes
              (``"mixture"``, and `AdditiveHash`). Then 0 says nothing about the rows, and rows of new classes
              are coded as such. If all `unlabeled` rows seemed to be of known classes, there is a bound after
              all.
            - There are too few rows to prove anything. The bound allows for an error of about 1.5 / sqrt(n)
              by the n rows of X that are judged, and of 1.5 / sqrt(m) by m training rows. So give more rows;
              those beyond 1,000 add nothing.
            - Nothing in X looks new: class probabilities are as sure of these rows as of training rows. Some
              may still be of new classes, since 0 is a lower bound, and a careful one.
        """
        check_is_fitted(self)
        return self.hash_function_.new_class_share(open_rows(self, X))

    def _encode_opened(self, rows: NDArray[Any], n_bits: int, queries: bool = False) -> NDArray[np.uint8]:
        codes = super()._encode_opened(rows, n_bits, queries)
        if not queries:
            warn_of_new_classes(rows, self.hash_function_.new_class_share, _MEANWHILE)
        return codes


def warn_of_new_classes(
    rows: NDArray[Any], share: Callable[[NDArray[Any]], float], meanwhile: str = ""
) -> None:
    """Warn where a tenth or more of at least 1,000 rows (n, d) are of new classes, as `share` says.

    `meanwhile` is what helps until the next fit.
    """
    if len(rows) >= MIN_WARNED_ROWS and share(rows) >= _MIN_NEW_SHARE:
        warnings.warn(
            "many of these rows are like no class of the training labels, and their codes may find bad "
            f"neighbours: fit again with the rows to be searched as unlabeled{meanwhile} (new_class_share "
            "tells how many)",
            stacklevel=5,
        )
