"""Kinds of supervision, one file each: which points belong together.

Every supervision gives `comparisons`: queries with their relevant and irrelevant partners. Row numbers refer to
its `training_matrix(X)`, which is X unless it has query vectors of its own: see `base.Supervision`.
"""

from structhash.supervision.base import Supervision
from structhash.supervision.labels import Labels, check_labels
from structhash.supervision.neighbours import Neighbours
from structhash.supervision.qrels import Qrels
from structhash.supervision.triplets import Triplets

__all__ = [
    "Labels",
    "Neighbours",
    "Qrels",
    "Supervision",
    "Triplets",
    "check_labels",
]
