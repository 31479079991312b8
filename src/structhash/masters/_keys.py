"""Kernels of `masters.columns`: entries by the bits in which their two points differ.

`queries` (Q,) are the points that own the entries ``ptr[q]:ptr[q+1]``, `partners` (E,) those they are compared
with. Places are made unsigned in the inner loops, which spares a test for negative ones.
"""

import numpy as np

from structhash._numerics.kernels import njit
from structhash._numerics.popcount import popcount


@njit(cache=True, nogil=True)
def count_keys(words, masks, radix, queries, partners, ptr):
    """sum_g radix[g] * (bits of mask g that differ), int32 (E,), of codes as uint64 `words` (n, n_words)."""
    out = np.empty(len(partners), np.int32)
    for q in range(len(queries)):
        for e in range(ptr[q], ptr[q + 1]):
            key = np.uint64(0)
            for w in range(words.shape[1]):
                x = words[queries[q], w] ^ words[partners[e], w]
                for g in range(len(radix)):
                    key += radix[g] * popcount(x & masks[g, w])
            out[e] = key
    return out


@njit(cache=True, nogil=True)
def sort_keys(keys, n_keys, ptr, order, run):
    """Sort the entries of each query by key, equal ones as they came, and cut them into runs of one key.

    Writes for the sorted entries `order` (E,), their places from the query's first entry, and `run` (E,), the
    number of their run among those of the query. Returns the key and the length of each run, int32 (R,), and
    the pointers of the runs of each query.
    """
    run_ptr = np.zeros(len(ptr), np.int64)
    run_key, run_size = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    place, r = np.zeros(n_keys, np.int32), 0
    for q in range(len(ptr) - 1):
        low, high = n_keys, -1
        for e in range(ptr[q], ptr[q + 1]):
            place[keys[e]] += 1
            low, high = min(low, keys[e]), max(high, keys[e])
        total = ptr[q]
        for key in range(low, high + 1):
            size = place[key]
            place[key] = total
            if size:
                run_key[r], run_size[r] = key, size
                run[total : total + size] = r - run_ptr[q]
                total, r = total + size, r + 1
        for e in range(ptr[q], ptr[q + 1]):
            order[place[keys[e]]] = e - ptr[q]
            place[keys[e]] += 1
        place[low : high + 1] = 0
        run_ptr[q + 1] = r
    return run_key[:r].copy(), run_size[:r].copy(), run_ptr


@njit(cache=True, nogil=True)
def rank_runs(run, run_key, run_size, run_ptr, ptr, value):
    """Rank the runs of each query by the value of their key.

    Returns how far the entries of each run move for it, int64 (R,), and the ascending values, float64 (E,).
    """
    shift, out = np.empty(len(run_key), np.int64), np.empty(len(run))
    ranked, own = np.empty(len(run_key), np.int32), value[run_key]
    for q in range(len(run_ptr) - 1):
        first, last = run_ptr[q], run_ptr[q + 1]
        was = 0
        for r in range(first, last):  # all but sorted already: inserting is fast
            i = r
            while i > first and own[ranked[i - 1]] > own[r]:
                ranked[i] = ranked[i - 1]
                i -= 1
            ranked[i] = r
            shift[r] = -was
            was += run_size[r]
        now = 0
        for r in ranked[first:last]:
            shift[r] += now
            now += run_size[r]
        base = np.uint64(first)
        for e in range(np.uint64(ptr[q]), np.uint64(ptr[q + 1])):
            own_run = base + np.uint64(run[e])
            out[e + np.uint64(shift[own_run])] = own[own_run]
    return shift, out


@njit(cache=True, nogil=True)
def restore(values, order, run, shift, run_ptr, ptr):
    """Values (E,) of entries by ranked runs, in the entries' own order."""
    out = np.empty_like(values)
    for q in range(len(ptr) - 1):
        first, base = np.uint64(ptr[q]), np.uint64(run_ptr[q])
        for e in range(first, np.uint64(ptr[q + 1])):
            out[first + np.uint64(order[e])] = values[e + np.uint64(shift[base + np.uint64(run[e])])]
    return out


@njit(cache=True, nogil=True)
def sum_runs(values, run, shift, run_key, run_ptr, ptr, unit, n_keys):
    """Sum of unit[query] * value over the entries of each key, float64 (n_keys,), values by ranked runs."""
    out, part = np.zeros(n_keys), np.zeros(len(run_key), values.dtype)
    for q in range(len(unit)):
        base = np.uint64(run_ptr[q])
        for e in range(np.uint64(ptr[q]), np.uint64(ptr[q + 1])):
            own_run = base + np.uint64(run[e])
            part[own_run] += values[e + np.uint64(shift[own_run])]
        for r in range(run_ptr[q], run_ptr[q + 1]):
            out[run_key[r]] += unit[q] * part[r]
    return out


@njit(cache=True, nogil=True)
def sort_again(values, order, ptr):
    """Values (E,) of each query, ascending; `order` (E,), places from its first entry, is updated.

    Insertion is fast where the last weights were nearly the same. Where it is slow, a merge sort finishes.
    """
    out = np.empty_like(values)
    for q in range(len(ptr) - 1):
        first, last = ptr[q], ptr[q + 1]
        moves, most = 0, 16 * (last - first)
        for e in range(first, last):
            place, value, i = order[e], values[first + order[e]], e
            while i > first and out[i - 1] > value and moves <= most:
                out[i], order[i] = out[i - 1], order[i - 1]
                i, moves = i - 1, moves + 1
            out[i], order[i] = value, place
        if moves > most:
            order[first:last] = np.argsort(values[first:last], kind="mergesort")
            for e in range(first, last):
                out[e] = values[first + order[e]]
    return out


@njit(cache=True, nogil=True)
def table_distances(codes, queries, partners, ptr, tables):
    """Sum over bytes b of tables[b, byte that differs], float64 (E,), of codes uint8 (n, n_bytes)."""
    out = np.empty(len(partners))
    for q in range(len(queries)):
        own = np.uint64(queries[q])
        for e in range(np.uint64(ptr[q]), np.uint64(ptr[q + 1])):
            other, total = np.uint64(partners[e]), 0.0
            for b in range(np.uint64(len(tables))):
                total += tables[b, np.uint64(codes[own, b] ^ codes[other, b])]
            out[e] = total
    return out


@njit(cache=True, nogil=True)
def sum_bytes(codes, queries, partners, order, ptr, values, unit, n_bytes):
    """Sum of unit[query] * value over the entries that differ by each byte, float64 (n_bytes, 256).

    `values` are in the order of `sort_again`.
    """
    out = np.zeros((n_bytes, 256))
    for q in range(len(queries)):
        own, first = np.uint64(queries[q]), np.uint64(ptr[q])
        for e in range(first, np.uint64(ptr[q + 1])):
            other, value = np.uint64(partners[first + np.uint64(order[e])]), unit[q] * values[e]
            for b in range(np.uint64(n_bytes)):
                out[b, np.uint64(codes[own, b] ^ codes[other, b])] += value
    return out


@njit(cache=True, nogil=True)
def sum_differing(indptr, unit, group, values, differ, out):
    """out[group[row]] += unit[row] * value for the entries of a `PairGraph` that differ, of whole `values`."""
    for r in range(len(unit)):
        part = 0
        for e in range(indptr[r], indptr[r + 1]):
            part += values[e] * differ[e]
        out[group[r]] += unit[r] * part


@njit(cache=True, nogil=True)
def add_scaled(indptr, unit, values, out):
    """out += unit[row] * value, for the entries of a `PairGraph`."""
    for r in range(len(unit)):
        for e in range(indptr[r], indptr[r + 1]):
            out[e] += unit[r] * values[e]
