"""Step 1 of two-step hashing: the next bit of each training row, as a binary quadratic problem over pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow
from scipy.sparse.linalg import eigsh

from structhash._numerics.validation import describe
from structhash.baselines._label_pairs import LabelPairs

LOSSES = ("ksh", "hinge", "bre")
LBFGS_ITER = 30
MAX_DENSE_ROWS = 50  # up to here all eigenvectors are found


def check_word(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """ValueError unless `value` is one of the words allowed."""
    if value not in allowed:
        raise ValueError(f"{name}={describe(value)}: give one of {', '.join(allowed)}")


def pair_loss(
    loss: str, distance: NDArray[np.int64], similar: NDArray[np.bool_], length: int
) -> NDArray[np.int64]:
    """Loss of pairs, times 4 m^2, for codes of m = `length` bits at Hamming distances D: integers.

    ksh: (s - (m - 2D) / m)^2, s = 1 for similar pairs and -1 for others; bre: (D / m)^2 and (1 - D / m)^2;
    hinge: (D / m)^2 and max(0, 1/2 - D / m)^2.
    """
    near = 2 * distance
    if loss == "hinge":
        return np.where(similar, near, np.maximum(0, length - near)) ** 2
    scale = 4 if loss == "ksh" else 1
    return scale * np.where(similar, near, 2 * length - near) ** 2


def pair_weights(
    loss: str, distance: NDArray[np.int64], similar: NDArray[np.bool_], length: int
) -> NDArray[np.int64]:
    """a of each pair: the loss after the next bit z in {-1, 1} is half of sum a_ij z_i z_j, plus a constant."""
    return pair_loss(loss, distance, similar, length) - pair_loss(loss, distance + 1, similar, length)


def energy(pairs: LabelPairs, a: NDArray[Any], z: NDArray[Any]) -> float:
    """Sum over pairs of a_ij z_i z_j, which the new bit should make small."""
    return float(np.sum(a * z[pairs.first] * z[pairs.second]))


class Block(NamedTuple):
    """Rows of one class and the pairs that hold them.

    Attributes
    ----------
    rows : (m,)
        Row numbers.
    inner : (n_inner,)
        Numbers of the pairs within the class.
    first, second : (n_inner,)
        The rows of these pairs, numbered within the class.
    outer : (n_outer,)
        Numbers of the pairs with rows of other classes.
    own : (n_outer,)
        The row of the class in each of these pairs, numbered within the class.
    other : (n_outer,)
        The other row, numbered among all rows.
    """

    rows: NDArray[np.int64]
    inner: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    outer: NDArray[np.int64]
    own: NDArray[np.int64]
    other: NDArray[np.int64]


def class_blocks(pairs: LabelPairs, index: NDArray[np.int64]) -> list[Block]:
    """A block for each class."""
    place = np.empty(len(index), np.int64)
    blocks = []
    for c in range(index.max() + 1):
        rows = np.flatnonzero(index == c)
        place[rows] = np.arange(len(rows))
        left, right = index[pairs.first] == c, index[pairs.second] == c
        inner = np.flatnonzero(left & right)
        ours, theirs = np.flatnonzero(left & ~right), np.flatnonzero(right & ~left)
        own = np.concatenate([pairs.first[ours], pairs.second[theirs]])
        other = np.concatenate([pairs.second[ours], pairs.first[theirs]])
        ends = (place[pairs.first[inner]], place[pairs.second[inner]])
        blocks.append(Block(rows, inner, *ends, np.concatenate([ours, theirs]), place[own], other))
    return blocks


def graph_cut(
    blocks: list[Block], a: NDArray[np.int64], n_sweeps: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Bits z (n,) by exact minimisation over the rows of one class at a time, from all ones.

    Within a class all a are <= 0. So the best z of its rows, while the other rows keep theirs, is a minimum
    cut. The classes take turns in random order. All numbers are integers: the cut is exact, and the energy
    never rises.
    """
    z = np.ones(sum(len(block.rows) for block in blocks), np.int64)
    for _ in range(n_sweeps):
        for c in rng.permutation(len(blocks)):
            block = blocks[c]
            pull = np.bincount(block.own, a[block.outer] * z[block.other], len(block.rows))
            z[block.rows] = best_block(block.first, block.second, -a[block.inner], pull.astype(np.int64))
    return z


def best_block(
    first: NDArray[np.int64], second: NDArray[np.int64], ties: NDArray[np.int64], pull: NDArray[np.int64]
) -> NDArray[np.int64]:
    """z (m,) in {-1, 1} that minimises pull'z - sum over edges of ties z_first z_second, all ties >= 0.

    A minimum cut gives it. The cut separates a source and the rows of z = 1 from a sink and the rows of z = -1.
    It pays the ties between rows of different z, and each pull whose row has the sign of the pull.
    """
    if (pull >= 0).all() or (pull <= 0).all():
        return np.full(len(pull), 1 if pull.sum() <= 0 else -1)
    m, row = len(pull), np.arange(len(pull))
    source, sink = np.full(m, m), np.full(m, m + 1)
    tails = np.concatenate([first, second, source, row])
    heads = np.concatenate([second, first, row, sink])
    capacity = np.concatenate([ties, ties, np.maximum(-pull, 0), np.maximum(pull, 0)])
    capacity = np.minimum(capacity, np.iinfo(np.int32).max).astype(np.int32)
    graph = csr_array(coo_array((capacity, (tails, heads)), shape=(m + 2, m + 2)))
    graph.eliminate_zeros()
    rest = graph - maximum_flow(graph, m, m + 1).flow
    rest.data = np.maximum(rest.data, 0)
    rest.eliminate_zeros()
    z = np.full(m + 2, -1)
    z[breadth_first_order(rest, m, return_predecessors=False)] = 1
    return z[:m]


def relax(pairs: LabelPairs, a: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Bits z (n,) from two relaxations of min sum a_ij z_i z_j.

    The first gives the signs of the eigenvector of smallest eigenvalue. The second is L-BFGS-B over the box
    [-1, 1]^n from there; its signs are taken where their energy is lower.
    """
    scaled = a / max(np.abs(a).max(initial=0), 1)
    A = symmetric(pairs, scaled, n)
    if n <= MAX_DENSE_ROWS:
        vector = eigh(A.toarray(), subset_by_index=[0, 0])[1][:, 0]
    else:
        vector = eigsh(A, k=1, which="SA", v0=rng.standard_normal(n))[1][:, 0]
    z = np.where(vector * np.sign(vector[np.abs(vector).argmax()]) >= 0, 1, -1)

    def value(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slope = A @ x
        return float(x @ slope) / (2 * n), slope / n

    start, box, stop = z.astype(float), [(-1, 1)] * n, {"maxiter": LBFGS_ITER}
    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=box, options=stop)
    other = np.where(found.x >= 0, 1, -1)
    return other if energy(pairs, a, other) < energy(pairs, a, z) else z


def symmetric(pairs: LabelPairs, a: NDArray[Any], n: int) -> csr_array:
    """Symmetric matrix (n, n) of pair weights."""
    both = (np.concatenate([pairs.first, pairs.second]), np.concatenate([pairs.second, pairs.first]))
    return csr_array(coo_array((np.concatenate([a, a]), both), shape=(n, n)))
