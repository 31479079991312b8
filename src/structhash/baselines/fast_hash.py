"""FastHash: bits of the training rows by graph cuts, hash functions by boosted trees, one bit after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count
from structhash.baselines._boosted_trees import (
    boost,
    check_depth,
    join,
    level_edges,
    quantise,
    tree_bits,
    tree_fields,
)
from structhash.baselines._label_pairs import LabelPairs, draw_pairs
from structhash.baselines._two_step import LOSSES, check_word, class_blocks, graph_cut, pair_weights
from structhash.baselines.base import MAX_SQUARABLE, SupervisedBaseline, TrainingRows, equal_bits
from structhash.pieces import Params

__all__ = ["FastHash"]


class FastHash(SupervisedBaseline):
    """FastHash: for each bit a block graph cut over pairs of training rows, then boosted decision trees.

    D_ij is the Hamming distance of rows i and j in the first r - 1 bits. The wanted bit r is

        min over z in {-1, 1}^n of sum over pairs a_ij z_i z_j,    a_ij = l(D_ij) - l(D_ij + 1),

    with the loss l of a code of r bits, by default the hinge (D/r)^2 of similar pairs and max(0, 1/2 - D/r)^2
    of dissimilar ones. z starts at ones. A sweep sets the rows of one class after the other by a minimum cut,
    which is exact since all a <= 0 within a class; there are n_sweeps. The hash function is h(x) = [sum_t w_t
    T_t(x) >= 0], an AdaBoost of decision trees T_t in {-1, 1}, fitted to z with weight sum_j |a_ij| for row i.
    D counts the bits that h gives.

    Parameters
    ----------
    n_bits : int
        Length of the code. With the same integer seed a shorter code is the prefix of a longer one.
    loss : {"hinge", "ksh", "bre"}
        l, see `structhash.baselines._two_step.pair_loss`. The authors say that hinge does best.
    n_trees, depth : int
        Trees a bit and cuts between root and leaf (at most 10); 200 and 4 in the authors' code.
    n_features : int
        Random features that each node tries; all where there are no more.
    n_similar, n_dissimilar : int
        Pairs drawn for each row; 100 and 100 in the authors' code.
    n_sweeps : int
        Sweeps of the graph cuts over the classes; 2 in the authors' code.
    random_state : int, RandomState, Generator or None
        Draws pairs, the order of the classes and features.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    trees_ : dict of arrays
        ``feature`` int32 and ``threshold`` float64 (n_bits, n_trees, 2^depth - 1): a row goes from node k to
        node 2k + 1 where it is below the threshold, else to 2k + 2; ``leaf`` (n_bits, n_trees, 2^depth), +-w_t
        or 0.

    Notes
    -----
    This follows the authors' code: features have 256 levels, trees grow on the heaviest 99 percent of the
    weight, and a node with at most five rows of either bit has no cut (n / 20 in sets of fewer than 100 rows).
    Bits are learned one after another with row weights, and the loss counts the bits so far.
    ``TSH(function="trees", inference="graph_cut")`` infers all bits first, without weights. Weights of pairs
    are scaled to integers, so that the cuts are exact.

    2,000 rows of 256 features, 64 bits: a minute on a slow core, mAP on usps 0.952 (the authors' code: 0.953).

    References
    ----------
    Lin, Shen, Shi, van den Hengel, Suter (2014), Fast supervised hashing with decision trees for
    high-dimensional data, https://doi.org/10.1109/CVPR.2014.253; Lin, Shen, van den Hengel (2015), Supervised
    hashing using graph cuts and boosted decision trees, https://doi.org/10.1109/TPAMI.2015.2404776

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> FastHash(n_bits=8, n_trees=20, random_state=0).fit(X[:300], y[:300]).encode(X).shape
    (1797, 1)
    """

    source = "Lin et al. 2014"
    original = "Fassial/Alveo-CiM"
    settings_from = (
        "authors': hinge loss, 200 trees of depth 4 a bit, 100 similar and 100 dissimilar pairs a row"
    )
    magnitudes = (1 / MAX_SQUARABLE, MAX_SQUARABLE)
    fitted_fields = tree_fields("trees_")

    trees_: Params

    def __init__(
        self,
        n_bits: int = 64,
        *,
        loss: str = "hinge",
        n_trees: int = 200,
        depth: int = 4,
        n_features: int = 200,
        n_similar: int = 100,
        n_dissimilar: int = 100,
        n_sweeps: int = 2,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.loss = loss
        self.n_trees = n_trees
        self.depth = depth
        self.n_features = n_features
        self.n_similar = n_similar
        self.n_dissimilar = n_dissimilar
        self.n_sweeps = n_sweeps
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        for name in ("n_trees", "depth", "n_features", "n_similar", "n_dissimilar", "n_sweeps"):
            check_count(name, getattr(self, name))
        check_depth(self.depth)
        check_word("loss", self.loss, LOSSES)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        X = rows.X
        pairs = draw_pairs(rows.class_index, self.n_similar, self.n_dissimilar, rng)
        edges = level_edges(X)
        levels = quantise(X, edges)
        blocks = class_blocks(pairs, rows.class_index)
        distance = np.zeros(len(pairs.first), np.int64)
        trees = []
        for bit in range(self.n_bits):
            a = pair_weights(self.loss, distance, pairs.similar, bit + 1)
            z = graph_cut(blocks, a, self.n_sweeps, rng)
            weights = _row_weights(pairs, a, len(X))
            tree = boost(levels, edges, z > 0, weights, self.n_trees, self.depth, self.n_features, rng)
            h = tree_bits(X, join([tree]))[:, 0]
            distance += h[pairs.first] != h[pairs.second]
            trees.append(tree)
        return {"trees_": join(trees), **equal_bits(self.n_bits)}

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        return tree_bits(X, self.trees_)


def _row_weights(pairs: LabelPairs, a: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Sum of |a_ij| of each row's pairs (n,); ones where no pair has a weight."""
    size = np.abs(a).astype(np.float64)
    weights = np.bincount(pairs.first, size, n) + np.bincount(pairs.second, size, n)
    return weights.astype(np.float64) if weights.any() else np.ones(n)
