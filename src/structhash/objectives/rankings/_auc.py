"""Kernels of `AUC`."""

import numpy as np

from structhash._numerics.kernels import njit


@njit(cache=True, nogil=True)
def violate_auc(near, far, near_ptr, far_ptr):
    """Invert a pair if and only if far - near < 1/2: one merge of the sorted distances."""
    loss = np.zeros(near_ptr.size - 1)
    above, below = np.zeros(near.size, np.int32), np.zeros(far.size, np.int32)
    for query in range(loss.size):
        ours = slice(near_ptr[query], near_ptr[query + 1])
        theirs = slice(far_ptr[query], far_ptr[query + 1])
        close, away, ahead, after = near[ours], far[theirs], above[ours], below[theirs]
        g, inverted = 0, 0
        for i in range(close.size):
            while g < away.size and away[g] - close[i] < 0.5:
                after[g] = close.size - i
                g += 1
            ahead[i] = g
            inverted += g
        loss[query] = inverted / max(1, close.size * away.size)
    return loss, above, below
