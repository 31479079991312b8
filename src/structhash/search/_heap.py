"""A bounded heap of the nearest codes of one query, inside kernels."""

from __future__ import annotations

from structhash._numerics.kernels import njit

__all__ = ["offer"]


@njit(cache=True, nogil=True)
def offer(distances, rows, size, distance, row):
    """Put a code into a heap that holds `size` codes, if it is among the nearest; return the new size.

    The root is the farthest by (distance, row).

    Parameters
    ----------
    distances : number array (k,)
    rows : int64 array (k,)
        Both are overwritten; places from `size` on are empty.
    size : int
        Counts as k where it is more: codes that come in ascending order of their rows give their row.
    distance : number
    row : int

    Returns
    -------
    int
    """
    k = len(distances)
    if size < k:  # a new leaf rises
        place = size
        while place > 0:
            parent = (place - 1) // 2
            if distances[parent] > distance or (distances[parent] == distance and rows[parent] > row):
                break
            distances[place], rows[place] = distances[parent], rows[parent]
            place = parent
        distances[place], rows[place] = distance, row
        return size + 1
    if distance > distances[0] or (distance == distances[0] and row > rows[0]):
        return size
    place = 0  # the root leaves, and the new code sinks
    while 2 * place + 1 < k:
        child = 2 * place + 1
        if child + 1 < k and (
            distances[child + 1] > distances[child]
            or (distances[child + 1] == distances[child] and rows[child + 1] > rows[child])
        ):
            child += 1
        if distances[child] < distance or (distances[child] == distance and rows[child] < row):
            break
        distances[place], rows[place] = distances[child], rows[child]
        place = child
    distances[place], rows[place] = distance, row
    return size
