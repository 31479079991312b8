"""Does a model still do for new rows? What a refit would gain, and what changed."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import clone

from structhash._numerics.labels import read_labels
from structhash._numerics.matrices import read_matrix
from structhash._numerics.validation import check_count, check_nonnegative, counted
from structhash.estimators.base import HashEncoder
from structhash.evaluation._shifts import BitShift, DistanceShift, bit_shift, distance_shift
from structhash.evaluation.neighbours import nearest_rows
from structhash.evaluation.scoring import every_distance, relevance_by_labels, retrieval
from structhash.evaluation.splits import labelled_queries, seen_classes

__all__ = ["Drift", "RefitGain", "judge_drift"]

_LEVEL = 0.01  # probability of each bound to be too high
_MIN_ROWS = 200
_MAX_QUERIES = 1000
_MIN_NEW_SHARE = 0.1  # of rows of new classes
_MIN_BIT_CHANGE = 0.2  # of the mean of a bit
_MIN_FARTHER = 0.64  # of pairs: half a standard deviation between normal distributions
_WARNING = "many of these rows are like no class"  # what `encode` says, and `judge_drift` measures


class RefitGain(NamedTuple):
    """A model and a refit on new rows, asked the same held-out queries.

    Attributes
    ----------
    measure : str
    n_queries : int
    model, refit : float
        Means of the measure.
    at_least : float
        Lower confidence bound of refit - model over queries, by a paired t-test. Below 0 where the refit may be
        worse.
    """

    measure: str
    n_queries: int
    model: float
    refit: float
    at_least: float


class Drift(NamedTuple):
    """What `judge_drift` found.

    Attributes
    ----------
    verdict : str
        ``"keep"`` or ``"refit"``.
    reasons : list of str
        Why, with the numbers.
    gain : RefitGain or None
        None where the model was learned from labels and the new rows have none.
    new_class_share : float or None
        Share of new rows that are of no class of the training labels, at least (`DistilHash.new_class_share`).
        None where the model was learned without labels.
    bits : BitShift or None
    distances : DistanceShift or None
        None without training rows.
    """

    verdict: str
    reasons: list[str]
    gain: RefitGain | None
    new_class_share: float | None
    bits: BitShift | None
    distances: DistanceShift | None


def judge_drift(
    encoder: HashEncoder,
    X: Any,
    y: Any = None,
    training: Any = None,
    k: int = 10,
    min_gain: float = 0.02,
    random_state: int = 0,
) -> Drift:
    """Judge whether a model still does for new rows, or should be fitted again.

    The new rows are split three ways: a refit, queries, and rows that are searched. The verdict is ``"refit"``
    if the refit gains more than `min_gain`, or if at least a tenth of the rows are of new classes, each with 99
    percent confidence. So each of the two turns at most one keep in a hundred into a refit by chance. The
    result also tells what changed since the training rows; that decides only where no refit can be compared.
    Codes are compared by plain Hamming distance; codes that are no bits, by their own queries.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted.
    X : array (n, d)
        New rows, at least 200, that the model has not seen.
    y : array (n,) or (n, L), optional
        Their labels, or 0/1 indicators. They count for a model that was learned from labels: a document is then
        relevant if it has a label of the query, and the refit learns from them. Queries without a label are
        left out. For other models the k nearest rows are relevant.
    training : array (m, d), optional
        The rows that the model was fitted on, or a part of them.
    k : int
        Rank of the measure: ``recall@k``, with labels ``precision@k``.
    min_gain : float
        The gain in the measure that is worth a refit.
    random_state : int
        Draws the split and the refit.

    Returns
    -------
    Drift

    Raises
    ------
    ValueError, TypeError
        If rows or settings are not allowed, or there is nothing to judge by.
    """
    check_count("k", k)
    check_nonnegative("min_gain", min_gain)
    X = _check_rows(encoder, X, "X")
    before = None if training is None else _check_rows(encoder, training, "training")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _WARNING)
        found = _measure(encoder, X, y, before, k, random_state)
    if reasons := _reasons_to_refit(found, min_gain):
        return found._replace(verdict="refit", reasons=reasons)
    return found._replace(reasons=_reasons_to_keep(found, min_gain))


def _measure(
    encoder: HashEncoder, X: NDArray[Any], y: Any, before: NDArray[Any] | None, k: int, seed: int
) -> Drift:
    """What can be measured, without a verdict."""
    by_labels = encoder.learned_from_labels()
    share = encoder.new_class_share(X) if by_labels else None
    labels = y if by_labels else None
    gain = None if by_labels and y is None else _refit_gain(encoder, X, labels, k, seed)
    if before is None:
        return Drift("keep", [], gain, share, None, None)
    bits = bit_shift(encoder, before, X, _LEVEL) if encoder.codes_are_bits else None
    return Drift("keep", [], gain, share, bits, distance_shift(before, X, _LEVEL, np.random.default_rng(seed)))


def _check_rows(encoder: HashEncoder, X: Any, name: str) -> NDArray[Any]:
    """Rows of any container; ValueError or TypeError if they are no numbers, too few, or of another length."""
    rows = read_matrix(X, name)
    if len(rows) < _MIN_ROWS:
        raise ValueError(f"{name} has {counted(len(rows), 'row')}; give at least {_MIN_ROWS}")
    encoder.encode(rows[:1])
    return rows


def _refit_gain(encoder: HashEncoder, X: NDArray[Any], y: Any, k: int, seed: int) -> RefitGain:
    """Fit the same method on a part of the new rows, and ask both models the same queries."""
    labels = None if y is None else read_labels(y, len(X)).of_rows
    split = seen_classes(X[:, 0], seed, _MAX_QUERIES)
    if labels is not None:
        split = labelled_queries(split, labels)
    fitted_on, searched = np.array_split(split.database, 2)
    queries, rows = X[split.queries], X[searched]
    settings = {
        "n_bits": encoder.n_bits_,
        **({"random_state": seed} if "random_state" in encoder.get_params() else {}),
    }
    refit: HashEncoder = clone(encoder).set_params(**settings)
    if labels is None:
        refit.fit(X[fitted_on], None)
        measure, relevance = f"recall@{k}", nearest_rows(queries, rows, k)
    else:
        refit.fit(X[fitted_on], labels[fitted_on])
        measure = f"precision@{k}"
        relevance = relevance_by_labels(labels[split.queries], labels[searched])
    values = []
    for each in (encoder, refit):
        _, blocks = next(every_distance(each, queries, rows, relevance))
        values.append(retrieval(blocks, [measure]).per_query[measure])
    gains = values[1] - values[0]
    error = student.isf(_LEVEL, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
    before, after = (float(each.mean()) for each in values)
    return RefitGain(measure, len(queries), before, after, float(gains.mean() - error))


def _reasons_to_refit(found: Drift, min_gain: float) -> list[str]:
    """What speaks for a refit; ValueError if there is nothing to judge by."""
    reasons = []
    if found.new_class_share is not None and found.new_class_share >= _MIN_NEW_SHARE:
        reasons.append(
            f"{found.new_class_share:.0%} of the rows or more are of no class of the training labels"
        )
    if found.gain is not None:
        if found.gain.at_least > min_gain:
            reasons.append(f"{_in_words(found.gain)}: a refit gains {found.gain.at_least:.3f} or more")
        return reasons
    if found.distances is None and not reasons:
        raise ValueError(
            "the model was learned from labels, and nothing is there to judge it by; give labels of the new "
            "rows, or the training rows"
        )
    if found.bits is not None and found.bits.at_least > _MIN_BIT_CHANGE:
        before, after = found.bits.training, found.bits.new
        reasons.append(
            f"bit {found.bits.bit} is 1 in {before:.0%} of the training rows and {after:.0%} of the new"
        )
    if found.distances is not None and found.distances.at_least > _MIN_FARTHER:
        share = f"{found.distances.farther:.0%}"
        reasons.append(
            f"new rows are farther from the training rows than these from each other in {share} of pairs"
        )
    return reasons


def _reasons_to_keep(found: Drift, min_gain: float) -> list[str]:
    """Why nothing speaks for a refit."""
    if found.gain is not None:
        return [f"{_in_words(found.gain)}: a gain above {min_gain:g} is not certain"]
    return ["bits and distances are near those of the training rows; labels of the new rows would tell more"]


def _in_words(gain: RefitGain) -> str:
    """Both means."""
    return f"{gain.measure} of {gain.n_queries} new queries is {gain.model:.3f}, after a refit {gain.refit:.3f}"
