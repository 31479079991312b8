"""Boosted decision trees for two classes, as the FastHash authors grow them; plain arrays, numba kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.kernels import njit
from structhash._numerics.validation import describe
from structhash.io.fields import Field, Fields

LEVELS = 256  # values of a quantised feature
MAX_TREE_DEPTH = 10
GROWN_SHARE = 0.99  # of the weight of the rows; a tree grows on the heaviest rows that hold it
LEAF_ROWS = 5  # a node with at most this many rows of either bit is a leaf
WEIGHT_NOISE = 2.0**-52  # a weight up to here counts as 0
PERFECT_WEIGHT = np.log(1e8)  # weight of a tree without errors, minus the log of the total weight


def tree_fields(name: str) -> Fields:
    """The trees of `join` in an attribute of this name. It is optional."""
    nodes = ("n_bits", "n_trees", "n_nodes")
    return (
        Field(f"{name}/feature", nodes, "int", below="n_features", optional=True),
        Field(f"{name}/threshold", nodes, infinite=True, optional=True),
        Field(f"{name}/leaf", ("n_bits", "n_trees", "n_nodes+1"), optional=True),
    )


def level_edges(X: NDArray[Any]) -> NDArray[np.float64]:
    """Thresholds (d, 255) between the levels of each feature that occur in X (n, d), then infinity.

    The 256 levels divide the range, with a thousandth more at both ends, into equal steps.
    """
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    extra = np.maximum((high - low) / 1000, np.finfo(float).eps)
    step = (high - low + 2 * extra) / (LEVELS - 1)
    edges = (low - extra)[:, None] + step[:, None] * (np.arange(LEVELS - 1) + 0.5)
    kept = np.full(edges.shape, np.inf)
    for feature, level in enumerate(quantise(X, edges)):
        found = np.unique(level)[:-1]
        kept[feature, : len(found)] = edges[feature, found]
    return kept


def quantise(X: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Level of each number, uint8 (d, n): how many of its feature's edges do not exceed it."""
    return np.array([np.searchsorted(edge, x, side="right") for edge, x in zip(edges, X.T)], np.uint8)


def boost(
    levels: NDArray[np.uint8],
    edges: NDArray[np.float64],
    bits: NDArray[np.bool_],
    weights: NDArray[np.float64],
    n_trees: int,
    depth: int,
    n_features: int,
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    """AdaBoost of trees that predict 1 or -1 for the bit of a row.

    Each tree grows on the heaviest rows that hold 0.99 of the weight. V+ is the weight of the rows that it
    predicts correctly, V- of those that it predicts wrongly. The tree gets the weight w = log(V+ / V-) / 2, or
    0 unless V+ > V-, or log(1e8 V+) without errors. The weights of rows are multiplied by exp(-w) where it is
    right, by exp(w) where it is wrong.

    Parameters
    ----------
    levels : uint8 (d, n)
        From `quantise`.
    edges : float64 (d, 255)
        From `level_edges`.
    bits : bool (n,)
    weights : float64 (n,)
        First weights of the rows.
    n_trees, depth : int
    n_features : int
        Random features that each node tries; all where there are no more.

    Returns
    -------
    dict
        ``feature`` int32 and ``threshold`` float64 (n_trees, 2^depth - 1): a row goes from node k to node 2k +
        1 where it is below the threshold, else to 2k + 2. ``leaf`` float64 (n_trees, 2^depth): the weight of
        the tree, with a sign.
    """
    d, n_nodes = len(levels), 2**depth - 1
    tried = np.arange(d)[None, None]
    if n_features < d:
        keys = rng.random((n_trees, n_nodes, d), dtype=np.float32)
        tried = np.argpartition(keys, n_features, axis=2)[..., :n_features]
    feature, level = np.zeros((n_trees, n_nodes), np.int32), np.zeros((n_trees, n_nodes), np.int64)
    leaf = np.zeros((n_trees, n_nodes + 1))
    weights = weights * (len(weights) / weights.sum())
    n_edges = np.isfinite(edges).sum(axis=1)
    bits, tried = np.ascontiguousarray(bits), np.ascontiguousarray(tried)
    boosted(levels, n_edges, bits, weights, tried, feature, level, leaf)
    bounds = np.hstack([edges, np.full((d, 1), np.inf)])
    return {"feature": feature, "threshold": bounds[feature, level], "leaf": leaf}


@njit(cache=True, nogil=True)
def boosted(levels, n_edges, bits, weights, tried, feature, level, leaf):
    """`boost`; writes to the last three arrays."""
    n = levels.shape[1]
    right = np.zeros(n, np.bool_)
    signs = np.zeros(leaf.shape[1])
    for tree in range(len(leaf)):
        order = np.argsort(-weights, kind="mergesort")
        total, last, mass = weights.sum(), 0, weights[order[0]]
        while last < n - 1 and mass <= GROWN_SHARE * total:
            last += 1
            mass += weights[order[last]]
        rows = np.sort(order[: last + 1])
        features = tried[min(tree, len(tried) - 1)]
        grow(levels, n_edges, bits, weights, rows, features, feature[tree], level[tree], signs)
        good, bad = 0.0, 0.0
        for i in range(n):
            right[i] = (signs[reach(levels, i, feature[tree], level[tree])] > 0) == bits[i]
            if right[i]:
                good += weights[i]
            else:
                bad += weights[i]
        weight = np.log(good) + PERFECT_WEIGHT
        if bad > WEIGHT_NOISE:
            weight = 0.5 * np.log(good / bad) if good > bad else 0.0
        leaf[tree] = max(weight, 0.0) * signs
        if len(tried) == 1 and (bad == 0 or weight == 0):
            break  # the weights keep their proportions: each further tree would be this one, with weight 0
        for i in range(n):
            weights[i] *= np.exp(-weight if right[i] else weight)


@njit(cache=True, nogil=True)
def grow(levels, n_edges, bits, weights, rows, tried, feature, level, signs):
    """Grow one tree of smallest weighted error, node by node; writes to the last three arrays."""
    n_nodes, least = len(feature), min(LEAF_ROWS, levels.shape[1] // 20)
    node = np.zeros(len(rows), np.int64)
    sums, counts = np.zeros((2 * n_nodes + 1, 2)), np.zeros((2 * n_nodes + 1, 2), np.int64)
    histogram = np.zeros((LEVELS, 2))
    members = np.empty(len(rows), np.int64)
    answer = np.zeros(2 * n_nodes + 1)
    for k in range(2 * n_nodes + 1):
        m = 0
        for i in range(len(rows)):
            if node[i] == k:
                members[m] = i
                m += 1
                b = int(bits[rows[i]])
                sums[k, b] += weights[rows[i]]
                counts[k, b] += 1
        answer[k] = 1.0 if sums[k, 1] >= sums[k, 0] else -1.0
        if m == 0:
            answer[k] = answer[(k - 1) // 2] if k else 1.0
        if k >= n_nodes:
            signs[k - n_nodes] = answer[k]
            continue
        best, at, cut = np.inf, 0, LEVELS - 1
        if counts[k, 0] > least and counts[k, 1] > least:
            for f in tried[min(k, len(tried) - 1)]:
                histogram[: n_edges[f] + 1] = 0
                row = levels[f]
                for j in range(m):
                    i = rows[members[j]]
                    histogram[row[i], int(bits[i])] += weights[i]
                error = sums[k, 1]
                for v in range(n_edges[f]):
                    error += histogram[v, 0] - histogram[v, 1]
                    less = min(error, sums[k, 0] + sums[k, 1] - error)
                    if less < best:
                        best, at, cut = less, f, v
        feature[k], level[k] = at, cut
        row = levels[at]
        for j in range(m):
            i = members[j]
            node[i] = 2 * k + 1 + int(row[rows[i]] > cut)


@njit(cache=True, nogil=True)
def reach(levels, i, feature, level):
    """Leaf number of row i in one tree."""
    k = 0
    while k < len(feature):
        k = 2 * k + 1 + int(levels[feature[k], i] > level[k])
    return k - len(feature)


def check_depth(depth: int) -> None:
    """ValueError where trees would be too large."""
    if depth > MAX_TREE_DEPTH:
        raise ValueError(f"depth={describe(depth)}: give an integer from 1 to {MAX_TREE_DEPTH}")


def forest(
    X: NDArray[Any],
    bits: NDArray[np.bool_],
    n_trees: int,
    depth: int,
    n_features: int,
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    """Boosted trees for each bit; all rows start with the same weight.

    Parameters
    ----------
    X : ndarray (n, d)
    bits : bool ndarray (n, n_bits)
    n_trees, depth, n_features : see `boost`
    rng : Generator

    Returns
    -------
    dict of arrays
        Those of `boost`, with a first axis for bits.
    """
    edges = level_edges(X)
    levels, even = quantise(X, edges), np.ones(len(X))
    return join([boost(levels, edges, bit, even, n_trees, depth, n_features, rng) for bit in bits.T])


def tree_bits(X: NDArray[Any], trees: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Bits (n, n_bits) of rows X by their trees, as `forest` and `join` give them."""
    found: NDArray[np.bool_] = votes(X, trees["feature"], trees["threshold"], trees["leaf"]) >= 0
    return found


def join(trees: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """The trees of all bits, for `votes`: each array with a first axis for bits."""
    return {name: np.array([tree[name] for tree in trees]) for name in trees[0]}


@njit(cache=True, nogil=True)
def votes(X, feature, threshold, leaf):
    """Sum (n, n_bits) of the leaves that float rows X (n, d) reach in each bit's trees."""
    n_bits, n_trees, n_nodes = feature.shape
    out = np.zeros((len(X), n_bits))
    for bit in range(n_bits):
        for tree in range(n_trees):
            if leaf[bit, tree, 0] == 0:
                continue
            for i in range(len(X)):
                k = 0
                while k < n_nodes:
                    k = 2 * k + 1 + int(X[i, feature[bit, tree, k]] >= threshold[bit, tree, k])
                out[i, bit] += leaf[bit, tree, k - n_nodes]
    return out
