"""Small decision trees with a bit at each leaf, on the rows as they are."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import as_floats
from structhash._numerics.kernels import njit
from structhash._numerics.program import Program
from structhash._numerics.validation import describe
from structhash.families._stumps import best_cut, searched_features
from structhash.families.base import DEFAULT_START, Family
from structhash.families.starts.base import Start
from structhash.families.stump import Stump
from structhash.io.fields import Field, Fields
from structhash.pair_weights import PairWeights
from structhash.pieces import Params

__all__ = ["Tree"]

MAX_DEPTH = 10


@dataclass(frozen=True)
class Tree(Family):
    """A decision tree with a bit at each leaf, grown greedily from the best stump.

    The tree grows level by level. Each leaf is split by the cut that raises h'Lh most when the points on one
    side take the other bit and all other points keep theirs. A leaf without a gain stays a leaf and is tried
    again at the next level. So the score of a tree is never below that of the best stump; at depth 1 they are
    equal.

    Parameters
    ----------
    depth : int
        Cuts between root and leaf, 1 to 10.

    References
    ----------
    Lin, Shen, Shi, van den Hengel, Suter, Fast supervised hashing with decision trees for high-dimensional
    data, CVPR 2014, https://arxiv.org/abs/1404.1561 (its trees are fitted to bits inferred beforehand).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from structhash import StructHash
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = StructHash(8, family="tree:depth=2", random_state=0).fit(X[:300], y[:300])
    >>> encoder.hash_function_.bits["threshold"].shape
    (8, 3)
    """

    state_fields: ClassVar[Fields | None] = (Field("low", ("n_features",)), Field("high", ("n_features",)))
    bit_fields: ClassVar[Fields | None] = (
        Field("feature", ("n_bits", "n_nodes"), "int", below="n_features"),
        Field("threshold", ("n_bits", "n_nodes"), infinite=True),
        Field("leaf", ("n_bits", "n_nodes+1"), "int", least=-1, most=1),
    )

    depth: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.depth, Integral) or not 1 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"depth={describe(self.depth)}: give an integer from 1 to {MAX_DEPTH}")

    def prepare(self, X: NDArray[Any], rng: np.random.Generator) -> Params:
        """As `Stump.prepare`."""
        return Stump().prepare(X, rng)

    def features(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """The rows themselves, as floats."""
        return as_floats(X)

    def decide(self, Z: NDArray[Any], params: Params) -> NDArray[Any]:
        """1 or -1 (n, m) for the bits of m trees, as `learn` gives them."""
        return leaves(Z, params["feature"], params["threshold"], params["leaf"]).astype(Z.dtype)

    def express(self, program: Program, X: str, state: Params, params: Params) -> str:
        """See `Family.express`. A leaf counts if as many cuts as the depth lead to it."""
        paths, trees = _paths(params["feature"].shape[1]), []
        depth = np.abs(paths).sum(axis=0).max()
        for feature, threshold, leaf in zip(params["feature"], params["threshold"], params["leaf"]):
            above = program.step("greater", program.step("columns", X, feature), threshold)
            sides = program.step("subtract", program.step("multiply", above, 2.0), 1.0)
            agreed = program.step("subtract", program.step("matmul", sides, paths), depth - 1)
            trees.append(program.step("matmul", program.step("maximum", agreed, 0.0), leaf[:, None]))
        return program.step("concatenate", *trees)

    def learn(
        self,
        Z: NDArray[Any],
        pairs: PairWeights,
        rng: np.random.Generator,
        start: Start = DEFAULT_START,
        retry: bool = False,
    ) -> Params:
        """One tree. `start` has no effect.

        Returns
        -------
        dict
            ``feature`` (1, 2^depth - 1) int32 and ``threshold`` of the same shape: rows above the threshold of
            node k go to node 2k + 2, others to 2k + 1; ``leaf`` (1, 2^depth) int8, 1 or -1.
        """
        columns = searched_features(Z, rng, retry)
        Z, W, n_cuts = Z[:, columns], pairs.weights, 2**self.depth - 1
        least = 1e-9 * np.abs(W.data).sum(dtype=np.float64)  # gains below are rounding errors
        feature, threshold = np.zeros(n_cuts, np.intp), np.full(n_cuts, np.inf, Z.dtype)
        leaf = np.full(n_cuts + 1, -1, np.int8)
        node, side = np.zeros(len(Z), np.int64), np.full(len(Z), -1.0)  # of each row; side 1 where its bit is 1
        for k in range(n_cuts):
            rows = np.flatnonzero(node == k)
            if len(rows) == 0:
                continue
            others = side.copy()
            others[rows] = 0
            cut = best_cut(Z[rows], W[rows][:, rows], side[rows] * (W[rows] @ others))
            above = np.zeros(len(rows), bool)
            if k == 0 or cut.gain > least:
                feature[k], threshold[k] = cut.feature, cut.threshold
                above = Z[rows, cut.feature] > threshold[k]
                side[rows[above == cut.above]] *= -1
            node[rows] = 2 * k + 1 + above
        leaf[node - n_cuts] = side
        return {"feature": columns[feature][None], "threshold": threshold[None], "leaf": leaf[None]}


def _paths(n_cuts: int) -> NDArray[np.float32]:
    """Cuts on the way to each leaf, (n_cuts, n_cuts + 1): 1 where it lies above, -1 below, 0 on no way."""
    paths = np.zeros((n_cuts, n_cuts + 1), np.float32)
    for leaf in range(n_cuts + 1):
        k = n_cuts + leaf
        while k:
            parent = (k - 1) // 2
            paths[parent, leaf], k = (1 if k == 2 * parent + 2 else -1), parent
    return paths


@njit(cache=True, nogil=True)
def leaves(Z, feature, threshold, leaf):
    """Value, int8 (n, m), of the leaf that each row of Z (n, d) reaches in each of m trees."""
    n_cuts = feature.shape[1]
    out = np.empty((len(Z), len(feature)), np.int8)
    for i in range(len(Z)):
        for tree in range(len(feature)):
            k = 0
            while k < n_cuts:
                k = 2 * k + 1 + (Z[i, feature[tree, k]] > threshold[tree, k])
            out[i, tree] = leaf[tree, k - n_cuts]
    return out
