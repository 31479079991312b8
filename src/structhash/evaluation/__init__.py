"""Measure codes: splits that keep queries unseen, scores for each query, and comparisons of several methods."""

from structhash.evaluation._shifts import BitShift, DistanceShift
from structhash.evaluation.compare import Result, compare
from structhash.evaluation.drift import Drift, RefitGain, judge_drift
from structhash.evaluation.instances import inside_class, instance_queries, nearest_in_class
from structhash.evaluation.judged import JUDGED_MEASURES, compare_judged, judgement_folds
from structhash.evaluation.label_splits import coarse_labels, few_labels, tail_classes
from structhash.evaluation.methods import Method, every_method, parse_method, split_specs
from structhash.evaluation.neighbours import NEIGHBOUR_MEASURES, compare_neighbours, nearest_rows
from structhash.evaluation.protocols import PROTOCOLS, Protocol, find_protocol, protocol_names
from structhash.evaluation.reading import ReadCodes, read_codes
from structhash.evaluation.recall import RecallEstimate, RecallLine, estimate_recall
from structhash.evaluation.report import Line, as_json, as_table, from_json, summarise
from structhash.evaluation.scoring import (
    MEASURES,
    Scores,
    code_blocks,
    every_distance,
    float_blocks,
    judged_relevance,
    prepared_blocks,
    retrieval,
    same_label,
    shared_labels,
)
from structhash.evaluation.splits import (
    Split,
    mixed_known_classes,
    mixed_new_classes,
    seen_classes,
    unseen_classes,
)

__all__ = [
    "JUDGED_MEASURES",
    "MEASURES",
    "NEIGHBOUR_MEASURES",
    "PROTOCOLS",
    "BitShift",
    "DistanceShift",
    "Drift",
    "Line",
    "Method",
    "Protocol",
    "ReadCodes",
    "RecallEstimate",
    "RecallLine",
    "RefitGain",
    "Result",
    "Scores",
    "Split",
    "as_json",
    "as_table",
    "coarse_labels",
    "code_blocks",
    "compare",
    "compare_judged",
    "compare_neighbours",
    "estimate_recall",
    "every_distance",
    "every_method",
    "few_labels",
    "find_protocol",
    "float_blocks",
    "from_json",
    "inside_class",
    "instance_queries",
    "judge_drift",
    "judged_relevance",
    "judgement_folds",
    "mixed_known_classes",
    "mixed_new_classes",
    "nearest_in_class",
    "nearest_rows",
    "parse_method",
    "prepared_blocks",
    "protocol_names",
    "read_codes",
    "retrieval",
    "same_label",
    "seen_classes",
    "shared_labels",
    "split_specs",
    "summarise",
    "tail_classes",
    "unseen_classes",
]
