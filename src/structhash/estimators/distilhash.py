"""DistilHash: codes that rank as an embedding of the rows does."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from structhash._numerics.randomness import generator
from structhash.embeddings.base import Embedding
from structhash.embeddings.centered import Centered
from structhash.estimators._input import CheckedInput, open_queries, refuse_supervision
from structhash.estimators._learned import LEARNED_FIELDS, warn_about
from structhash.estimators._query_mapping import QueryMappingEncoder, used_judgements
from structhash.estimators._unlabeled import check_unlabeled
from structhash.estimators.structhash import StructHash
from structhash.families.base import Family
from structhash.families.starts.base import Start
from structhash.io.fields import Field, Fields
from structhash.pieces import is_auto, load, spell
from structhash.supervision import Qrels, check_labels
from structhash.training.column_generation import finish, learn
from structhash.training.distillation import embed_points
from structhash.training.distilled import learn_distilled
from structhash.training.embedding_choice import choose_embedding, warn_without_unlabeled
from structhash.training.hash_function import BitFunction
from structhash.training.judgements import (
    JUDGED_RANKING,
    JudgedFolds,
    judgements_help,
    problem_from_judgements,
    relevant_documents,
    with_query_map,
)
from structhash.training.problem import Learned, Step

__all__ = ["DistilHash"]

logger = logging.getLogger("structhash")


class _Pieces(NamedTuple):
    """The pieces that the settings name; the embedding is None where the method chooses it."""

    embedding: Embedding | None
    family: Family
    start: Start

    def read_labels(self, y: Any, n_rows: int, unlabeled: Any) -> NDArray[Any]:
        """Class numbers (n,), or indicators (n, L) where rows have several labels; ValueError if unsuitable."""
        single_rows = unlabeled is not None and (self.embedding is None or self.embedding.takes_single_rows)
        labels = check_labels(y, n_rows, single_rows)
        if labels.ndim == 2 and self.embedding is not None and not self.embedding.takes_several_labels:
            raise ValueError(
                f"embedding={spell(self.embedding)!r} learns from one label a row, and rows of y have several "
                "labels or none: give embedding='multilabel' or 'auto'"
            )
        return labels


class _Choice(NamedTuple):
    """What was learned, and why."""

    learned: Learned
    reason: str

    def by_documents(self, function: BitFunction) -> Self:
        """The choice of this function, which gives rows the codes that the documents alone ask for."""
        mapped = function.row_function is not function
        reason = f"{'a query map helps' if mapped else 'judgements do not help'} held-out queries"
        return self._replace(learned=replace(self.learned, function=function), reason=reason)

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes of an estimator."""
        judged = used_judgements(self.learned.function)
        return {**self.learned.attributes(), "judged_": judged, "reason_": self.reason}


class DistilHash(QueryMappingEncoder):
    """Binary codes that rank as an embedding of the rows does. The recommended method.

    An embedding is fitted first. It measures how alike rows are. Then column generation adds bits one by one.
    Each brings the order by Hamming distance closer to the order by the embedding
    (`structhash.masters.listwise`). Search is by plain Hamming distance.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    embedding : str or piece
        What is distilled, ``names("embeddings")``. ``"posterior"``, class probabilities, serves the classes
        that y has. ``"multilabel"`` serves rows with several labels. ``"manifold"`` (with `unlabeled` rows) and
        ``"metric"`` (without) serve classes that y lacks. ``"class_directions"`` is that of `AdditiveHash`.
        ``"mixture"`` (with `unlabeled` rows) serves both in one database, and few labels. ``"centered"`` needs
        no labels. ``"auto"`` chooses by labels and `unlabeled` rows (`training.embedding_choice`); to
        ``"posterior"`` it adds row bits (`training.row_bits`). `embedding_` and the log report the choice.
    family : str or piece
        Kind of bit, ``names("families")``.
    start : str or piece
        Where the search for a bit begins, ``names("starts")``. Stumps and trees search exactly and ignore it.
    stop_at_optimum : bool
        End early, with fewer bits, where the best bit found has a `violation` in `history_` of no more than the
        tolerance.
    tolerance : float
        See `stop_at_optimum`. For judgements it is also the cutting-plane tolerance.
    warm_start : bool
        Keep the bits of the last fit and learn only those that a larger `n_bits` adds. It needs the same
        data, settings and integer random_state.
    random_state : int, RandomState, Generator or None
        Draws points, partners, anchors, starts and redraws. A number gives one model on one kind of processor
        with one version of the libraries; on another, the last digits of sums differ.

    Attributes
    ----------
    n_bits_, weights_, weighted_, history_ : see `HashEncoder`
    prefix_weights_, n_skipped_, hash_function_ : as in `CGHash`; with row bits, the last is `Interleaved`
    embedding_ : Embedding or None
        What was distilled. None where the codes were learned from judgements.
    judged_ : bool
        Whether codes of rows or of queries were learned from judgements. Where y was judgements and they were
        not used, ``reason_`` says why.
    reason_ : str
        Why the method took this embedding or learned from judgements; empty where a setting names the
        embedding.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> DistilHash(n_bits=8, random_state=0).fit(X[:300], y[:300]).encode(X[300:600]).shape
    (300, 1)
    """

    takes_unlabeled: ClassVar[bool] = True
    fitted_fields: ClassVar[Fields | None] = (*LEARNED_FIELDS, Field("reason_", kind="text"))
    reason_: str

    def __init__(
        self,
        n_bits: int = 64,
        *,
        embedding: Any = "auto",
        family: Any = "linear",
        start: Any = "spectral",
        stop_at_optimum: bool = False,
        tolerance: float = 1e-3,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.embedding = embedding
        self.family = family
        self.start = start
        self.stop_at_optimum = stop_at_optimum
        self.tolerance = tolerance
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, unlabeled: Any = None) -> Self:
        """Learn bits from labels, from judgements, or from the rows alone.

        Parameters
        ----------
        X : array (n, d)
            Training rows, or documents where y is `Qrels` with query vectors.
        y : array (n,), (n, L), Qrels or None
            A label a row, as `CGHash` takes them (-1 is a class like any other); or 0/1 indicators of L labels,
            of which a row may have several or none; or judgements. Judgements are used only where they help
            held-out judged queries: to map queries, or to learn all codes. Otherwise the codes are those of
            ``fit(X)``.
        unlabeled : array (m, d), optional
            Rows like those to be searched, such as the database itself, maybe of classes that y lacks. Bits are
            then learned from these rows; y defines which rows are alike. They are in the unit of X.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a setting, X, y or unlabeled is not allowed. The estimator then stays as it was.
        """
        for _ in self.steps(X, y, unlabeled=unlabeled):
            pass
        return self

    def steps(self, X: Any, y: Any = None, *, unlabeled: Any = None) -> Iterator[Step]:
        """`fit` as a generator; the estimator is fitted once it is exhausted.

        Parameters
        ----------
        X, y, unlabeled
            As in `fit`.

        Yields
        ------
        Step
            One a bit.
        """
        pieces = self._load_pieces()
        if isinstance(y, Qrels):
            return self._learn_judged(X, y, unlabeled, pieces)
        refuse_supervision(self, y, "labels of rows, from judgements or from X alone")
        return self._learn(X, y, unlabeled, pieces)

    def check_settings(self) -> None:
        """Refuse settings that are not allowed; see `HashEncoder.check_settings`."""
        self._load_pieces()

    def needs_y(self) -> bool:
        """Whether `fit` needs y: only where the named embedding learns from labels."""
        embedding = self._named_embedding()
        return embedding is not None and embedding.labelled

    def learns_from_judgements(self) -> bool:
        """Whether `fit` takes `Qrels`: only where no embedding is named."""
        return self._named_embedding() is None

    def alternatives(self) -> list[tuple[str, Any]]:
        """This encoder, several starts, and the paper's method; see `HashEncoder.alternatives`."""
        grid = super().alternatives()
        if self.start == "spectral":
            grid.append(("start=several", self._variant(start="several")))
        if is_auto(self.embedding) and self.family == "linear":
            other = StructHash(self.n_bits, family="rbf", start=self.start, random_state=self.random_state)
            grid.append(("structhash:family=rbf", other))
        return grid

    def about(self) -> dict[str, Any]:
        """What was distilled, why, and how queries are coded; see `HashEncoder.about`."""
        learned = (
            {"embedding": spell(self.embedding_)} if self.embedding_ else {"ranking": spell(JUDGED_RANKING)}
        )
        reason = {"because": self.reason_} if self.reason_ else {}
        return {**learned, **reason, **self._about_coding()}

    @property
    def embedding_(self) -> Embedding | None:
        """What was distilled; None where the codes were learned from judgements."""
        return self.hash_function_.embedding

    def _named_embedding(self) -> Embedding | None:
        """The embedding that the settings name; None for ``"auto"``."""
        if is_auto(self.embedding):
            return None
        named: Embedding = load("embeddings", self.embedding)
        return named

    def _load_pieces(self) -> _Pieces:
        """The pieces of this encoder's settings, after a check of the others."""
        self._check_shared_settings()
        return _Pieces(self._named_embedding(), load("families", self.family), load("starts", self.start))

    def _learn(self, X: Any, y: Any, unlabeled: Any, pieces: _Pieces) -> Iterator[Step]:
        """Distil, and become fitted."""
        if y is None and self.needs_y():
            other = "embedding='centered' or 'manifold'"
            raise ValueError(f"embedding={self.embedding!r} learns from labels: give y, or {other}")
        checked = self._check_input(X, keep=True)
        labels = None if y is None else pieces.read_labels(y, len(checked.X), unlabeled)
        others = None if unlabeled is None else check_unlabeled(self, checked, unlabeled)
        chosen = yield from self._distil(checked.X, labels, others, pieces)
        self._become(checked, chosen, labels, others)

    def _distil(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        pieces: _Pieces,
    ) -> Generator[Step, None, _Choice]:
        """Fit an embedding and learn bits from it."""
        embed_rows, reason = None, ""
        if pieces.embedding is None:
            points, rng, reason, row_bits = choose_embedding(X, labels, unlabeled, self.random_state)
            if row_bits:
                embed_rows = partial(embed_points, Centered(), X, None, unlabeled)
        else:
            warn_without_unlabeled(pieces.embedding, labels, unlabeled)
            rng = generator(self.random_state)
            points = embed_points(pieces.embedding, X, labels, unlabeled, rng)
        plan = self._plan(pieces.start)
        learned = yield from learn_distilled(points, embed_rows, pieces.family, plan, _one_a_row(labels), rng)
        return _Choice(learned, reason)

    def _rank(self, X: NDArray[Any], qrels: Qrels, pieces: _Pieces) -> Generator[Step, None, _Choice]:
        """Learn bits from judgements."""
        rng = generator(self.random_state)
        problem = problem_from_judgements(X, qrels, pieces.family, self.tolerance, rng)
        learned = yield from learn(problem, self._plan(pieces.start), rng)
        return _Choice(learned, "judgements help held-out queries")

    def _learn_judged(self, X: Any, qrels: Qrels, unlabeled: Any, pieces: _Pieces) -> Iterator[Step]:
        """Learn from the documents alone, then from judgements what helps, and become fitted."""
        if unlabeled is not None or pieces.embedding is not None:
            given = "unlabeled rows are" if unlabeled is not None else f"embedding={self.embedding!r} is"
            problem = f"{given} for labels, one a row, or none; here y is Qrels"
            raise ValueError(f"{problem}: leave out the one or the other")
        checked = self._check_input(X, keep=True)
        qrels = open_queries(self, checked, qrels)
        folds = JudgedFolds(checked.X, qrels, relevant_documents(checked.X, qrels))
        from_judgements = self._rank(checked.X, qrels, pieces)
        if (kept := self._kept()) and kept.embedding is None:
            chosen = yield from from_judgements
            self._become(checked, chosen._replace(reason=self.reason_))
            return

        def learn_from(part: Qrels) -> BitFunction:
            trial = clone(self)  # so that nothing is drawn from the random_state of this encoder
            return finish(trial._rank(checked.X, part, pieces))[1].learned.function

        steps, chosen = finish(self._distil(checked.X, None, None, pieces))
        function, precision = with_query_map(chosen.learned.function, folds)
        if not kept and judgements_help(precision, learn_from, folds):
            chosen = yield from from_judgements
        else:
            chosen = chosen.by_documents(function)
            logger.info("%s: rows are coded as the documents alone ask", chosen.reason)
            yield from steps
        self._become(checked, chosen)

    def _become(
        self, checked: CheckedInput, chosen: _Choice, labels: Any = None, unlabeled: Any = None
    ) -> None:
        warn_about(chosen.learned, self.n_bits, None, checked.X, _one_a_row(labels))
        searched = checked.X if unlabeled is None else unlabeled
        self._store_with_reader(searched, checked.columns, chosen.attributes())


def _one_a_row(labels: NDArray[Any] | None) -> NDArray[np.int64] | None:
    """Class numbers (n,), where each row has one label."""
    return labels if labels is not None and labels.ndim == 1 else None
