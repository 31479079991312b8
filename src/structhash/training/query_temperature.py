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
from structhash.training.selection import first_as_good

__all__ = ["with_query_temperatures"]

stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

MAX_ROWS = 1000  # left-out training rows that judge the candidates


def with_query_temperatures(
    function: HashFunction, points: EmbeddedPoints, class_index: NDArray[np.int64]
) -> HashFunction:
    """The hash function with temperatures for queries of 1, 2, 4, ... bits.

    Left-out training rows retrieve each other. The method takes the first candidate whose mean average
    precision is within one standard error of the best.

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
    temperatures = [*candidates, function.row_temperature]
    codes = [function.scores_of_vectors(left_out.vectors[chosen], each) > 0 for each in temperatures]
    found = []
    for n_bits in 2 ** np.arange(function.n_bits.bit_length()):
        precision = [_average_precision(each, codes[-1], relevant, int(n_bits)) for each in codes]
        found.append(temperatures[first_as_good(precision)])
    return replace(function, query_temperatures=tuple(found))


def _average_precision(
    queries: NDArray[np.bool_], rows: NDArray[np.bool_], relevant: NDArray[np.bool_], n_bits: int
) -> NDArray[np.float64]:
    """Average precision of each query that has another row of its class."""
    distances = hamming(pack(queries[:, :n_bits]), pack(rows[:, :n_bits]))
    values = average_precision(tie_blocks(*without_self(distances, relevant)))
    return values[~np.isnan(values)]
