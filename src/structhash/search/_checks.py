"""Checks of arguments and files that all indexes share."""

from __future__ import annotations

import numbers
import operator
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe
from structhash.codes import PreparedQueries, byte_tables, check_codes, check_n_bits
from structhash.io import container as files

__all__ = [
    "NO_CODE_DISTANCE",
    "Table",
    "as_ids",
    "check_ids",
    "check_k",
    "check_queries",
    "check_radius",
    "check_weights",
    "load_table",
    "refuse_repeated",
]

NO_CODE_DISTANCE = int(np.iinfo(np.int32).max)  # the distance in an empty place, as in faiss
_MAX_EMPTY_PLACES = 1 << 26  # each takes 12 bytes
_NAMES_INSTEAD = "leave ids out and look names up by row number, as names[ids]"


class Table(NamedTuple):
    """The content of an index file."""

    n_bits: int
    codes: NDArray[np.uint8]  # (n, ceil(n_bits / 8))
    ids: NDArray[np.int64] | None  # (n,), strictly ascending; None for running numbers
    weights: NDArray[Any] | None  # (n_bits,)
    source: str | None  # fingerprint of the model that made the codes
    header: files.Header  # the whole of it


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
            f"k={describe(k)}: the index has only {ntotal} codes, so nearly all places of the result would be "
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


def check_ids(
    ids: ArrayLike | None, n: int, ntotal: int, known: Sequence[NDArray[np.int64]]
) -> NDArray[np.int64] | None:
    """Check the ids of codes that are about to join an index.

    An index has running numbers or its caller's own ids, never both: a mixture could give one number to two
    codes. The first codes decide.

    Parameters
    ----------
    ids : int64 array of shape (n,), or None for running numbers
        Non-negative, unique, none of them in the index. Other integer dtypes are converted.
    n : int
        Number of codes that join.
    ntotal : int
        Number of codes in the index.
    known : sequence of int64 arrays
        The index's own ids, each array ascending; empty for running numbers.

    Returns
    -------
    ids : int64 array of shape (n,), or None

    Raises
    ------
    TypeError
        If the ids are not integers.
    ValueError
        If there are not n of them, one is negative, too large, repeated or in the index already, or own ids
        and running numbers meet.

    Examples
    --------
    >>> check_ids([7, 3], n=2, ntotal=0, known=[])
    array([7, 3])
    """
    if ids is None:
        if known and n:
            raise ValueError("this index has ids of its own; give ids for these codes too")
        return None
    if n and ntotal and not known:
        raise ValueError(
            "this index has running numbers; leave ids out, or start a new index with ids for all codes"
        )
    checked = as_ids(ids, n)
    values = np.sort(checked)
    refuse_repeated(values)
    for old in known if n else ():
        place = np.searchsorted(old, values)
        shared = values[old[np.minimum(place, len(old) - 1)] == values]
        if shared.size:
            raise ValueError(f"ids must be unique, but {shared[0]} is in the index already")
    return checked


def refuse_repeated(ids: NDArray[np.int64]) -> None:
    """ValueError if one of the ids (n,), which ascend, comes twice."""
    repeated = ids[1:][ids[1:] == ids[:-1]]
    if repeated.size:
        times = np.count_nonzero(ids == repeated[0])
        raise ValueError(f"ids must be unique, but {repeated[0]} comes {times} times")


def as_ids(ids: ArrayLike, n: int) -> NDArray[np.int64]:
    """n ids as int64 (n,)."""
    if isinstance(ids, np.ma.MaskedArray):
        raise TypeError("ids must be int64, got a masked array; give ids without a mask")
    try:
        given = np.asarray(ids)
    except ValueError:  # rows of several lengths
        raise ValueError(f"ids must have shape ({n},), one for each code, got {describe(ids)}") from None
    if given.dtype == np.bool_:
        raise TypeError("ids must be int64, got bool; give the ids of a mask, as index.ids[mask]")
    if given.size and given.dtype.kind not in "iu":
        values = given.ravel().tolist()
        whole = all(
            isinstance(value, numbers.Integral) or (isinstance(value, float) and value.is_integer())
            for value in values
        )
        raise TypeError(
            f"ids must be int64, got {given.dtype} such as {describe(values[0])}; "
            + ("convert them with astype(np.int64)" if whole else _NAMES_INSTEAD)
        )
    if given.shape != (n,):
        raise ValueError(f"ids must have shape ({n},), one for each code, got {given.shape}")
    if n and not 0 <= given.min() <= given.max() <= np.iinfo(np.int64).max:
        raise ValueError(f"ids must be from 0 to 2**63 - 1, got {given.min()} to {given.max()}")
    return given.astype(np.int64)


def load_table(path: str | os.PathLike[str], kind: str) -> Table:
    """Load an index file and check it.

    Parameters
    ----------
    path : str or path
    kind : str
        Such as "index.exact".

    Returns
    -------
    table : Table

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If `structhash.io.container.load` refuses the file, or its arrays do not fit each other.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/index"
    >>> files.save(path, {"codes": np.zeros((2, 1), dtype=np.uint8)}, {"n_bits": 8}, kind="index.exact")
    >>> load_table(path, "index.exact").n_bits
    8
    """
    arrays, header = files.load(path, kind)
    ids, source = arrays.get("ids"), header.get("source")
    try:
        if not {"codes"} <= arrays.keys() <= {"codes", "ids", "weights"} or not isinstance(source, str | None):
            raise ValueError(f"it holds {sorted(arrays)} of the model {describe(source)}, not an index")
        n_bits = check_n_bits(header.get("n_bits"))
        codes = check_codes(arrays["codes"], n_bits)
        if ids is not None:
            if ids.dtype != np.int64 or ids.shape != codes.shape[:1]:
                raise ValueError(
                    f"its ids are {ids.dtype} of shape {ids.shape}, not int64 of {codes.shape[:1]}"
                )
            if ids.size and (ids[0] < 0 or (ids[1:] <= ids[:-1]).any()):
                raise ValueError("its ids do not ascend from 0")
    except (TypeError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    return Table(n_bits, codes, ids, arrays.get("weights"), source, header)
