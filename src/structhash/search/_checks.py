"""Checks of arguments and files that all indexes share."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np

from structhash._numerics.validation import describe
from structhash.codes import check_codes, check_n_bits
from structhash.io import container as files

__all__ = ["check_ids", "check_k", "check_radius", "load_table"]

FAR = np.iinfo(np.int32).max  # the distance of "no such code", as in faiss


def check_k(k):
    """Return `k` as a Python int; TypeError if it is no whole number, ValueError if it is below 1.

    >>> check_k(10)
    10
    """
    try:
        k = operator.index(k)
    except TypeError:
        raise TypeError(f"k must be a whole number, got {describe(k)}") from None
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    return k


def check_radius(r):
    """Return the radius as a float in the range of float32; errors if it is no number, negative or NaN.

    >>> check_radius(3)
    3.0
    """
    radius: Any = r
    if not isinstance(r, numbers.Real):
        raise TypeError(f"the radius must be a number, got {describe(r)}")
    if not radius >= 0:
        raise ValueError(f"the radius must be at least 0, got {describe(r)}")
    return float(min(radius, float(np.finfo(np.float32).max)))


def check_ids(ids, n, own, ntotal, known):
    """Check the ids of `n` codes that are to join an index of `ntotal`.

    An index has running numbers or its caller's own ids, decided by the first codes it gets, never both: a
    mixture could give one number to two codes.

    Parameters
    ----------
    ids : int64 array of shape (n,), or None for running numbers
        Non-negative, unique, none of them in the index. Other integer dtypes are converted.
    n : int
    own : bool
        Whether the index has its caller's own ids.
    ntotal : int
    known : callable
        Gives the index's own ids, an iterable of int64 arrays.

    Returns
    -------
    ids : int64 array of shape (n,), or None

    Raises
    ------
    TypeError
        If the ids are no integers.
    ValueError
        If there are not n of them, one is negative, too large, repeated or in the index already, or own ids
        and running numbers meet.

    Examples
    --------
    >>> check_ids([7, 3], n=2, own=False, ntotal=0, known=list)
    array([7, 3])
    """
    if ids is None:
        if own and ntotal and n:
            raise ValueError("this index has ids of its own; give ids for these codes too")
        return None
    ids = np.asarray(ids)
    if ids.size and not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"ids must be int64, got {ids.dtype}")
    if ids.shape != (n,):
        raise ValueError(f"ids must have shape ({n},), one for each code, got {ids.shape}")
    if n and ntotal and not own:
        raise ValueError(
            "this index has running numbers; leave ids out, or start a new index with ids for all codes"
        )
    if n and not 0 <= ids.min() <= ids.max() <= np.iinfo(np.int64).max:
        raise ValueError(f"ids must be from 0 to 2**63 - 1, got {ids.min()} to {ids.max()}")
    ids = ids.astype(np.int64)
    values, counts = np.unique(ids, return_counts=True)
    if n and counts.max() > 1:
        raise ValueError(f"ids must be unique, but {values[counts.argmax()]} comes {counts.max()} times")
    for old in known() if n else ():
        if old.size and values[0] <= old.max():
            shared = values[np.isin(values, old)]
            if shared.size:
                raise ValueError(f"ids must be unique, but {shared[0]} is in the index already")
    return ids


def load_table(path, kind):
    """Load an index file and check it.

    Parameters
    ----------
    path : str or path
    kind : str
        "index.exact" or "index.flat".

    Returns
    -------
    n_bits : int
    codes : uint8 array of shape (n, ceil(n_bits / 8))
    ids : int64 array of shape (n,), strictly ascending, or None for running numbers
    weights : float64 array of shape (n_bits,), or None

    Raises
    ------
    FileNotFoundError, ValueError
        As `structhash.io.container.load`, and where the arrays do not fit each other.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/index"
    >>> files.save(path, {"codes": np.zeros((2, 1), dtype=np.uint8)}, {"n_bits": 8}, kind="index.exact")
    >>> load_table(path, "index.exact")[0]
    8
    """
    arrays, header = files.load(path, kind)
    ids, weights = arrays.get("ids"), arrays.get("weights")
    try:
        if "codes" not in arrays:
            raise ValueError("it has no codes")
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
    return n_bits, codes, ids, weights
