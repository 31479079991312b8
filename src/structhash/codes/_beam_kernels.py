"""The kernel of a beam search for sums of vectors, one a byte."""

from __future__ import annotations

import numpy as np

from structhash._numerics.kernels import njit


@njit(cache=True, nogil=True)
def search_beams(costs, products, sizes, beam, codes):
    """Write the best code that a beam search finds for each row to uint8 (n, n_bytes).

    The cost of a code b is ``sum_m costs[i, m, b_m] + sum_{j < m} products[m (m - 1) / 2 + j, b_j, b_m]``. Byte
    after byte, the `beam` cheapest codes of the bytes so far are kept.

    Parameters
    ----------
    costs : float32 (n, n_bytes, 256)
    products : float32 (n_bytes (n_bytes - 1) / 2, 256, 256)
    sizes : int64 (n_bytes,)
        Number of values of each byte.
    beam : int
    codes : uint8 (n, n_bytes)
        Is overwritten.
    """
    n_bytes = costs.shape[1]
    kept, grown = np.zeros((beam, n_bytes), np.uint8), np.zeros((beam, n_bytes), np.uint8)
    cost, cheapest = np.zeros(beam, np.float32), np.zeros(beam, np.float32)
    parent, value = np.zeros(beam, np.int64), np.zeros(beam, np.int64)
    total = np.empty(256, np.float32)
    for i in range(len(costs)):
        n_kept = 1
        cost[0] = 0
        for m in range(n_bytes):
            n_grown = 0
            limit = np.float32(np.inf)
            first = m * (m - 1) // 2
            for c in range(n_kept):
                total[:] = costs[i, m]
                for j in range(m):
                    added = products[first + j, kept[c, j]]
                    for v in range(256):
                        total[v] += added[v]
                for v in range(sizes[m]):
                    x = cost[c] + total[v]
                    if x < limit or n_grown < beam:
                        place = min(n_grown, beam - 1)
                        n_grown = min(n_grown + 1, beam)
                        while place > 0 and cheapest[place - 1] > x:
                            cheapest[place] = cheapest[place - 1]
                            parent[place], value[place] = parent[place - 1], value[place - 1]
                            place -= 1
                        cheapest[place], parent[place], value[place] = x, c, v
                        if n_grown == beam:
                            limit = cheapest[beam - 1]
            for c in range(n_grown):
                for j in range(m):
                    grown[c, j] = kept[parent[c], j]
                grown[c, m] = value[c]
                cost[c] = cheapest[c]
            kept, grown = grown, kept
            n_kept = n_grown
        codes[i] = kept[0]
