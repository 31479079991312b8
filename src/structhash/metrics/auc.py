"""Area under the ROC curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from structhash.metrics._checks import check_blocks
from structhash.metrics._expectation import ratio
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "auc"]


def auc(blocks: TieBlocks) -> NDArray[np.float64]:
    """Chance that a relevant document ranks before an irrelevant one: sum (n - r)(c + r/2) / (P N).

    A tie counts 1/2. Returns one value a query, (Q,), nan without relevant or without irrelevant documents.
    TypeError if `blocks` are not tie blocks.

    References
    ----------
    Hanley, McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve,
    Radiology 1982, https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    >>> from structhash.metrics import auc, tie_blocks
    >>> auc(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    array([0.75])
    """
    check_blocks(blocks)
    n, r = blocks.size, blocks.hits
    ordered = blocks.sums((n - r) * (blocks.before(r) + r / 2))
    return ratio(ordered, blocks.relevant * blocks.sums(n - r))


NAMES = {"auc": auc}
