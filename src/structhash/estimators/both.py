"""The two methods the package is about: CGHash for triplets, StructHash for ranking measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from structhash.codes.planes import Planes
from structhash.estimators.base import HashEncoder
from structhash.masters.hinge import HingeMaster
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules.base import Schedule
from structhash.masters.triplet import TripletMaster
from structhash.pair_weights import Comparisons, PairGraph
from structhash.pieces import is_auto, load
from structhash.supervision import Qrels, Supervision, is_indicator
from structhash.training.column_generation import Master, Step
from structhash.training.fitting import (
    check_settings,
    distil,
    family_bits,
    family_planes,
    from_judgements,
    learn,
    threads,
)
from structhash.training.judgements import RANKING
from structhash.training.selection import distils


class CGHash(HashEncoder):
    """Binary codes from triplets by column generation (Section 2, Algorithm 1).

    Minimises ||w||_1 + C mean f(w'dh) over weights and bits, where w'dh of a triplet (i, j, k) is how much
    farther i is from k than from j. ``regularizer="linf:bound=0.5"`` bounds every weight instead of ||w||_1.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    loss : str or piece
        Triplet loss, ``names("losses")``. ``"hinge"`` is not smooth: its weights come from cutting planes, far
        more slowly; a tolerance of 1e-4 helps.
    regularizer : str or piece
        ``names("regularizers")``.
    family : str or piece
        Kind of bit, ``names("families")``.
    start : str or piece
        Where the search for a bit begins, ``names("starts")``.
    schedule : str or piece
        ``"totally_corrective"`` moves all weights at every bit; ``"stagewise"`` leaves them equal.
    C : float or "auto"
        Weight of the mean loss over triplets. Raise it when `history_` shows redraws. ``"auto"`` takes 30, 300
        or 3,000, the one whose codes find held-out rows best: it needs labels, one a row, of which a quarter
        are held out, and begins no further value that would probably end more than a minute after the first
        began. The bits are then learned from all rows.
    n_near, n_far : int
        Relevant and irrelevant partners drawn for each point where `y` is labels; their products are the
        triplets.
    tolerance : float
        Relative duality gap at which the weights are good enough.
    stop_at_optimum : bool
        End early, with fewer bits, where no bit was found whose `violation` in `history_` would be above the
        tolerance. That is a certificate of the optimum only for families that search exactly (stumps) and for
        the totally corrective schedule; for others it says that no better bit was found.
        A bit whose weight is at an upper bound (``"linf"``) may hide better ones: learning then goes on.
    warm_start : bool
        Keep the bits of the last fit and learn only those that a raised `n_bits` asks for. With the same X, y,
        settings and integer random_state the outcome is that of learning all at once; ``C="auto"`` keeps the
        C of that fit.
    random_state : int, RandomState, Generator or None
    n_jobs : int or None
        Threads over queries, -1 for all cores; the result does not depend on it.

    Attributes
    ----------
    n_bits_, weights_, weighted_, history_ : see `HashEncoder`
    step_weights_ : ndarray (n_bits, n_bits)
        Row t - 1 holds the weights of the first t bits.
    n_skipped_ : int
        Training points that are no query: those without a relevant or without an irrelevant partner.
    C_ : float
        C as set or, with ``C="auto"``, as chosen.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = CGHash(n_bits=8, random_state=0).fit(X[:300], y[:300])
    >>> encoder.encode(X[300:]).shape
    (1497, 1)
    """

    C_: float
    usual_C: ClassVar[float] = 300.0

    def __init__(
        self,
        n_bits: int = 64,
        *,
        loss: Any = "squared_hinge",
        regularizer: Any = "l1",
        family: Any = "linear",
        start: Any = "spectral",
        schedule: Any = "totally_corrective",
        C: float | str = usual_C,
        n_near: int = 50,
        n_far: int = 100,
        tolerance: float = 1e-6,
        stop_at_optimum: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_bits = n_bits
        self.loss = loss
        self.regularizer = regularizer
        self.family = family
        self.start = start
        self.schedule = schedule
        self.C = C
        self.n_near = n_near
        self.n_far = n_far
        self.tolerance = tolerance
        self.stop_at_optimum = stop_at_optimum
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the bits of X (n, d) from labels (n,), indicators (n, L) of 0/1, or a supervision."""
        for _ in self.steps(X, y):
            pass
        return self

    def steps(self, X: Any, y: Any) -> Iterator[Step]:
        """`fit` as a generator, one `Step` a bit; the model is fitted once it is exhausted."""
        loss = load("losses", self.loss)
        regularizer = load("regularizers", self.regularizer)
        n_jobs = threads(self.n_jobs)
        check_settings(self)

        kind = TripletMaster if loss.smooth else HingeMaster

        def master(rankings: Comparisons, graph: PairGraph, schedule: Schedule) -> Master:
            return kind(rankings, graph, loss, regularizer, schedule, self.C_, self.tolerance, n_jobs=n_jobs)

        return learn(self, X, y, master)

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        return family_bits(self, X)

    def _planes(self) -> Planes | None:
        return family_planes(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class StructHash(HashEncoder):
    """Binary codes that rank well, by column generation (Section 3, Algorithms 2 and 3).

    With no settings it distils: an embedding is fitted, and each bit is a plane in it that brings the order by
    Hamming distance nearer to the embedding's own (`structhash.masters.listwise`). That is the recommended
    method. With a `ranking` it is the paper's: ||w||_1 + C mean_i xi_i is minimised, xi_i being the structured
    hinge loss of query i's ranking by weighted Hamming distance.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    ranking : str or piece
        ``"auto"`` distils where `y` is labels or None and the schedule is stage-wise, else it is ``"sndcg"``.
        Given judgements (`Qrels`) it takes that only where judged queries, left out, find more by it than by
        what is distilled from X alone.
        Or a measure: ``"auc"``, ``"ndcg:k=100"``, ``"sndcg"``; ``names("rankings")`` lists all.
    embedding : str or piece
        What is distilled, ``names("embeddings")``: ``"posterior"``, class probabilities, for classes that `y`
        has; ``"manifold"``, with `unlabeled` rows, or ``"metric"``, without, for classes it lacks, such as new
        products or new people; ``"cosine"`` without labels.
        ``"auto"`` is the last without labels; with them the first, but if `unlabeled` rows are of new classes,
        as is seen from how unsure the first is of them, the second, or the third where they are fewer than
        1,500. A `ranking` uses none.
    regularizer, family, start : str or piece
        As in `CGHash`; distilling has no regulariser.
    schedule : str or piece
        ``"stagewise"`` trains fast and gives codes for plain Hamming distance; ``"totally_corrective"`` moves
        all weights at every bit.
    C : float or "auto"
        Weight of the mean loss over queries; of a `ranking` only, like the next three. Raise it when
        `history_` shows redraws. ``"auto"`` takes 3, 30 or 300, chosen as in `CGHash`; where an embedding is
        distilled there is nothing to choose.
    n_near, n_far : int
        Relevant and irrelevant partners drawn for each point where `y` is labels.
    tolerance : float
        Cutting-plane tolerance, in units of the mean loss.
    stop_at_optimum, warm_start : bool
        As in `CGHash`.
    random_state : int, RandomState, Generator or None
    n_jobs : int or None
        Threads over queries, -1 for all cores; the result does not depend on it.

    Attributes
    ----------
    n_bits_, weights_, weighted_, history_, step_weights_, n_skipped_ : as in `CGHash`
    embedding_, embedding_state_
        The embedding, None where none was distilled, and its arrays.
    row_power_, query_powers_ : float and ndarray of float
        Where ``"posterior"`` was distilled: to which powers class probabilities are raised before rows and
        queries are coded, queries at 1, 2, 4, ... bits and those up to the next.
    C_ : float or None
        As in `CGHash`; None where an embedding was distilled.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = StructHash(n_bits=8, random_state=0).fit(X[:300], y[:300])
    >>> encoder.encode(X[300:]).shape
    (1497, 1)
    """

    C_: float
    usual_C: ClassVar[float] = 30.0

    def __init__(
        self,
        n_bits: int = 64,
        *,
        ranking: Any = "auto",
        embedding: Any = "auto",
        regularizer: Any = "l1",
        family: Any = "linear",
        start: Any = "spectral",
        schedule: Any = "stagewise",
        C: float | str = usual_C,
        n_near: int = 50,
        n_far: int = 100,
        tolerance: float = 1e-3,
        stop_at_optimum: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_bits = n_bits
        self.ranking = ranking
        self.embedding = embedding
        self.regularizer = regularizer
        self.family = family
        self.start = start
        self.schedule = schedule
        self.C = C
        self.n_near = n_near
        self.n_far = n_far
        self.tolerance = tolerance
        self.stop_at_optimum = stop_at_optimum
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, unlabeled: Any = None) -> Self:
        """Learn the bits of X (n, d) from labels (n,), indicators (n, L) of 0/1, a supervision, or X alone.

        Parameters
        ----------
        unlabeled : array (m, d), optional
            Rows like those to be searched, such as the database itself: where something is distilled, bits are
            made for these, while `y` says what makes rows of X alike. They may be of classes that y lacks.
        """
        for _ in self.steps(X, y, unlabeled=unlabeled):
            pass
        return self

    def steps(self, X: Any, y: Any = None, *, unlabeled: Any = None) -> Iterator[Step]:
        """`fit` as a generator, one `Step` a bit; the model is fitted once it is exhausted."""
        ranking = load("rankings", RANKING if is_auto(self.ranking) else self.ranking)
        regularizer = load("regularizers", self.regularizer)
        n_jobs = threads(self.n_jobs)
        check_settings(self)
        distilled = distils(self) and plain(y)
        unused = [] if unlabeled is None else ["unlabeled rows are"]
        unused += [] if is_auto(self.embedding) else [f"embedding={self.embedding!r} is"]
        if unused and not distilled:
            raise ValueError(
                f"{unused[-1]} for labels, one a row, or none, with ranking='auto' and schedule='stagewise'; "
                f"here ranking={self.ranking!r}, schedule={self.schedule!r}, y is of type {type(y).__name__}: "
                "leave out the one or the other"
            )
        if distilled:
            return distil(self, X, y, unlabeled)
        if y is None:
            raise ValueError(
                f"ranking={self.ranking!r} requires y to be passed: labels or a supervision; X alone will do "
                "only with ranking and schedule as they are by default"
            )

        def master(rankings: Comparisons, graph: PairGraph, schedule: Schedule) -> RankingMaster:
            return RankingMaster(
                rankings, graph, ranking, regularizer, schedule, self.C_, self.tolerance, n_jobs=n_jobs
            )

        return (from_judgements if distils(self) and isinstance(y, Qrels) else learn)(self, X, y, master)

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        return family_bits(self, X)

    def _query_power(self, n_bits: int) -> float | None:
        if not hasattr(self, "query_powers_"):
            return None
        power = float(self.query_powers_[n_bits.bit_length() - 1])
        return None if power == self.row_power_ else power

    def _query_bits(self, X: NDArray[Any], power: float) -> NDArray[np.bool_]:
        return family_bits(self, X, power)

    def _planes(self) -> Planes | None:
        return family_planes(self)


def plain(y: Any) -> bool:
    """Whether y is no supervision, nor says which of several labels a row has."""
    return not isinstance(y, Supervision) and not is_indicator(y)
