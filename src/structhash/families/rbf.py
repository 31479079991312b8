"""Kernel bits, h(x) = [v'k(x) + b > 0] with k(x) the similarities of x to some anchors a."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from threadpoolctl import threadpool_limits

from structhash._numerics.blocks import as_floats, float_type, row_slices
from structhash._numerics.gaussian import inverse_root, similarities, squared_distances
from structhash._numerics.program import Program
from structhash._numerics.scaling import FEATURE_BLOCK_ROWS, column_statistics, float_blocks, mean_and_scale
from structhash._numerics.threads import one_blas_thread
from structhash._numerics.validation import check_count, describe
from structhash.families.base import DEFAULT_START, Family
from structhash.families.linear import Linear
from structhash.families.starts.base import Start
from structhash.io.fields import Field, Fields
from structhash.pair_weights import PairWeights
from structhash.pieces import Params

__all__ = ["RBF"]

MAX_CLUSTERED_ROWS = 20_000


@dataclass(frozen=True)
class RBF(Family):
    """Planes in the space of Gaussian similarities to anchors: StructHash-Kernel of the paper.

    k_a(x) = exp(-||x - a||^2 / (2 sigma^2)) for each anchor a (Section 5; eq. 3 of Liu et al.). The features
    are K^(-1/2) k(x), where K holds the similarities among the anchors. They are centred over the training rows
    and divided by one number; in that space the bits are those of `Linear`. The matrix does not change which
    functions a plane can express, but it makes norm and ridge those of the kernel (Williams and Seeger).
    Without it the search misses most good planes: mAP of 16 bits, cross-validated on 2,000 training rows of
    usps, isolet and banking77, was .850, .616 and .466 without it, and .920, .831 and .620 with it.

    Parameters
    ----------
    n_anchors : int
        Number of anchors, >= 1; all training rows (``"kmeans"``: all distinct ones) where there are fewer.
    sampling : str
        ``"random"`` training rows, as in the paper, or the centres of ``"kmeans"`` over them (over 20,000 of
        them at random where there are more).
    bandwidth : float or str
        sigma > 0 in the unit of the rows, or ``"auto"``: sigma^2 is the mean squared distance between training
        rows and anchors, as in the code of Liu et al. (its sigma is our sigma^2).
    max_iter, sharpness
        As in `Linear`.

    References
    ----------
    Liu, Wang, Ji, Jiang, Chang, Supervised hashing with kernels, CVPR 2012,
    https://github.com/ColumbiaDVMM/Supervised-Hashing-with-Kernels.
    Williams, Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.

    Examples
    --------
    >>> X, family = np.arange(50.0).reshape(25, 2), RBF(n_anchors=10)
    >>> family.features(X[:3], family.prepare(X, np.random.default_rng(0))).shape
    (3, 10)
    """

    state_fields: ClassVar[Fields | None] = (
        Field("center", ("n_features",)),
        Field("unit", positive=True),
        Field("anchors", ("n_anchors", "n_features")),
        Field("bandwidth", positive=True),
        Field("root", ("n_anchors", "n_anchors")),
        Field("mean", ("n_anchors",)),
        Field("scale", positive=True),
    )
    bit_fields: ClassVar[Fields | None] = (
        Field("normal", ("n_bits", "n_anchors")),
        Field("offset", ("n_bits",)),
    )

    n_anchors: int = 300
    sampling: str = "random"
    bandwidth: float | str = "auto"
    max_iter: int = 50
    sharpness: float = 2.0

    def __post_init__(self) -> None:
        check_count("n_anchors", self.n_anchors)
        if self.sampling not in list(SAMPLINGS):
            raise ValueError(f"sampling={describe(self.sampling)}: give one of {', '.join(SAMPLINGS)}")
        number = isinstance(self.bandwidth, Real) and not isinstance(self.bandwidth, bool)
        if self.bandwidth != "auto" and not (number and 0 < float(self.bandwidth) < np.inf):
            raise ValueError(f"bandwidth={describe(self.bandwidth)}: give 'auto' or a finite number > 0")
        self._linear()  # checks max_iter and sharpness

    def _linear(self) -> Linear:
        return Linear(self.max_iter, self.sharpness)

    def prepare(self, X: NDArray[Any], rng: np.random.Generator) -> Params:
        """Anchors (m, d) and bandwidth in centred and scaled rows, K^(-1/2), mean (m,) and scale of features.

        Raises
        ------
        ValueError
            If all rows of X (n, d) are the same, or the bandwidth makes their similarities the same.
        """
        rows = self._linear().prepare(X, rng)
        kernel = {"center": rows["mean"], "unit": rows["scale"]}
        anchors = SAMPLINGS[self.sampling](X, self.n_anchors, rng, lambda part: standard(part, kernel))
        mean, low, high = column_statistics(
            squared_distances(standard(part, kernel), anchors) for part in float_blocks(X)
        )
        usual = np.sqrt(mean.mean())
        sigma = usual if isinstance(self.bandwidth, str) else float(self.bandwidth) / float(rows["scale"])
        dtype = anchors.dtype
        sigma = np.asarray(np.clip(sigma, 1e-15, 1e15), dtype)  # beyond, float32 could overflow
        if np.array_equal(similarities(low, sigma), similarities(high, sigma)):
            raise ValueError(
                f"bandwidth={self.bandwidth!r}: all rows are equally similar to the {len(anchors)} anchors; "
                f"give more anchors or a bandwidth near {usual * float(rows['scale']):.3g}"
            )
        root = inverse_root(similarities(squared_distances(anchors, anchors), sigma)).astype(dtype)
        kernel |= {"anchors": anchors, "bandwidth": sigma, "root": root}
        mean, scale = mean_and_scale(lambda: (whitened(part, kernel) for part in float_blocks(X)))
        return {**kernel, "mean": mean.astype(dtype), "scale": np.asarray(scale, dtype)}

    def features(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Centred and scaled features (n, m)."""
        Z = np.empty((len(X), len(state["anchors"])), float_type(X.dtype))
        for run in row_slices(len(X), FEATURE_BLOCK_ROWS):
            K = whitened(as_floats(X[run]), state)
            K -= state["mean"]
            K /= state["scale"]
            Z[run] = K
        return Z

    def decide(self, Z: NDArray[Any], params: Params) -> NDArray[Any]:
        """As `Linear.decide`, on features Z (n, m)."""
        return self._linear().decide(Z, params)

    def express(self, program: Program, X: str, state: Params, params: Params) -> str:
        """See `Family.express`."""
        Z = program.step("divide", program.step("subtract", X, state["center"]), state["unit"])
        K = program.step("matmul", program.similarities(Z, state["anchors"], state["bandwidth"]), state["root"])
        return self._linear().express(program, K, state, params)

    def learn(
        self,
        Z: NDArray[Any],
        pairs: PairWeights,
        rng: np.random.Generator,
        start: Start = DEFAULT_START,
        retry: bool = False,
    ) -> Params:
        """As `Linear.learn`, on features Z (n, m)."""
        return self._linear().learn(Z, pairs, rng, start, retry)


def standard(X: NDArray[Any], state: Params) -> NDArray[Any]:
    """Centred and scaled rows (n, d): the space of the anchors."""
    return Linear().features(X, {"mean": state["center"], "scale": state["unit"]})


def whitened(X: NDArray[Any], state: Params) -> NDArray[np.float64]:
    """K^(-1/2) k(x) (n, m) of rows (n, d)."""
    K = similarities(squared_distances(standard(X, state), state["anchors"]), state["bandwidth"])
    return K @ state["root"]


Rows = Callable[[NDArray[Any]], NDArray[Any]]  # brings some rows into the space of the anchors


def draw(X: NDArray[Any], count: int, rng: np.random.Generator, standard: Rows) -> NDArray[Any]:
    """At most `count` rows of X (n, d), none twice."""
    return standard(X[rng.permutation(len(X))[:count]])


def centres(X: NDArray[Any], count: int, rng: np.random.Generator, standard: Rows) -> NDArray[Any]:
    """Centres of at most `count` clusters of X (n, d), or of `MAX_CLUSTERED_ROWS` of its rows at random."""
    Z = standard(
        X if len(X) <= MAX_CLUSTERED_ROWS else X[np.sort(rng.permutation(len(X))[:MAX_CLUSTERED_ROWS])]
    )
    count = min(count, len(np.unique(Z, axis=0)))
    means = MiniBatchKMeans(count, n_init=3, random_state=int(rng.integers(2**31)))
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):  # else sums differ from run to run
        return means.fit(Z).cluster_centers_.astype(Z.dtype)


SAMPLINGS = {"random": draw, "kmeans": centres}
