"""The bits of a code, learned from a fitted embedding and, where it has row bits, from the rows themselves."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from structhash.families.base import Family
from structhash.training.column_generation import learn
from structhash.training.distillation import EmbeddedPoints, problem_from_embedding
from structhash.training.hash_function import HashFunction
from structhash.training.problem import Learned, Plan, Step
from structhash.training.query_temperature import with_query_temperatures
from structhash.training.row_bits import Interleaved, is_row_bit, n_class_bits, n_row_bits, n_row_bits_among

__all__ = ["learn_distilled"]


def learn_distilled(
    points: EmbeddedPoints,
    embed_rows: Callable[[np.random.Generator], EmbeddedPoints] | None,
    family: Family,
    plan: Plan,
    class_index: NDArray[np.int64] | None,
    rng: np.random.Generator,
) -> Generator[Step, None, Learned]:
    """Distil an embedding, and the rows themselves where the code has row bits.

    Parameters
    ----------
    points : EmbeddedPoints
    embed_rows : callable or None
        Gives the embedding of the row bits (`structhash.training.row_bits`), drawn by a generator. None for a
        code without row bits.
    family : Family
    plan : Plan
        Of all bits.
    class_index : int64 (n,) or None
        By which the temperatures of queries are chosen.
    rng : Generator

    Yields
    ------
    Step
        One a bit: the class bits come first.

    Returns
    -------
    Learned
    """
    plan_of_classes, plan_of_rows = (plan, plan) if embed_rows is None else _split(plan)
    problem = problem_from_embedding(points, family, plan_of_classes.n_bits, rng)
    rng_of_rows = np.random.default_rng(rng.integers(2**63))
    learned = yield from learn(problem, plan_of_classes, rng)
    if class_index is not None and isinstance(learned.function, HashFunction):
        function = with_query_temperatures(learned.function, points, class_index)
        learned = replace(learned, function=function)
    n_rows = min(n_row_bits_among(learned.function.n_bits), plan_of_rows.n_bits)
    if embed_rows is None or not n_rows:
        return learned
    problem = problem_from_embedding(embed_rows(rng_of_rows), family, n_rows, rng_of_rows)
    of_rows = yield from learn(problem, replace(plan_of_rows, n_bits=n_rows), rng_of_rows)
    return _interleave(learned, of_rows)


def _split(plan: Plan) -> tuple[Plan, Plan]:
    """The plans of the class bits and of the row bits. Row bits do not end early.

    ValueError if the bits to keep have no row bits where this code has some.
    """
    kept, records = plan.kept, plan.kept_history
    if isinstance(kept, HashFunction) and n_row_bits(kept.n_bits):
        raise ValueError(
            "warm_start=True goes on with the same bits; the earlier ones have no row bits, which "
            "embedding='auto' adds: give the embedding of the earlier fit"
        )
    parts = (kept.classes, kept.rows) if isinstance(kept, Interleaved) else (kept, None)
    of_row = is_row_bit(len(records))
    histories = [
        [each for each, row in zip(records, of_row, strict=True) if row == wanted] for wanted in (False, True)
    ]
    return (
        Plan(plan.start, n_class_bits(plan.n_bits), plan.stop_below, parts[0], histories[0]),
        Plan(plan.start, n_row_bits(plan.n_bits), None, parts[1], histories[1]),
    )


def _interleave(classes: Learned, rows: Learned) -> Learned:
    """One code of class bits and row bits; the weight of each prefix is that of its class bits."""
    if not isinstance(classes.function, HashFunction) or not isinstance(rows.function, HashFunction):
        raise TypeError("the parts are interleaved already")
    function = Interleaved(classes.function, rows.function)
    n_bits, of_row = function.n_bits, is_row_bit(function.n_bits)
    prefix_weights, history = np.zeros((n_bits, n_bits)), []
    parts = {False: iter(classes.history), True: iter(rows.history)}
    for t in range(n_bits):
        prefix_weights[t, : t + 1] = classes.prefix_weights[n_class_bits(t + 1) - 1, 0]
        history.append({**next(parts[bool(of_row[t])]), "bit": t})
    return Learned(function, prefix_weights[-1], prefix_weights, history, False, classes.n_skipped)
