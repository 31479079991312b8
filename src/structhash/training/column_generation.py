"""Column generation: one bit after another, each the answer to the dual of all before it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from structhash.families.base import Family
from structhash.families.starts.base import Start
from structhash.families.starts.random_planes import RandomPlanes
from structhash.masters.base import Solution
from structhash.pair_weights import PairGraph, score
from structhash.pieces import Params

REDRAWS = 20  # attempts at a bit that is not there yet


class Step(NamedTuple):
    """One learned bit and the state of the master with it."""

    params: Params  # of the family, leading axis 1
    bit: NDArray[np.uint8]  # on the training points (n,)
    weights: NDArray[np.float64]  # of all bits so far
    objective: float  # of the master
    gap: float  # duality or cutting-plane gap, see the master
    rounds: int  # evaluations of all rankings or triplets
    violation: float  # h'Lh - cost of the new bit before it came in: > 0 where it helps
    redraws: int  # attempts that gave a bit already there
    distinct: bool  # False where no new bit was found
    seconds: float


class Master(Protocol):
    """Weights for the bits so far, and from their dual what the next bit should do."""

    regularizer: Any

    def start(self) -> NDArray[np.floating]: ...

    def add(self, bit: NDArray[np.uint8]) -> Solution: ...


def column_generation(
    Z: NDArray[Any],
    graph: PairGraph,
    master: Master,
    family: Family,
    start: Start,
    n_bits: int,
    rng: np.random.Generator,
    enough: float | None = None,
    known: Sequence[Params] = (),
) -> Iterator[Step]:
    """Algorithms 1 and 3 of the paper, a step a bit.

    Parameters
    ----------
    Z : ndarray (n, d)
        Features of the training points, as the family makes them.
    graph : PairGraph
        Which points the master compares.
    master, family, start
        The pieces.
    n_bits : int
    rng : numpy Generator
    enough : float, optional
        End, after one bit at least, where the new bit's `violation` is no more than this. That proves the
        optimum only for a family that searches exactly and a master that moves all weights. Where the family's
        first answer is an old bit and a weight is at its upper bound, nothing is known and learning goes on.
    known : sequence of dict
        Parameters of first bits that are there already: only their weights are learned.

    Yields
    ------
    Step
    """
    blas, start = ThreadpoolController(), partial(start, memo={})
    entries: NDArray[np.floating] = master.start()
    weights = np.zeros(0)
    upper = master.regularizer.upper * (1 - 1e-9)
    seen = {key(np.zeros(len(Z), np.uint8))}  # a constant bit says nothing
    for t, draws in enumerate(rng.spawn(n_bits)):  # a generator a bit: known bits do not change later ones
        began = time.perf_counter()
        with blas.limit(limits=1, user_api="blas"):
            if t < len(known):
                params, bit, redraws = known[t], values(family, Z, known[t]), 0
            else:
                params, bit, redraws = new_bit(Z, graph, entries, master, family, start, seen, draws)
            violation = score(graph.pair_weights(entries, entries.dtype), bit) - master.regularizer.cost(bit)
            done = enough is not None and violation <= enough and (not redraws or (weights < upper).all())
            if done and t >= max(1, len(known)):
                return
            entries = np.zeros(0)  # the old ones may be large
            weights, entries, objective, gap, rounds = master.add(bit)
        distinct = key(bit) not in seen
        seen.add(key(bit))
        seconds = time.perf_counter() - began
        yield Step(
            params, bit, weights, objective, gap, rounds, violation, redraws, distinct, seconds
        )  # fmt: skip


def new_bit(
    Z: NDArray[Any],
    graph: PairGraph,
    entries: NDArray[np.floating],
    master: Master,
    family: Family,
    start: Start,
    seen: set[bytes],
    rng: np.random.Generator,
) -> tuple[Params, NDArray[np.uint8], int]:
    """A bit that is no old one nor its complement: parameters, values (n,), failed attempts.

    The dual alone would give the same bit for ever once no better one is found. So after a repeat the queries
    are weighted anew at random, and the search begins at random planes. Where one bit answers every such
    weighting, as on well separated classes, the last attempts ask to part what it leaves together.
    """
    if not entries.any():  # nothing is violated: every comparison counts again
        entries = master.start()
    charge = master.regularizer.charge
    bit = np.zeros(len(Z), np.uint8)
    for attempt in range(REDRAWS + 1):
        if attempt:
            drawn = graph.by_entry(rng.exponential(size=graph.n_points)) * entries
            if attempt > REDRAWS // 2:
                drawn = rng.exponential(size=len(entries)) * (graph.differ(bit) == 0)
            params = family.learn(Z, charge(graph.pair_weights(drawn, Z.dtype)), rng, RandomPlanes())
        else:
            params = family.learn(Z, charge(graph.pair_weights(entries, Z.dtype)), rng, start)
        bit = values(family, Z, params)
        if key(bit) not in seen:
            break
    return params, bit, attempt


def values(family: Family, Z: NDArray[Any], params: Params) -> NDArray[np.uint8]:
    """One bit on features Z (n, d), uint8 (n,)."""
    return (family.decide(Z, params)[:, 0] > 0).astype(np.uint8)


def key(bit: NDArray[np.uint8]) -> bytes:
    """The same for a bit and its complement."""
    return np.packbits(bit ^ bit[0]).tobytes()
