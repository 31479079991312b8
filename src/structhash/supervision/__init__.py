"""What a user knows about which points belong together, in the two shapes that masters read.

Every supervision gives `triplets` (i, j, k: i is nearer to j than to k) and `comparisons` (a query with its
relevant and its irrelevant points). Row numbers refer to the training matrix, or to `points(X)` where a
supervision has query vectors of its own.
"""

from structhash.supervision.labels import Labels, as_supervision, check_labels, is_indicator
from structhash.supervision.neighbours import Neighbours
from structhash.supervision.qrels import Qrels
from structhash.supervision.shared import Supervision, list_triplets, pointers, points
from structhash.supervision.triplets import Triplets

__all__ = [
    "Labels",
    "Neighbours",
    "Qrels",
    "Supervision",
    "Triplets",
    "as_supervision",
    "check_labels",
    "is_indicator",
    "list_triplets",
    "pointers",
    "points",
]
