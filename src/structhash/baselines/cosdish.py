"""Column sampling based discrete supervised hashing: codes from columns of the similarity matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from structhash._numerics.validation import check_count, check_positive, describe
from structhash.baselines._boosted_trees import check_depth, forest, tree_bits, tree_fields
from structhash.baselines._rows import SAME_LABELS
from structhash.baselines.base import (
    MAX_SQUARABLE,
    PLANE_FIELDS,
    SupervisedBaseline,
    TrainingRows,
    equal_bits,
    planes_through,
    through_mean,
)
from structhash.codes.planes import Planes
from structhash.io.fields import Field
from structhash.pieces import Params

__all__ = ["COSDISH"]

_FUNCTIONS = ("linear", "trees")
_PULL_NOISE = 1e-5  # a sum of signs below this is 0


class COSDISH(SupervisedBaseline):
    """Column sampling based discrete supervised hashing: codes fitted to sampled columns of the similarities.

    It seeks codes B in {-1, 1}^(n x L), L = n_bits, that make ||L S - BB'||_F^2 small. S_ij is 1 for rows that
    share a label and -r for others, where r is the number of similar entries over that of dissimilar ones. Each
    of `max_iter` rounds draws the columns O, as many as bits, and alternates `n_alternations` times. It renews
    the codes of these rows, one bit b_k after the other, by

        min ||R_O - b_k b_k'||_F^2 + ||R_G - g_k b_k'||_F^2,   R = L S - sum of the bits before k,

    where G are all other rows and g_k their bits. Then it renews the codes of G by the sign of S_GO B_O, which
    minimises the absolute error where r = 1 (a sum of 0 leaves the bit). Half of the entries of b_k are 1, so
    that the quadratic programme becomes the search of a cluster of given size. That search tries the nearest
    neighbours of each point: its scatter is at most twice the least one. At the end hash functions are fitted
    to B: ridge regressions on the standardised features, h(x) = [w'z > 0], or boosted trees.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    max_iter, n_alternations : int
        Rounds, all of which are done, and alternations in each; the authors use 10 and 3.
    function : {"linear", "trees"}
        The hash functions. Linear ones are the default of the public code, but need features in which classes
        are linearly apart; boosted trees, the paper's COSDISH_BT, take far longer.
    ridge : float
        Of the linear functions, min ||B - ZW||_F^2 + ridge ||W||_F^2; 1 in the public code.
    n_trees, depth, n_features : int
        Of the boosted trees, which are those of `FastHash`.
    random_state : int, RandomState, Generator or None
        Draws the first codes, the columns, and the features that trees try.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Mean of the training rows.
    planes_ : ndarray (n_bits, d)
        One normal vector a bit, for rows that are centred but not divided by their standard deviations.
    trees_ : dict of arrays
        See `FastHash`. Only where the function is ``"trees"``; then mean_ and planes_ are missing.
    n_iter_ : int
        Rounds done: max_iter.

    Notes
    -----
    This follows the code in Eddie-Wang1120/single-modal-supervised-hashing-baseline-for-image-retrieval. The
    authors' own release is not available. That code has entries r, not -r, in S for dissimilar rows: half of
    each b_k has either sign, so that this only adds a constant to the objectives, and the answer is the same
    (for odd L nearly so). It finds neighbours by a Cholesky factor of a shifted matrix; here they are read off
    the matrix itself. Among equally near points, rounding decides there; here those drawn first come first.
    Standard deviations are those of the training rows.

    The paper gives training rows their learned codes; here they go through the hash functions, as all rows do.
    No code of the variant with trees is public. With fewer rows than bits all rows are columns. A row without a
    label is similar to none.

    References
    ----------
    Kang, Li, Zhou (2016), Column sampling based discrete supervised hashing, AAAI,
    https://doi.org/10.1609/aaai.v30i1.10176

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> COSDISH(n_bits=32, random_state=0).fit(X[:300], y[:300]).encode(X).shape
    (1797, 4)
    """

    source = "Kang et al. 2016"
    original = "Eddie-Wang1120/single-modal-supervised-hashing-baseline-for-image-retrieval"
    settings_from = "authors': 10 rounds of 3 alternations; linear hash functions, ridge 1"
    magnitudes = (1 / MAX_SQUARABLE, np.inf)
    fitted_fields = (
        Field("n_iter_", kind="int", least=0),
        *(replace(field, optional=True) for field in PLANE_FIELDS),
        *tree_fields("trees_"),
    )

    takes_several_labels = True

    mean_: NDArray[Any]
    planes_: NDArray[Any]
    trees_: Params
    n_iter_: int

    def __init__(
        self,
        n_bits: int = 64,
        *,
        max_iter: int = 10,
        n_alternations: int = 3,
        function: str = "linear",
        ridge: float = 1.0,
        n_trees: int = 200,
        depth: int = 4,
        n_features: int = 200,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.n_alternations = n_alternations
        self.function = function
        self.ridge = ridge
        self.n_trees = n_trees
        self.depth = depth
        self.n_features = n_features
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        for name in ("max_iter", "n_alternations", "n_trees", "depth", "n_features"):
            check_count(name, getattr(self, name))
        check_depth(self.depth)
        if self.function not in _FUNCTIONS:
            raise ValueError(f"function={describe(self.function)}: give {' or '.join(map(repr, _FUNCTIONS))}")
        check_positive("ridge", self.ridge)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        X, mean = rows.X, rows.mean
        B = _learn_codes(rows, self.n_bits, self.max_iter, self.n_alternations, rng)
        done = {"n_iter_": int(self.max_iter)}
        if self.function == "trees":
            trees = forest(X, B > 0, self.n_trees, self.depth, self.n_features, rng)
            return {"trees_": trees, **done, **equal_bits(self.n_bits)}
        scale = _deviations(X, mean)
        planes = (_ridge_weights((X - mean) / scale, B, self.ridge) / scale[:, None]).T
        return {**done, **planes_through(mean, planes, X.dtype)}

    def _planes(self) -> Planes | None:
        return through_mean(self.mean_, self.planes_) if "planes_" in vars(self) else None

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        return tree_bits(X, self.trees_)


def _learn_codes(
    rows: TrainingRows, n_bits: int, max_iter: int, n_alternations: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Codes of the training rows, from their labels alone.

    Parameters
    ----------
    rows : TrainingRows
    n_bits, max_iter, n_alternations : int
    rng : Generator

    Returns
    -------
    ndarray (n, n_bits)
        -1 or 1.

    Raises
    ------
    ValueError
        If every two of the rows drawn share a label, or no two do.
    """
    n, differ = len(rows.X), False
    B = np.where(rng.random((n, n_bits)) < 0.5, 1.0, -1.0)
    for _ in range(max_iter):
        columns = rng.choice(n, min(n_bits, n), replace=False)
        others = np.delete(np.arange(n), columns)
        similar = rows.sharing(columns).astype(np.float64)
        alike = similar.sum()
        differ |= 0 < alike < similar.size
        r = alike / max(similar.size - alike, 1)
        S, to_others = (1 + r) * similar[:, columns] - r, similar[:, others]
        for _ in range(n_alternations):
            G = B[others]
            drawn = to_others @ G  # sums of G over the rows that share a label with each column
            B[columns] = _column_codes(S, (1 + r) * drawn - r * G.sum(axis=0), G.T @ G)
            pull = (1 + r) * (to_others.T @ B[columns]) - r * B[columns].sum(axis=0)
            B[others] = np.where(np.abs(pull) < _PULL_NOISE, G, np.where(pull > 0, 1.0, -1.0))
    if not differ:
        raise ValueError(SAME_LABELS)
    return B


def _column_codes(
    S: NDArray[np.float64], pull: NDArray[np.float64], gram: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Codes of the sampled rows, one bit after the other.

    Parameters
    ----------
    S : ndarray (m, m)
        Similarities of the sampled rows.
    pull : ndarray (m, L)
        S_OG G, where G are the codes of the other rows.
    gram : ndarray (L, L)
        G'G.

    Returns
    -------
    ndarray (m, L)
        -1 or 1.
    """
    n_bits = len(gram)
    B = np.empty((len(S), n_bits))
    for k in range(n_bits):
        R = n_bits * S - B[:, :k] @ B[:, :k].T
        p = -2 * (n_bits * pull[:, k] - B[:, :k] @ gram[:k, k])
        np.fill_diagonal(R, 0)
        B[:, k] = _balanced_signs(-2 * R, p)
    return B


def _balanced_signs(Q: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """b in {-1, 1}^m with m // 2 ones and b'Qb + p'b small, for Q (m, m) symmetric with zeros on its diagonal.

    With b = 2c - 1 the objective is e'Ee plus a constant, where e = (c, 1), E = [4Q, v; v', 0], v = p - 2Q1.
    For vectors with inner products t[i = j] - E_ij, t large, e'Ee is the scatter of the cluster e, which has a
    given size and holds the last point. The nearest neighbours of each point, those with the smallest E_ij,
    make a cluster to try.
    """
    m = len(Q)
    v = p - 2 * Q.sum(axis=1)
    near = np.vstack([4 * Q, v])
    near[np.diag_indices(m)] = -np.inf  # a point is nearest to itself
    chosen = np.argsort(near, axis=1, kind="stable")[:, : m // 2]
    C = np.zeros((m + 1, m))
    np.put_along_axis(C, chosen, 1.0, axis=1)
    values = 4 * np.einsum("ij,ij->i", C @ Q, C) + 2 * C @ v
    signs: NDArray[np.float64] = 2 * C[values.argmin()] - 1
    return signs


def _deviations(X: NDArray[Any], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation (d,) of each feature, divisor n - 1; 1 for a constant one."""
    same = X.max(axis=0) == X.min(axis=0)
    Z = X - mean
    largest = np.where(same, 1, np.abs(Z).max(axis=0))  # so that squares neither overflow nor vanish
    return np.where(same, 1, largest * (Z / largest).std(axis=0, ddof=1))


def _ridge_weights(Z: NDArray[np.float64], B: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """W (d, L) of min ||B - ZW||^2 + ridge ||W||^2."""
    n, d = Z.shape
    if d > n:
        return np.asarray(Z.T @ solve(Z @ Z.T + ridge * np.eye(n), B, assume_a="pos"))
    return np.asarray(solve(Z.T @ Z + ridge * np.eye(d), Z.T @ B, assume_a="pos"))
