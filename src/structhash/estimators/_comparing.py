"""The base class of CGHash and StructHash: they learn from comparisons, and C weighs the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import read_labels
from structhash._numerics.randomness import generator
from structhash._numerics.threads import n_threads
from structhash._numerics.validation import check_positive
from structhash.estimators._auto_C import MAX_C, choose_C, values_around
from structhash.estimators._input import CheckedInput, open_queries
from structhash.estimators._learned import LEARNED_FIELDS, LearnedEncoder, warn_about
from structhash.families.base import Family
from structhash.families.starts.base import Start
from structhash.io.fields import Field, Fields
from structhash.masters.base import Master
from structhash.masters.schedules.base import Schedule
from structhash.pair_weights import Comparisons, PairGraph
from structhash.pieces import is_auto, load
from structhash.supervision import Labels, Qrels, Supervision
from structhash.supervision.base import check_partners
from structhash.supervision.labels import check_classes
from structhash.training.column_generation import learn
from structhash.training.comparisons import problem_from_comparisons
from structhash.training.hash_function import BitFunction
from structhash.training.problem import Step


class Pieces(NamedTuple):
    """The pieces that both methods name in their settings."""

    family: Family
    start: Start
    schedule: Schedule
    objective: Any  # a loss or a ranking
    regularizer: Any


class ComparingEncoder(LearnedEncoder):
    """An estimator that learns from comparisons.

    A subclass names its `usual_C` and `objective_kind`, and gives `_objective` and `_master_class`.
    """

    usual_C: ClassVar[float]
    objective_kind: ClassVar[str]  # of piece, in the plural
    takes_supervision: ClassVar[bool] = True
    fitted_fields: ClassVar[Fields | None] = (*LEARNED_FIELDS, Field("C_", positive=True))
    C_: float

    family: Any
    start: Any
    schedule: Any
    regularizer: Any
    C: float | str
    n_near: int
    n_far: int
    n_jobs: int | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn bits from comparisons.

        Parameters
        ----------
        X : array (n, d)
            Training rows, or documents where y is `Qrels` with query vectors. The codes depend on their numbers
            alone, not on their type or order in memory. Rows that float32 holds exactly are learned from in
            float32, all others in float64.
        y : array (n,), array (n, L) or Supervision
            A label a row (text, bytes, booleans, whole numbers or dates; -1 is a class like any other); 0/1
            indicators of L labels, which are classes where each row has exactly one; or `Labels`, `Triplets`,
            `Neighbours`, `Qrels`.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a setting, X or y is not allowed. The estimator then stays as it was.
        """
        for _ in self.steps(X, y):
            pass
        return self

    def steps(self, X: Any, y: Any = None) -> Iterator[Step]:
        """`fit` as a generator, one `Step` a bit; the estimator is fitted once it is exhausted."""
        return self._learn(X, y, self._load_pieces())

    def check_settings(self) -> None:
        """Refuse settings that are not allowed; see `HashEncoder.check_settings`."""
        self._load_pieces()

    def learns_from_judgements(self) -> bool:
        """Whether `fit` takes `Qrels`; it does not where labels choose C."""
        return not is_auto(self.C)

    def alternatives(self) -> list[tuple[str, Any]]:
        """This encoder, values around its C, and the family ``"rbf"``; see `HashEncoder.alternatives`."""
        grid = super().alternatives()
        if not is_auto(self.C):
            grid += [(f"C={C:g}", self._variant(C=C)) for C in values_around(float(self.C))[1:]]
        if self.family == "linear":
            grid.append(("family=rbf", self._variant(family="rbf")))
        return grid

    def about(self) -> dict[str, Any]:
        """C as set or as chosen; see `HashEncoder.about`."""
        return {"C": self.C_}

    def _objective(self) -> Any:
        """The setting that names the loss or the ranking."""
        raise NotImplementedError

    def _master_class(self, objective: Any) -> Callable[..., Master]:
        """The master that minimises the objective."""
        raise NotImplementedError

    def _load_pieces(self) -> Pieces:
        """The pieces of this encoder's settings, after a check of the others."""
        objective = load(self.objective_kind, self._objective())
        self._check_shared_settings()
        n_threads(self.n_jobs)
        if not is_auto(self.C):
            try:
                check_positive("C", self.C, most=MAX_C)
            except ValueError as error:
                raise ValueError(f"{error}, or 'auto'") from None
        check_partners(self.n_near, self.n_far)
        return Pieces(
            load("families", self.family),
            load("starts", self.start),
            load("schedules", self.schedule),
            objective,
            load("regularizers", self.regularizer),
        )

    def _learn(self, X: Any, y: Any, pieces: Pieces) -> Iterator[Step]:
        checked, supervision, class_index = self._check_data(X, y)
        plan = self._plan(pieces.start)
        C = self._settle_C(checked.X, class_index, plan.kept)

        def make_master(comparisons: Comparisons, graph: PairGraph) -> Master:
            parts = pieces.objective, pieces.regularizer, pieces.schedule
            kind, n_jobs = self._master_class(pieces.objective), n_threads(self.n_jobs)
            return kind(comparisons, graph, *parts, C, self.tolerance, n_jobs=n_jobs)

        rng = generator(self.random_state)
        problem = problem_from_comparisons(
            checked.X, supervision, pieces.family, pieces.schedule, make_master, rng
        )
        learned = yield from learn(problem, plan, rng)
        warn_about(learned, self.n_bits, C, checked.X, class_index)
        self._store(checked.columns, {**learned.attributes(), "C_": C, "judged_": isinstance(y, Qrels)})

    def _check_data(self, X: Any, y: Any) -> tuple[CheckedInput, Supervision, NDArray[np.int64] | None]:
        """X after the checks, y as a supervision, and the class of each row where y is one label a row."""
        if y is None:
            raise ValueError(
                "the method requires y to be passed, but the target y is None; give labels, "
                "Neighbours, Triplets or Qrels"
            )
        if isinstance(y, Supervision):
            self._refuse_auto_C(f"type {type(y).__name__}")
            checked = self._check_input(X)  # a supervision may compute with X, so X is floats
            return checked, open_queries(self, checked, y), None
        checked = self._check_input(X, keep=True)
        labels, supervision = read_labels(y, len(checked.X)), Labels(y, self.n_near, self.n_far)
        if labels.indicators is not None:
            self._refuse_auto_C("several labels a row")
            return checked, supervision, None
        check_classes(labels.values, labels.class_index)
        return checked, supervision, labels.class_index

    def _refuse_auto_C(self, given: str) -> None:
        """ValueError where C is to be chosen by labels and y is something else."""
        if is_auto(self.C):
            raise ValueError(
                f"C='auto' is chosen by labels, one a row; y is of {given}: give such labels, or a "
                f"number for C, such as {self.usual_C:g}"
            )

    def _settle_C(
        self, X: NDArray[Any], class_index: NDArray[np.int64] | None, kept: BitFunction | None
    ) -> float:
        """C as set, or the C of the kept bits, or the C that held-out rows choose."""
        if not is_auto(self.C):
            return self.C  # type: ignore[return-value]
        if kept is not None:
            return self.C_
        assert class_index is not None  # `_refuse_auto_C`
        return choose_C(self, self.usual_C, X, class_index)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
