"""What every ranking shares: checked input, and the counts of one query."""

from numbers import Integral

import numpy as np
from numba import njit

from structhash._numerics.sorting import lists_ascend, sort_lists, unsort_lists
from structhash._numerics.validation import describe


def as_flags(relevant):
    """Return the ranked list as a bool array of one dimension, or raise ValueError."""
    flags = np.asarray(relevant)
    if flags.ndim != 1 or (flags.size and flags.dtype != np.bool_):
        got = f"shape {flags.shape}, dtype {flags.dtype}"
        raise ValueError(f"relevant must be one dimension of bool (cut grades: grades > 0); got {got}")
    return flags.astype(np.bool_)


def as_queries(near, far, near_ptr, far_ptr):
    """Return the arrays of `most_violated` contiguous, float64 and int64, or raise ValueError."""
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


def search(kernel, queries, *settings):
    """Run the kernel on `as_queries`, each query's distances ascending; give its counts in the input's order.

    Nothing is sorted or copied where the distances ascend already.
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


def check_cut(k):
    """ValueError unless `k`, the last place that counts, is an integer >= 1."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k is {describe(k)}; it counts places, so give a whole number of at least 1")


@njit(cache=True, nogil=True)
def count_after(above, below):
    """Fill one query's `below`, zeros so far, from `above`; both follow the distances, so `above` ascends."""
    before = 0
    for i in range(above.size):
        for k in range(before, above[i]):
            below[k] = above.size - i
        before = max(before, above[i])


@njit(cache=True, nogil=True)
def least_gain(near, far):
    """Return what a sum must gain to count as a strict gain, in units of 2/(P N): 1e-12 * max(1, spread)."""
    spread = max(near[-1], far[-1]) - min(near[0], far[0])  # both ascend
    return 0.5e-12 * near.size * far.size * max(1.0, spread)
