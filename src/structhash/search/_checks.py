"""Checks of arguments that all indexes share."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe
from structhash.codes import PreparedQueries, byte_tables, check_codes
from structhash.search._text_ids import (
    check_same_kind,
    encode_ids,
    spell_id,
)

__all__ = [
    "NO_CODE_DISTANCE",
    "Ids",
    "as_ids",
    "check_ids",
    "check_k",
    "check_queries",
    "check_radius",
    "check_weights",
    "refuse_known",
    "refuse_repeated",
]

NO_CODE_DISTANCE = int(np.iinfo(np.int32).max)  # the distance in an empty place, as in faiss
_MAX_EMPTY_PLACES = 1 << 26  # each takes 12 bytes

Ids = NDArray[Any]  # (n,): int64, or text as `_text_ids` keeps it


def check_queries(
    queries: NDArray[np.uint8] | PreparedQueries, n_bits: int
) -> NDArray[np.uint8] | PreparedQueries:
    """Return queries, packed ones in C order; errors if they are not of n_bits bits."""
    if not isinstance(queries, PreparedQueries):
        return check_codes(queries, n_bits, "queries")
    if queries.n_bits != n_bits:
        raise ValueError(
            f"queries are prepared for {queries.n_bits} bits, codes have {n_bits}; prepare them with "
            f"n_bits={n_bits}"
        )
    return queries


def check_k(k: int, n_queries: int, ntotal: int) -> int:
    """Check the number of neighbours that a search returns for each query.

    Parameters
    ----------
    k : int
    n_queries : int
    ntotal : int
        Number of codes in the index. Places beyond it stay empty.

    Returns
    -------
    k : int

    Raises
    ------
    TypeError
        If k is not an integer.
    ValueError
        If k is below 1, or the empty places would take much memory.

    Examples
    --------
    >>> check_k(10, n_queries=2, ntotal=3)
    10
    """
    try:
        if isinstance(k, bool):
            raise TypeError
        k = operator.index(k)
    except TypeError:
        raise TypeError(f"k must be a whole number, got {describe(k)}") from None
    if k < 1:
        raise ValueError(f"k must be at least 1, got {describe(k)}")
    if max(n_queries, 1) * (k - ntotal) > _MAX_EMPTY_PLACES:
        raise ValueError(
            f"k={describe(k)}: there are only {ntotal} codes, so nearly all places of the result would be "
            f"empty; give k of at most {max(ntotal, 1)}"
        )
    return k


def check_radius(r: float) -> float:
    """Return the radius as a float in the range of float32; errors if it is not a number, negative or NaN.

    >>> check_radius(3)
    3.0
    """
    if not isinstance(r, numbers.Real) or isinstance(r, bool):
        raise TypeError(f"the radius must be a number, got {describe(r)}")
    if not r >= 0:
        raise ValueError(f"the radius must be at least 0, got {describe(r)}")
    largest = float(np.finfo(np.float32).max)
    try:
        return min(float(r), largest)
    except OverflowError:  # an integer beyond float64
        return largest


def check_weights(weights: ArrayLike, n_bits: int) -> NDArray[np.float64]:
    """Return a copy of the weights (n_bits,) as float64, without -0.0; ValueError if they are not valid.

    >>> check_weights([1, -0.0], n_bits=2)
    array([1., 0.])
    """
    weights = np.array(weights, dtype=np.float64) + 0.0
    if weights.shape != (n_bits,):
        raise ValueError(f"weights must have shape ({n_bits},), one for each bit, got {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError(f"weights must be finite and at least 0, got {weights.min()} to {weights.max()}")
    byte_tables(weights)  # refuses a sum beyond float32
    return weights


def check_ids(ids: ArrayLike | None, n: int, ntotal: int, known: Sequence[Ids]) -> Ids | None:
    """Check the ids of codes that are about to join an index.

    An index has row numbers, or its caller's own ids of one kind, never both: a mixture could give one
    number to two codes. The first codes decide.

    Parameters
    ----------
    ids : int64 array or text of shape (n,), or None for row numbers
        Unique, none of them in the index. Numbers are non-negative; other integer dtypes are converted.
    n : int
        Number of codes that join.
    ntotal : int
        Number of codes in the index.
    known : sequence of arrays
        The index's own ids, each array ascending; empty for row numbers.

    Returns
    -------
    ids : array of shape (n,), or None

    Raises
    ------
    TypeError
        If the ids are neither whole numbers nor text, or of another kind than those of the index.
    ValueError
        If there are not n of them, one is negative, too large, repeated or in the index already, or own ids
        and row numbers meet.

    Examples
    --------
    >>> check_ids([7, 3], n=2, ntotal=0, known=[])
    array([7, 3])
    """
    checked = None if ids is None else as_ids(ids, n)
    if checked is not None:
        refuse_repeated(np.sort(checked))
    refuse_known(checked, n, ntotal, known)
    return checked


def refuse_known(ids: Ids | None, n: int, ntotal: int, known: Sequence[Ids]) -> None:
    """Refuse the unique ids of n codes that do not fit an index; parameters and errors as `check_ids`."""
    if ids is None:
        if known and n:
            raise ValueError("this index has ids of its own; give ids for these codes too")
        return
    if n and ntotal and not known:
        raise ValueError(
            "this index has row numbers; leave ids out, or start a new index with ids for all codes"
        )
    for old in known if n else ():
        check_same_kind(ids, old)
        place = np.searchsorted(old, ids)
        shared = ids[old[np.minimum(place, len(old) - 1)] == ids]
        if shared.size:
            raise ValueError(
                f"ids must be unique, but {spell_id(min(shared.tolist()))} is in the index already"
            )


def refuse_repeated(ids: Ids) -> None:
    """ValueError if one of the ids (n,), which ascend, comes twice."""
    repeated = ids[1:][ids[1:] == ids[:-1]]
    if repeated.size:
        times = np.count_nonzero(ids == repeated[0])
        raise ValueError(f"ids must be unique, but {spell_id(repeated[0])} comes {times} times")


def as_ids(ids: ArrayLike, n: int) -> Ids:
    """n ids (n,): whole numbers as int64, text as bytes."""
    if isinstance(ids, np.ma.MaskedArray):
        raise TypeError("ids must be whole numbers or text, got a masked array; give ids without a mask")
    try:
        given = np.asarray(ids)
    except ValueError:  # rows of several lengths
        raise ValueError(f"ids must have shape ({n},), one for each code, got {describe(ids)}") from None
    if given.dtype.kind in "UT":
        given = np.asarray(ids, dtype=object)  # numpy makes text of the numbers in a list with text
    if given.dtype == np.bool_:
        raise TypeError(
            "ids must be whole numbers or text, got bool; give the ids of a mask, as index.ids[mask]"
        )
    text = given.dtype == object and given.size > 0 and all(isinstance(each, str) for each in given.flat)
    if given.size and given.dtype.kind not in "iu" and not text:
        _refuse_values(given)
    if given.shape != (n,):
        raise ValueError(f"ids must have shape ({n},), one for each code, got {given.shape}")
    if text:
        return encode_ids(given)
    if n and not 0 <= given.min() <= given.max() <= np.iinfo(np.int64).max:
        raise ValueError(f"ids must be from 0 to 2**63 - 1, got {given.min()} to {given.max()}")
    return given.astype(np.int64)


def _refuse_values(given: NDArray[Any]) -> None:
    """TypeError for ids that are neither all whole numbers nor all text."""
    values = given.ravel().tolist()
    texts = [isinstance(value, str) for value in values]
    if any(texts):
        other = values[texts.index(False)]
        raise TypeError(
            f"ids must be all whole numbers or all text, got {describe(values[texts.index(True)])} and "
            f"{describe(other)}; give one kind"
        )
    missing = [value for value in values if value is None or value != value]
    if missing:
        raise TypeError(f"ids must be whole numbers or text, got {describe(missing[0])}; give every code an id")
    whole = all(isinstance(value, int) or (isinstance(value, float) and value.is_integer()) for value in values)
    raise TypeError(
        f"ids must be whole numbers or text, got {given.dtype} such as {describe(values[0])}; "
        + ("convert them with astype(np.int64)" if whole else "convert them to text with astype(str)")
    )
