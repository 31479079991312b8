"""Retrieval metrics per query, exact where documents are tied.

Sorted by distance, the documents of one query form *tie blocks*: documents at equal distance, whose order is
arbitrary. `tie_blocks` finds them. A metric is a function ``metric(blocks, ...)`` that returns one float64
value a query, (Q,): the exact expectation over all orders inside the tie blocks.

A query without relevant documents has the value nan, so take `numpy.nanmean`. Two metrics give it 0 instead:
`precision`, and `ndcg` with the paper's normaliser. The formulas use these letters: a block has n documents,
r of them relevant; before the block there are s documents, c of them relevant; the query has P relevant and N
irrelevant documents. A cut k is an integer >= 1 and may exceed the number of documents.

A new metric is one new file in this folder: a function, and a dict ``NAMES`` of the text names that `parse`
finds it by.

References
----------
McSherry, Najork, Computing information retrieval performance measures efficiently in the presence of tied
scores, ECIR 2008, https://doi.org/10.1007/978-3-540-78646-7_38
"""

from structhash._numerics.rounding import merge_ties
from structhash.metrics.auc import auc
from structhash.metrics.average_precision import average_precision
from structhash.metrics.ndcg import ndcg
from structhash.metrics.precision import precision
from structhash.metrics.precision_recall import pr_area, pr_area_per_query, precision_recall_curve
from structhash.metrics.recall import recall
from structhash.metrics.reciprocal_rank import reciprocal_rank
from structhash.metrics.registry import canonical, names, parse
from structhash.metrics.sndcg import sndcg
from structhash.metrics.tie_blocks import MAX_GRADE, TieBlocks, tie_blocks, without_self

__all__ = [
    "MAX_GRADE",
    "TieBlocks",
    "auc",
    "average_precision",
    "canonical",
    "merge_ties",
    "names",
    "ndcg",
    "parse",
    "pr_area",
    "pr_area_per_query",
    "precision",
    "precision_recall_curve",
    "recall",
    "reciprocal_rank",
    "sndcg",
    "tie_blocks",
    "without_self",
]
