"""Kernels of `SNDCG`."""

import numpy as np

from structhash._numerics.kernels import njit


@njit(cache=True, nogil=True)
def violate_sndcg(near, far, near_ptr, far_ptr, discount, drop):
    """Merge the sorted distances: a relevant point falls behind one more while that gains strictly.

    Its g-th step gains drop[g] / P - 2/(P N) (far_(g) - near). `drop` falls with g and the rounded difference
    falls with `near`, so the steps that gain come first, and a farther point takes no fewer of them.
    """
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead, after = near[ours], far[theirs], above[ours], below[theirs]
        g, half = 0, away.size / 2
        for i in range(close.size):
            while g < away.size and half * drop[g] > away[g] - close[i]:
                after[g] = close.size - i
                g += 1
            ahead[i] = g
            loss[query] += (1.0 - discount[g]) / close.size
    return loss, above, below
