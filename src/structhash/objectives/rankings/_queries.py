"""Helpers of all rankings: checks of their input, and the run of a kernel on sorted queries."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.sorting import lists_ascend, sort_lists, unsort_lists
from structhash._numerics.validation import describe

Queries = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
Counts = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]


def as_flags(relevant: Any) -> NDArray[np.bool_]:
    """The ranked list as a bool array of one dimension; ValueError where it is none."""
    flags = np.asarray(relevant)
    if flags.ndim != 1 or (flags.size and flags.dtype != np.bool_):
        got = f"shape {flags.shape}, dtype {flags.dtype}"
        raise ValueError(f"relevant must be one dimension of bool (cut grades: grades > 0); got {got}")
    return flags.astype(np.bool_)


def as_queries(near: Any, far: Any, near_ptr: Any, far_ptr: Any) -> Queries:
    """The arrays of `Ranking.most_violated`, contiguous, float64 and int64; ValueError if they do not fit."""
    near, far = (np.ascontiguousarray(d, dtype=np.float64) for d in (near, far))
    near_ptr, far_ptr = (np.ascontiguousarray(p, dtype=np.int64) for p in (near_ptr, far_ptr))
    for name, d, ptr in (("near", near, near_ptr), ("far", far, far_ptr)):
        if d.ndim != 1 or not np.isfinite(d).all():
            raise ValueError(f"{name} must be flat, finite distances; got shape {d.shape}, or NaN or inf")
        if ptr.ndim != 1 or not ptr.size or ptr[0] != 0 or ptr[-1] != d.size or (ptr[1:] < ptr[:-1]).any():
            raise ValueError(f"{name}_ptr must rise from 0 to len({name}) = {d.size}; got {ptr}")
    if near_ptr.size != far_ptr.size:
        raise ValueError(f"near_ptr and far_ptr must have one length; got {near_ptr.size} and {far_ptr.size}")
    return near, far, near_ptr, far_ptr


def search(kernel: Callable[..., Counts], queries: Queries, *settings: Any) -> Counts:
    """Run a kernel on queries whose distances ascend; return its counts in the order of the input.

    Nothing is sorted or copied where the distances ascend already.

    Parameters
    ----------
    kernel : callable
        Of near, far, near_ptr, far_ptr and the settings.
    queries : tuple
        From `as_queries`.
    *settings
        Passed on to the kernel.
    """
    near, far, near_ptr, far_ptr = queries
    near_order = far_order = None
    if not lists_ascend(near, near_ptr):
        near_order, near = sort_lists(near, near_ptr)
    if not lists_ascend(far, far_ptr):
        far_order, far = sort_lists(far, far_ptr)
    loss, above, below = kernel(near, far, near_ptr, far_ptr, *settings)
    if near_order is not None:
        above = unsort_lists(above, near_order, near_ptr)
    if far_order is not None:
        below = unsort_lists(below, far_order, far_ptr)
    return loss, above, below


def check_cut(k: Any) -> None:
    """ValueError unless `k`, the last place that counts, is an integer >= 1."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k is {describe(k)}; it counts places, so give a whole number of at least 1")
