"""Choose the temperatures of queries by training rows that the embedding has not seen."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from structhash.codes import hamming, pack
from structhash.metrics import average_precision, tie_blocks, without_self
from structhash.training.distillation import EmbeddedPoints
from structhash.training.hash_function import HashFunction

__all__ = ["with_query_temperatures"]

stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

MAX_ROWS = 1000  # left-out training rows that judge the candidates
TOLERANCE = 0.003  # mean average precision that may be lost for a preferred candidate
SHARE = 0.2  # of what the best lacks of 1, that may be lost


def with_query_temperatures(
    function: HashFunction, points: EmbeddedPoints, class_index: NDArray[np.int64]
) -> HashFunction:
    """The hash function with temperatures for queries of 1, 2, 4, ... bits.

    Left-out training rows retrieve each other. The method takes the first candidate whose mean average
    precision is within 0.003 of the best, and that adds at most a fifth to what the best lacks of 1.

    Parameters
    ----------
    function : HashFunction
    points : EmbeddedPoints
    class_index : int64 (n,)
        Class number of each training row.

    Returns
    -------
    HashFunction
        Unchanged where the embedding names no candidates or no left-out rows.
    """
    candidates, left_out = points.temperatures.queries, points.embedded.left_out
    if not candidates or left_out is None:
        return function
    stages.info("choosing how queries are coded")
    chosen = np.random.default_rng(0).permutation(len(left_out.rows))[:MAX_ROWS]
    labels = class_index[left_out.rows[chosen]]
    relevant = labels[:, None] == labels
    vectors = left_out.vectors[chosen]
    codes = {t: function.scores_of_vectors(vectors, t) > 0 for t in {function.row_temperature, *candidates}}
    rows, found = codes[function.row_temperature], []
    for n_bits in 2 ** np.arange(function.n_bits.bit_length()):
        precision = [_mean_average_precision(codes[t], rows, relevant, int(n_bits)) for t in candidates]
        enough = max(precision) - min(TOLERANCE, SHARE * (1 - max(precision)))
        found.append(next(t for t, value in zip(candidates, precision, strict=True) if value >= enough))
    return replace(function, query_temperatures=tuple(found))


def _mean_average_precision(
    queries: NDArray[np.bool_], rows: NDArray[np.bool_], relevant: NDArray[np.bool_], n_bits: int
) -> float:
    """Mean average precision of the queries that have another row of their class; 0 where none has."""
    distances = hamming(pack(queries[:, :n_bits]), pack(rows[:, :n_bits]))
    values = average_precision(tie_blocks(*without_self(distances, relevant)))
    has_others = ~np.isnan(values)
    return float(values[has_others].sum() / max(1, has_others.sum()))
