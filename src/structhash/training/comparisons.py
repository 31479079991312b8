"""Builds a problem from comparisons: labels, triplets, judgements or neighbours."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.families.base import Family
from structhash.masters.base import Master
from structhash.masters.schedules.base import Schedule
from structhash.pair_weights import Comparisons, PairGraph, pair_graph
from structhash.supervision import Supervision
from structhash.training.hash_function import HashFunction
from structhash.training.problem import Problem

__all__ = ["MakeMaster", "problem_from_comparisons"]

stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

MakeMaster = Callable[[Comparisons, PairGraph], Master]


def problem_from_comparisons(
    X: NDArray[Any],
    supervision: Supervision,
    family: Family,
    schedule: Schedule,
    make_master: MakeMaster,
    rng: np.random.Generator,
) -> Problem:
    """Draw the comparisons, and prepare features and master.

    Parameters
    ----------
    X : ndarray (n, d)
        Training rows, or documents where the supervision has queries of its own.
    supervision : Supervision
    family : Family
    schedule : Schedule
    make_master : callable
        Gives the master for comparisons and their graph.
    rng : Generator

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        If the supervision or the family refuses the data.
    """
    stages.info("finding what each row is compared with")
    points = supervision.training_matrix(X)
    comparisons = supervision.comparisons(X, rng)
    graph = pair_graph(comparisons, len(points))
    master = make_master(comparisons, graph)
    n_skipped = supervision.count_queries(X) - len(np.unique(comparisons.queries))
    del comparisons  # the graph holds what is needed of them
    stages.info("preparing the features of bits")
    state = family.prepare(points, rng)
    function = HashFunction(family, state)
    return Problem(family.features(points, state), graph, master, function, schedule.weighted, n_skipped)
