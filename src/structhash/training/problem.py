"""The input and the output of column generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structhash.families.starts.base import Start
from structhash.masters.base import Master
from structhash.pair_weights import PairGraph
from structhash.pieces import Params
from structhash.training.hash_function import BitFunction, HashFunction

__all__ = ["Learned", "Plan", "Problem", "Step"]

_RECORDED = ("objective", "gap", "rounds", "violation", "redraws", "distinct", "seconds")


@dataclass(frozen=True)
class Problem:
    """A learning problem: the points, who is compared with whom, and the master.

    It is used once: the master collects the bits that are added.

    `structhash.training.comparisons` builds it from labels, triplets, judgements or neighbours, and
    `structhash.training.distillation` from an embedding.

    Attributes
    ----------
    Z : ndarray (n, m)
        Features of the training points, as the family makes them.
    graph : PairGraph
    master : Master
    function : HashFunction
        Embedding and family with their states, and no bits yet.
    weighted : bool
        Whether search should use the weights.
    n_skipped : int
        Queries that were skipped: those without a relevant or without an irrelevant partner.
    """

    Z: NDArray[Any]
    graph: PairGraph
    master: Master
    function: HashFunction
    weighted: bool = False
    n_skipped: int = 0


@dataclass(frozen=True)
class Plan:
    """How bits are generated.

    Attributes
    ----------
    start : Start
        Where the search for a bit begins.
    n_bits : int
    stop_below : float or None
        End early where the best new bit has no higher `violation`: see `column_generation`.
    kept : BitFunction or None
        Its bits come first, and only their weights are learned (a warm start).
    kept_history : list of dict
        Records of these bits.
    """

    start: Start
    n_bits: int
    stop_below: float | None = None
    kept: BitFunction | None = None
    kept_history: Sequence[dict[str, Any]] = ()


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


@dataclass(frozen=True)
class Learned:
    """The result of a fit.

    Attributes
    ----------
    function : BitFunction
    weights : float64 (n_bits,)
    prefix_weights : float64 (n_bits, n_bits)
        Row t - 1 holds the weights of the first t bits.
    history : list of dict
        A record a bit, with the fields of `Step` that are numbers.
    weighted : bool
    n_skipped : int
    """

    function: BitFunction
    weights: NDArray[np.float64]
    prefix_weights: NDArray[np.float64]
    history: list[dict[str, Any]]
    weighted: bool
    n_skipped: int

    @classmethod
    def from_steps(cls, problem: Problem, steps: Sequence[Step], kept: Sequence[dict[str, Any]] = ()) -> Self:
        """Collect the steps of a problem.

        Parameters
        ----------
        problem : Problem
        steps : sequence of Step
            All of them, those of kept bits included.
        kept : sequence of dict
            Records of first bits that an earlier fit learned; they stay as they are.

        Returns
        -------
        Learned
        """
        prefix_weights = np.zeros((len(steps), len(steps)))
        for t, step in enumerate(steps):
            prefix_weights[t, : t + 1] = step.weights
        new = [
            {"bit": t, **{name: getattr(steps[t], name) for name in _RECORDED}}
            for t in range(len(kept), len(steps))
        ]
        return cls(
            problem.function.with_bits([step.params for step in steps]),
            steps[-1].weights,
            prefix_weights,
            [*kept, *new],
            problem.weighted,
            problem.n_skipped,
        )

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes of an estimator."""
        return {
            "n_bits_": self.function.n_bits,
            "weights_": self.weights,
            "prefix_weights_": self.prefix_weights,
            "history_": self.history,
            "weighted_": self.weighted,
            "n_skipped_": self.n_skipped,
            "hash_function_": self.function,
        }
