"""Binary quantisation as users of embeddings do it: a bit a coordinate, the best hits rescored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.program import Program
from structhash._numerics.validation import check_count, check_positive
from structhash.baselines.base import Baseline, TrainingRows, equal_bits
from structhash.codes import hamming
from structhash.io.fields import Field

__all__ = ["BinaryQuantization"]


class BinaryQuantization(Baseline):
    """Binary quantisation: h_j(x) = [x_j > mean_j], a bit for each coordinate; the best hits are rescored.

    It has one bit for each coordinate, several times as many as learned codes. Its own distance,
    ``"rescored"``, reads the float vectors as well: the `rescore` * `top` nearest codes of a query, ties by row
    number, are sorted by squared L2 distance of the vectors and come before all others.

    Parameters
    ----------
    n_bits : int, optional
        Take this many leading coordinates. This suits embeddings whose coordinates are sorted by importance
        (Matryoshka, principal components). By default all d. A code never has more bits than there are
        coordinates; `n_bits_` is their number. A comparison has one line of d bits, whatever the lengths of
        other methods; ``binary_quantization:n_bits=64`` has 64 coordinates.
    center : bool
        Cut at the mean of the training rows; False cuts at 0. Embedding libraries cut at 0, which is nearly the
        same for embeddings, but gives constant bits for features that are never negative.
    rescore : float
        Rows rescored for each row wanted; 4 is the libraries' rescore multiplier.
    top : int
        Number of rows wanted; 100 suits ``ndcg@100``.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Where each coordinate is cut.

    References
    ----------
    Yamada, Asai, Hajishirzi (2021), Efficient passage retrieval with hashing for open-domain question
    answering, https://doi.org/10.18653/v1/2021.acl-short.123, which rescores with the floats of the query
    alone; Kusupati et al. (2022), Matryoshka representation learning, https://arxiv.org/abs/2205.13147

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = BinaryQuantization().fit(X)
    >>> encoder.encode(X).shape
    (1797, 8)
    >>> encoder.own_distances(X)(X[:2]).argmin(axis=1)
    array([0, 1])
    """

    own_distance_ = "rescored"
    own_distance_reads_floats = True
    own_length = True
    variants = ("",)
    source = "practice with embeddings; Yamada et al. 2021"
    settings_from = (
        "all coordinates; the 400 nearest codes rescored by the vectors, 4 for each of the 100 asked for"
    )
    fitted_fields = (Field("mean_", ("n_features",)),)

    mean_: NDArray[Any]

    def __init__(
        self, n_bits: int | None = None, *, center: bool = True, rescore: float = 4.0, top: int = 100
    ) -> None:
        self.n_bits = n_bits
        self.center = center
        self.rescore = rescore
        self.top = top

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_positive("rescore", self.rescore)
        check_count("top", self.top)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        d = len(rows.mean)
        cuts = (rows.mean if self.center else np.zeros(d)).astype(rows.X.dtype)
        return {"mean_": cuts, **equal_bits(min(int(self.n_bits or d), d))}

    def _values(self, X: NDArray[Any]) -> NDArray[Any]:
        return X[:, : self.n_bits_] - self.mean_[: self.n_bits_]

    def express(self, program: Program, X: str, n_query_bits: int | None = None) -> str:
        """See `HashEncoder.express`."""
        kept = np.arange(self.n_bits_)
        return program.step("subtract", program.step("columns", X, kept), self.mean_[kept])

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`.

        The distance of a rescored row is at most 1/2 and proportional to its squared L2 distance. The distance
        of any other row is 1 plus the number of bits that differ.
        """
        vectors = np.asarray(rows)
        codes = self.encode(vectors)
        n_rescored = min(int(np.ceil(self.rescore * self.top)), len(codes))

        def distances(queries: Any) -> NDArray[np.float64]:
            apart = hamming(self.encode(queries), codes).astype(np.float64) + 1.0
            for row, query in zip(apart, np.asarray(queries), strict=True):
                best = _nearest_rows(row, n_rescored)
                away = vectors[best].astype(np.float64) - query.astype(np.float64)
                away = np.ldexp(away, -int(np.frexp(np.abs(away).max())[1]))  # so that no square vanishes
                exact = (away**2).sum(axis=1)
                row[best] = exact / max(2 * exact.max(), np.finfo(float).tiny)
            return apart

        return distances


def _nearest_rows(distances: NDArray[Any], k: int) -> NDArray[np.int64]:
    """Row numbers of the k least distances (n,); of equal distances the lower row numbers."""
    last = np.partition(distances, k - 1)[k - 1]
    closer = np.flatnonzero(distances < last)
    return np.concatenate([closer, np.flatnonzero(distances == last)[: k - len(closer)]])
