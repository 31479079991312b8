"""How `CGHash` and `StructHash` are fitted: bit by bit, from comparisons or from an embedding."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import assert_all_finite
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import as_floats, float_type, row_slices
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_count, check_positive, describe
from structhash.codes import hamming, pack
from structhash.codes.planes import Planes, make_planes
from structhash.embeddings.manifold import Manifold
from structhash.estimators.base import whole_or_nothing
from structhash.families.base import Family
from structhash.families.starts.base import Start
from structhash.masters.schedules.base import Schedule
from structhash.masters.schedules.stagewise import Stagewise
from structhash.metrics import average_precision, tie_blocks, without_self
from structhash.pair_weights import Comparisons, PairGraph, pair_graph
from structhash.pieces import Params, is_auto, load
from structhash.supervision import Qrels, Supervision, as_supervision, is_indicator, points
from structhash.supervision.labels import classify
from structhash.supervision.shared import check_partners
from structhash.training.column_generation import Master, Step, column_generation
from structhash.training.distillation import Task, recommended, task
from structhash.training.judgements import heeds, relevant
from structhash.training.selection import LARGEST_C, as_good, choose_C

logger = logging.getLogger("structhash.estimators")

SCANTY = 50  # unlabeled rows that are too few to say how those to be searched lie
WITNESSES = 1000  # training rows that say how queries are to be coded, at most
POWERS = ("row_power_", "query_powers_")  # what only an embedding with `raised` leaves
UNITS = 1e30  # unlabeled rows so many times as large as X cannot be meant


def check_settings(encoder: Any) -> None:
    """Refuse settings of either way to fit, whichever is taken."""
    check_count("n_bits", encoder.n_bits)
    if not is_auto(encoder.C):
        try:
            check_positive("C", encoder.C, most=LARGEST_C)
        except ValueError as error:
            raise ValueError(f"{error}, or 'auto'") from None
    check_positive("tolerance", encoder.tolerance)
    check_partners(encoder.n_near, encoder.n_far)
    for kind, name in (("families", "family"), ("starts", "start"), ("schedules", "schedule")):
        load(kind, getattr(encoder, name))


def learn(
    encoder: Any, X: Any, y: Any, make_master: Callable[[Comparisons, PairGraph, Schedule], Master]
) -> Iterator[Step]:
    """Fit `encoder` bit by bit; where that fails or is left half-way it stays as it was."""
    with whole_or_nothing(encoder):
        yield from bit_by_bit(encoder, X, y, make_master)


def bit_by_bit(
    encoder: Any, X: Any, y: Any, make_master: Callable[[Comparisons, PairGraph, Schedule], Master]
) -> Iterator[Step]:
    """Check the input, draw the comparisons, generate columns, keep the outcome."""
    family, start = load("families", encoder.family), load("starts", encoder.start)
    schedule = load("schedules", encoder.schedule)
    several = isinstance(y, Supervision) or is_indicator(y)
    if several:
        refuse_auto(encoder, y)
        X = encoder._check(X, keep=not isinstance(y, Supervision))  # which may compute with X
    else:
        X, y = encoder._check(X, y, keep=True)
        check_fractions(y)
    supervision = as_supervision(y, encoder.n_near, encoder.n_far)

    known = stored(encoder)
    encoder.C_ = weight_of_loss(encoder, X, y, known)

    rng = generator(encoder.random_state)
    documents, X = X, points(supervision, X)
    rankings = supervision.comparisons(documents, rng)
    graph = pair_graph(rankings, len(X))
    master = make_master(rankings, graph, schedule)
    n_skipped = len(X) - len(np.unique(rankings.queries))
    del rankings  # all that is needed of them is in the graph
    state = family.prepare(X, rng)
    same_start(known, state, encoder)
    Z = family.features(X, state)
    yield from generate(encoder, Z, graph, master, family, start, rng, known)
    encoder.state_, encoder.n_skipped_ = state, n_skipped
    encoder.embedding_ = None
    forget(encoder, "embedding_state_", *POWERS)
    encoder.weighted_ = not isinstance(schedule, Stagewise)
    report(encoder)


def refuse_auto(encoder: Any, y: Any) -> None:
    """ValueError where C is to be chosen, for which y is no labels."""
    if is_auto(encoder.C):
        raise ValueError(
            f"C='auto' is chosen by labels, one a row; y is of type {type(y).__name__}: give such labels, or a "
            f"number for C, such as {encoder.usual_C:g}"
        )


def from_judgements(
    encoder: Any, X: Any, qrels: Qrels, make_master: Callable[[Comparisons, PairGraph, Schedule], Master]
) -> Iterator[Step]:
    """Fit `encoder` to X alone, or to judgements where judged queries that are left out find more so.

    A warm start goes on as the fit before did.
    """
    with whole_or_nothing(encoder):
        refuse_auto(encoder, qrels)
        known = relevant(encoder._check(X, keep=True), qrels)
        if stored(encoder):
            alone = encoder.embedding_ is not None
            yield from distil(encoder, X, None, None) if alone else bit_by_bit(encoder, X, qrels, make_master)
            return
        rows_alone = clone(encoder).set_params(random_state=encoder.random_state)  # itself, to be drawn from
        steps = list(distil(rows_alone, X, None, None))
        if heeds(rows_alone, rows_alone._open(X), qrels, known):
            yield from bit_by_bit(encoder, X, qrels, make_master)
            return
        yield from steps
        vars(encoder).update({name: value for name, value in vars(rows_alone).items() if name.endswith("_")})


def weight_of_loss(encoder: Any, X: NDArray[Any], y: Any, known: list[Params]) -> Any:
    """C as it is set, or as it was chosen for the bits that are kept, or as it is chosen now."""
    if not is_auto(encoder.C):
        return encoder.C
    if known and getattr(encoder, "C_", None) is not None:
        return encoder.C_
    classify(y)  # refuses labels that say nothing in words about all rows
    return choose_C(encoder, X, y)


def distil(encoder: Any, X: Any, y: Any, unlabeled: Any) -> Iterator[Step]:
    """Fit `encoder` to an embedding, bit by bit; where that fails or is left half-way it stays as it was."""
    with whole_or_nothing(encoder):
        family, start = load("families", encoder.family), load("starts", encoder.start)
        auto = is_auto(encoder.embedding)
        embedding = load("embeddings", "cosine" if auto else encoder.embedding)
        if embedding.labelled and y is None:
            raise ValueError(
                f"embedding={encoder.embedding!r} learns from labels: give y, or embedding='cosine' or "
                "'manifold'"
            )
        if y is None:
            X = encoder._check(X, keep=True)
        else:
            X, y = encoder._check(X, y, keep=True)
            check_fractions(y)
            classify(y)  # refuses those that say nothing
        if unlabeled is not None:
            unlabeled = beside(encoder, X, unlabeled)
        if auto and y is not None:
            embedding = load("embeddings", recommended(X, y, unlabeled))
        if isinstance(embedding, Manifold) and y is not None and unlabeled is None:
            logger.warning(
                "embedding='manifold' finds its way among rows like those to be searched: give unlabeled=, "
                "or take 'metric', which is better where there are only the labelled rows"
            )
        known = stored(encoder)

        rng = generator(encoder.random_state)
        found = task(X, y, unlabeled, embedding, encoder.n_bits, rng)
        state = family.prepare(found.Z, rng)
        same_start(known, state, encoder)
        Z = family.features(found.Z, state)
        yield from generate(encoder, Z, found.graph, found.master, family, start, rng, known)
        encoder.state_, encoder.n_skipped_ = state, 0
        encoder.embedding_, encoder.embedding_state_ = embedding, found.state
        forget(encoder, *POWERS)
        if hasattr(embedding, "raised"):
            choose_powers(encoder, X, y, None if unlabeled is not None else found)
        encoder.weighted_, encoder.C_ = False, None
        report(encoder)


def beside(encoder: Any, X: NDArray[Any], unlabeled: Any) -> NDArray[Any]:
    """The unlabeled rows as an array, checked; X are the others, checked already."""
    try:
        rows: NDArray[Any] = encoder._open(unlabeled)
    except ValueError as error:  # says "X"
        raise ValueError(f"unlabeled: {error}") from None
    same, first, reach = True, as_floats(rows[:1]), 0.0
    for run in row_slices(len(rows)):
        block = as_floats(rows[run])
        with np.errstate(over="ignore", invalid="ignore"):
            assert_all_finite(block, input_name="unlabeled")
        same = same and bool((block == first).all())
        reach = max(reach, float(np.abs(block).max()))
    if same:
        raise ValueError(f"unlabeled has {len(rows)} rows, all the same; give rows that differ, or none")
    if len(rows) < SCANTY:
        logger.warning(
            "unlabeled has %d rows, too few to say how a database lies; give some hundreds or more, or none "
            "and embedding='metric'",
            len(rows),
        )
    own = max(float(np.abs(as_floats(X[run])).max()) for run in row_slices(len(X)))
    if reach / UNITS > max(own, np.finfo(float_type(X.dtype)).tiny):
        raise ValueError(f"unlabeled reaches {reach:.3g} where X reaches {own:.3g}; give both in the same unit")
    return rows


def check_fractions(y: NDArray[Any]) -> None:
    """ValueError where labels are no classes."""
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError("Unknown label type: continuous; y holds fractions, give classes or a supervision")


def forget(encoder: Any, *names: str) -> None:
    """Drop what only an earlier fit of another kind has."""
    for name in names:
        vars(encoder).pop(name, None)


def same_start(known: list[Params], state: Params, encoder: Any) -> None:
    """ValueError where bits are to be kept that belong to other features."""
    if known and not same_arrays(state, encoder.state_):
        raise ValueError("warm_start=True goes on with the same rows, family and random_state; these differ")


def generate(
    encoder: Any,
    Z: NDArray[Any],
    graph: PairGraph,
    master: Master,
    family: Family,
    start: Start,
    rng: np.random.Generator,
    known: list[Params],
) -> Iterator[Step]:
    """Generate columns, and keep what was learned of the bits and their weights."""
    history, steps = (encoder.history_ if known else []), []
    enough = encoder.tolerance if encoder.stop_at_optimum else None
    for step in column_generation(Z, graph, master, family, start, encoder.n_bits, rng, enough, known):
        steps.append(step)
        logger.info("bit %d of %d: objective %.6g", len(steps), encoder.n_bits, step.objective)
        yield step

    encoder.family_ = family
    encoder.bits_ = {name: np.concatenate([step.params[name] for step in steps]) for name in steps[0].params}
    encoder.n_bits_ = len(steps)
    encoder.weights_ = steps[-1].weights
    encoder.step_weights_ = np.zeros((len(steps), len(steps)))
    for t, step in enumerate(steps):
        encoder.step_weights_[t, : t + 1] = step.weights
    encoder.history_ = history + [record(t, steps[t]) for t in range(len(history), len(steps))]


def threads(n_jobs: Any) -> int:
    """Number of threads that `n_jobs` asks for."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"n_jobs={describe(n_jobs)}: give None for one thread, a number of threads, or -1 for all cores"
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
            encoder.C_,
        )
    repeated = sum(not each["distinct"] for each in encoder.history_)
    if repeated:
        logger.warning(
            "%d of %d bits repeat an earlier one on the training rows, which allow no other; "
            "lower n_bits or give more rows",
            repeated,
            encoder.n_bits_,
        )


def choose_powers(encoder: Any, X: NDArray[Any], y: NDArray[Any], found: Task | None) -> None:
    """Set `row_power_`, and `query_powers_` by training rows X (n, d) with labels y (n,), each left out.

    Of the powers of queries, the last being that of rows, it takes the first by which they find as much of
    their class, as mean average precision among themselves goes, as by that which finds most, but for a
    standard error. `found` has their vectors; None where the points were others.
    """
    embedding, family = encoder.embedding_, encoder.family_
    if found is None:
        rows = np.random.default_rng(0).permutation(len(X))[:WITNESSES]
        with threadpool_limits(1, user_api="blas"):  # as in `task`
            Z = embedding.fit(X, y, None, rows, generator(encoder.random_state))[1]
    else:
        some = np.random.default_rng(0).permutation(len(found.points))[:WITNESSES]
        rows, Z = found.points[some], found.rows[some]
    labels = np.asarray(y)[rows]
    same = labels[:, None] == labels
    encoder.row_power_ = embedding.row_power(y)
    powers = [*embedding.query_powers, encoder.row_power_]
    vectors = (embedding.raised(Z, power) for power in powers)
    asked = [family.decide(family.features(V, encoder.state_), encoder.bits_) > 0 for V in vectors]

    def precision(queries: NDArray[np.bool_], n_bits: int) -> NDArray[np.float64]:
        apart = hamming(pack(queries[:, :n_bits]), pack(asked[-1][:, :n_bits]))
        values = average_precision(tie_blocks(*without_self(apart, same)))
        return values[~np.isnan(values)]  # of rows that have another of their class

    lengths = 2 ** np.arange(encoder.n_bits_.bit_length())
    chosen = [as_good([precision(each, n) for each in asked]) for n in lengths]
    encoder.query_powers_ = np.array([powers[i] for i in chosen])


def family_bits(encoder: Any, X: NDArray[Any], power: float | None = None) -> NDArray[np.bool_]:
    """Bits of rows X from the learned functions, or of queries that are not coded as rows are."""
    embedding = getattr(encoder, "embedding_", None)
    if embedding is not None:
        X = embedding.embed(X, encoder.embedding_state_)
        if hasattr(embedding, "raised"):
            X = embedding.raised(X, encoder.row_power_ if power is None else power)
    return encoder.family_.decide(encoder.family_.features(X, encoder.state_), encoder.bits_) > 0


def family_planes(encoder: Any) -> Planes | None:
    """The planes of the learned functions among the rows, where there are such."""
    planes = getattr(encoder.family_, "planes", None)
    if planes is None:
        return None
    found: Planes = planes(encoder.state_, encoder.bits_)
    embedding = getattr(encoder, "embedding_", None)
    if embedding is None:
        return found
    if not hasattr(embedding, "linear"):
        return None
    center, matrix, scale = embedding.linear(encoder.embedding_state_)
    thresholds = (found.thresholds + found.normals @ found.center) * scale
    return make_planes(center, found.normals @ matrix.T, thresholds)
