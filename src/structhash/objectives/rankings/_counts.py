"""Kernels that several rankings share: the counts of one query, and the least gain that counts."""

from structhash._numerics.kernels import njit


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
