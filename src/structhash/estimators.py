"""The two methods the package is about: CGHash for triplets, StructHash for ranking measures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from structhash._sides import Planes
from structhash.colgen import Master, Step, column_generation
from structhash.encoder import HashEncoder, check_count, check_positive, generator, whole_or_nothing
from structhash.masters.hinge import HingeMaster
from structhash.masters.ranking import RankingMaster
from structhash.masters.schedules import Stagewise
from structhash.masters.triplet import TripletMaster
from structhash.pairs import PairGraph, pair_graph
from structhash.pieces import Params, Rankings, Schedule, load
from structhash.supervision import Supervision, as_supervision, is_indicator, points

logger = logging.getLogger(__name__)

LARGEST_C = 1e8  # beyond, the linear programmes of the master lose their digits


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
    C : float
        Weight of the mean loss over triplets. Raise it when `history_` shows redraws.
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
        settings and integer random_state the outcome is that of learning all at once.
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

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = CGHash(n_bits=8, random_state=0).fit(X[:300], y[:300])
    >>> encoder.encode(X[300:]).shape
    (1497, 1)
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        loss: Any = "squared_hinge",
        regularizer: Any = "l1",
        family: Any = "linear",
        start: Any = "spectral",
        schedule: Any = "totally_corrective",
        C: float = 300.0,
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

        kind = TripletMaster if loss.smooth else HingeMaster

        def master(rankings: Rankings, graph: PairGraph, schedule: Schedule) -> Master:
            return kind(rankings, graph, loss, regularizer, schedule, self.C, self.tolerance, n_jobs=n_jobs)

        return learn(self, X, y, master)

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        return family_bits(self, X)

    def _planes(self) -> Planes | None:
        return family_planes(self)

    def __sklearn_tags__(self) -> Any:
        return supervised(super().__sklearn_tags__())


class StructHash(HashEncoder):
    """Binary codes that optimise a ranking measure, by column generation (Section 3, Algorithms 2 and 3).

    Minimises ||w||_1 + C mean_i xi_i, xi_i being the structured hinge loss of query i's ranking by weighted
    Hamming distance.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    ranking : str or piece
        The measure: ``"auc"``, ``"ndcg:k=100"``, ``"sndcg"``; ``names("rankings")`` lists all.
    regularizer, family, start : str or piece
        As in `CGHash`.
    schedule : str or piece
        ``"stagewise"`` trains fast and gives codes for plain Hamming distance; ``"totally_corrective"`` moves
        all weights at every bit.
    C : float
        Weight of the mean loss over queries. Raise it when `history_` shows redraws.
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

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = StructHash(n_bits=8, ranking="auc", random_state=0).fit(X[:300], y[:300])
    >>> encoder.encode(X[300:]).shape
    (1497, 1)
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        ranking: Any = "sndcg",
        regularizer: Any = "l1",
        family: Any = "linear",
        start: Any = "spectral",
        schedule: Any = "stagewise",
        C: float = 30.0,
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
        ranking = load("rankings", self.ranking)
        regularizer = load("regularizers", self.regularizer)
        n_jobs = threads(self.n_jobs)

        def master(rankings: Rankings, graph: PairGraph, schedule: Schedule) -> RankingMaster:
            return RankingMaster(
                rankings, graph, ranking, regularizer, schedule, self.C, self.tolerance, n_jobs=n_jobs
            )

        return learn(self, X, y, master)

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        return family_bits(self, X)

    def _planes(self) -> Planes | None:
        return family_planes(self)

    def __sklearn_tags__(self) -> Any:
        return supervised(super().__sklearn_tags__())


def learn(
    encoder: Any, X: Any, y: Any, make_master: Callable[[Rankings, PairGraph, Schedule], Master]
) -> Iterator[Step]:
    """Fit `encoder` bit by bit; where that fails or is left half-way it stays as it was."""
    with whole_or_nothing(encoder):
        yield from bit_by_bit(encoder, X, y, make_master)


def bit_by_bit(
    encoder: Any, X: Any, y: Any, make_master: Callable[[Rankings, PairGraph, Schedule], Master]
) -> Iterator[Step]:
    """Check the input, draw the comparisons, generate columns, keep the outcome."""
    check_count("n_bits", encoder.n_bits)
    check_positive("C", encoder.C, most=LARGEST_C)
    check_positive("tolerance", encoder.tolerance)
    family, start = load("families", encoder.family), load("starts", encoder.start)
    schedule = load("schedules", encoder.schedule)
    if isinstance(y, Supervision) or is_indicator(y):
        X = encoder._check(X, keep=not isinstance(y, Supervision))  # which may compute with X
    else:
        X, y = encoder._check(X, y, keep=True)
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous; y holds fractions, give classes or a supervision")
    supervision = as_supervision(y, encoder.n_near, encoder.n_far)

    known = stored(encoder)

    rng = generator(encoder.random_state)
    documents, X = X, points(supervision, X)
    rankings = supervision.rankings(documents, rng)
    graph = pair_graph(rankings, len(X))
    master = make_master(rankings, graph, schedule)
    n_skipped = len(X) - len(np.unique(rankings.queries))
    del rankings  # all that is needed of them is in the graph
    state = family.prepare(X, rng)
    if known and not same_arrays(state, encoder.state_):
        raise ValueError("warm_start=True goes on with the same rows, family and random_state; these differ")
    Z = family.features(X, state)
    history, steps = (encoder.history_ if known else []), []
    enough = encoder.tolerance if encoder.stop_at_optimum else None
    for step in column_generation(Z, graph, master, family, start, encoder.n_bits, rng, enough, known):
        steps.append(step)
        logger.info("bit %d of %d: objective %.6g", len(steps), encoder.n_bits, step.objective)
        yield step

    encoder.family_, encoder.state_ = family, state
    encoder.bits_ = {name: np.concatenate([step.params[name] for step in steps]) for name in steps[0].params}
    encoder.n_bits_ = len(steps)
    encoder.weights_ = steps[-1].weights
    encoder.step_weights_ = np.zeros((len(steps), len(steps)))
    for t, step in enumerate(steps):
        encoder.step_weights_[t, : t + 1] = step.weights
    encoder.weighted_ = not isinstance(schedule, Stagewise)
    encoder.n_skipped_ = n_skipped
    encoder.history_ = history + [record(t, steps[t]) for t in range(len(history), len(steps))]
    report(encoder)


def threads(n_jobs: Any) -> int:
    """Number of threads that `n_jobs` asks for."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r}: give None for one thread, a number of threads, or -1 for all cores"
        )
    return effective_n_jobs(n_jobs)


def stored(encoder: Any) -> list[Params]:
    """Parameters of the bits that a warm start keeps; none without `warm_start` or before the first fit."""
    if not encoder.warm_start or not hasattr(encoder, "bits_"):
        return []
    if not isinstance(encoder.random_state, Integral):
        raise ValueError(
            f"random_state={encoder.random_state!r}: warm_start=True needs an integer, to draw the same again"
        )
    if encoder.n_bits < encoder.n_bits_:
        raise ValueError(
            f"n_bits={encoder.n_bits}: warm_start=True cannot take bits away; give at least {encoder.n_bits_}, "
            "or take a prefix with encode(X, n_bits=...)"
        )
    bits = encoder.bits_
    return [{name: array[t : t + 1] for name, array in bits.items()} for t in range(encoder.n_bits_)]


def same_arrays(a: Params, b: Params) -> bool:
    """Whether two dicts hold equal arrays under equal names."""
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def record(t: int, step: Step) -> dict[str, Any]:
    """What `history_` keeps of bit t."""
    fields = ("objective", "gap", "rounds", "violation", "redraws", "distinct", "seconds")
    return {"bit": t, **{name: getattr(step, name) for name in fields}}


def report(encoder: Any) -> None:
    """Say in the log what a user ought to change or might wonder at."""
    if encoder.n_bits_ < encoder.n_bits:
        logger.info("no better bit was found after %d of %d", encoder.n_bits_, encoder.n_bits)
    if not encoder.weights_.any():
        logger.warning(
            "all weights are 0: at C=%g no bit is worth its cost; raise it, unless the comparisons contradict "
            "each other",
            encoder.C,
        )
    repeated = sum(not each["distinct"] for each in encoder.history_)
    if repeated:
        logger.warning(
            "%d of %d bits repeat an earlier one on the training rows, which allow no other; "
            "lower n_bits or give more rows",
            repeated,
            encoder.n_bits_,
        )


def family_bits(encoder: Any, X: NDArray[Any]) -> NDArray[np.bool_]:
    """Bits of rows X from the learned functions."""
    return encoder.family_.decide(encoder.family_.features(X, encoder.state_), encoder.bits_) > 0


def family_planes(encoder: Any) -> Planes | None:
    """The planes of the learned functions, where the family has `planes(state, params)`."""
    planes = getattr(encoder.family_, "planes", None)
    return None if planes is None else planes(encoder.state_, encoder.bits_)


def supervised(tags: Any) -> Any:
    """scikit-learn tags of a method that needs y."""
    tags.target_tags.required = True
    return tags
