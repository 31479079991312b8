"""Column generation: each new bit is learned from the dual of the bits before it."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.threads import one_blas_thread
from structhash.families.base import Family
from structhash.families.starts.base import Start
from structhash.families.starts.random_planes import RandomPlanes
from structhash.pair_weights import score
from structhash.pieces import Params
from structhash.training.hash_function import BitFunction, HashFunction
from structhash.training.problem import Learned, Plan, Problem, Step

__all__ = ["bit_key", "bit_values", "bits_to_keep", "column_generation", "finish", "learn", "new_bit"]

logger = logging.getLogger("structhash")
stages = logging.getLogger("structhash.stages")  # what is being done, in plain words

MAX_REDRAWS = 20  # attempts at a bit that does not exist yet

_Returned = TypeVar("_Returned")


def learn(problem: Problem, plan: Plan, rng: np.random.Generator) -> Generator[Step, None, Learned]:
    """`column_generation` as a generator whose return value is what was learned.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    rng : Generator

    Yields
    ------
    Step

    Returns
    -------
    Learned

    Raises
    ------
    ValueError
        If the bits to keep belong to other features than those of the problem.
    """
    kept = [] if plan.kept is None else bits_to_keep(plan.kept, problem.function)
    steps = []
    stages.info("learning bit 1 of %d", plan.n_bits)
    for step in column_generation(problem, plan.start, plan.n_bits, rng, plan.stop_below, kept):
        steps.append(step)
        logger.info("bit %d of %d: objective %.6g", len(steps), plan.n_bits, step.objective)
        if len(steps) < plan.n_bits:
            stages.info("learning bit %d of %d", len(steps) + 1, plan.n_bits)
        yield step
    return Learned.from_steps(problem, steps, plan.kept_history)


def bits_to_keep(kept: BitFunction, function: HashFunction) -> list[Params]:
    """Parameters of the bits of an earlier fit, one by one; ValueError if they belong to other features."""
    if isinstance(kept, HashFunction):
        a, b = kept.family_state, function.family_state
        if a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a):
            return kept.split_bits()
    raise ValueError("warm_start=True goes on with the same rows, family and random_state; these differ")


def finish(learning: Generator[Step, None, _Returned]) -> tuple[list[Step], _Returned]:
    """Run a generator of steps, such as `learn`, to its end: its steps and what it returns."""
    steps = []
    while True:
        try:
            steps.append(next(learning))
        except StopIteration as end:
            return steps, end.value


def column_generation(
    problem: Problem,
    start: Start,
    n_bits: int,
    rng: np.random.Generator,
    stop_below: float | None = None,
    kept: Sequence[Params] = (),
) -> Iterator[Step]:
    """Algorithms 1 and 3 of the paper, a step a bit.

    Parameters
    ----------
    problem : Problem
    start : Start
        Where the search for a bit begins.
    n_bits : int
    rng : Generator
    stop_below : float, optional
        End early, after at least one bit, where the new bit's `violation` is no more than this. That proves the
        optimum only for a family that searches exactly and a master that moves all weights. Learning goes on
        where the family first gives an old bit and a weight is at its upper bound: then a better bit may
        be hidden.
    kept : sequence of dict
        Parameters of first bits that exist already: only their weights are learned.

    Yields
    ------
    Step
    """
    Z, graph, master, family = problem.Z, problem.graph, problem.master, problem.function.family
    memoized = partial(start, memo={})
    entries: NDArray[np.floating] = master.first_entries()
    weights = np.zeros(0)
    upper = master.upper * (1 - 1e-9)
    seen = {bit_key(np.zeros(len(Z), np.uint8))}  # a constant bit separates nothing
    for t, draws in enumerate(rng.spawn(n_bits)):  # a generator a bit: kept bits do not change later ones
        began = time.perf_counter()
        with one_blas_thread():
            if t < len(kept):
                params, bit, redraws = kept[t], bit_values(family, Z, kept[t]), 0
            else:
                params, bit, redraws = new_bit(problem, entries, memoized, seen, draws)
            violation = score(graph.pair_weights(entries, entries.dtype), bit) - master.cost(bit)
            done = (
                stop_below is not None and violation <= stop_below and (not redraws or (weights < upper).all())
            )
            if done and t >= max(1, len(kept)):
                return
            entries = np.zeros(0)  # the old ones may be large
            weights, entries, objective, gap, rounds = master.add(bit)
        distinct = bit_key(bit) not in seen
        seen.add(bit_key(bit))
        seconds = time.perf_counter() - began
        yield Step(
            params, bit, weights, objective, gap, rounds, violation, redraws, distinct, seconds
        )  # fmt: skip


def new_bit(
    problem: Problem,
    entries: NDArray[np.floating],
    start: Any,
    seen: set[bytes],
    rng: np.random.Generator,
) -> tuple[Params, NDArray[np.uint8], int]:
    """Learn a bit that is neither an old bit nor the complement of one.

    Once no better bit exists, the dual alone would give the same bit every time. So after a repeat the queries
    get random weights, and the search begins at random planes. If one bit always wins, the last attempts weigh
    only pairs that this bit does not separate.

    Parameters
    ----------
    problem : Problem
    entries : floating (E,)
        Entry weights of the dual.
    start : Start
    seen : set of bytes
        `bit_key` of the bits so far.
    rng : Generator

    Returns
    -------
    params : dict of arrays
    bit : uint8 (n,)
    redraws : int
        Failed attempts.
    """
    Z, graph, master, family = problem.Z, problem.graph, problem.master, problem.function.family
    if not entries.any():  # nothing is violated: every comparison counts again
        entries = master.first_entries()
    bit = np.zeros(len(Z), np.uint8)
    for attempt in range(MAX_REDRAWS + 1):
        drawn, begin = entries, start
        if attempt:
            drawn, begin = graph.by_entry(rng.exponential(size=graph.n_points)) * entries, RandomPlanes()
        if attempt > MAX_REDRAWS // 2:
            drawn = rng.exponential(size=len(entries)) * (graph.differ(bit) == 0)
        pairs = master.charge_costs(graph.pair_weights(drawn, Z.dtype))
        params = family.learn(Z, pairs, rng, begin, retry=attempt > 0)
        bit = bit_values(family, Z, params)
        if bit_key(bit) not in seen:
            break
    return params, bit, attempt


def bit_values(family: Family, Z: NDArray[Any], params: Params) -> NDArray[np.uint8]:
    """Values of one bit on the training points.

    Parameters
    ----------
    family : Family
    Z : ndarray (n, m)
        Features.
    params : dict of arrays
        Of one bit.

    Returns
    -------
    ndarray uint8 (n,)
    """
    return (family.decide(Z, params)[:, 0] > 0).astype(np.uint8)


def bit_key(bit: NDArray[np.uint8]) -> bytes:
    """The same bytes for a bit and its complement."""
    return np.packbits(bit ^ bit[0]).tobytes()
