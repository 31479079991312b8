"""RaBitQ: signs of rotated rows, and two factors a row that make a query's distance to it an estimate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.baselines._principal import principal_axes, project
from structhash.baselines._rotation import random_rotation
from structhash.baselines.base import PLANE_FIELDS, Baseline, TrainingRows, planes_through, through_mean
from structhash.codes.planes import Planes

__all__ = ["RABITQ"]


class RABITQ(Baseline):
    """RaBitQ: signs of rows that were centred, projected and rotated, with two factors a row.

    Let o be a row and q a query after these steps, in n_bits dimensions, and s = sign(o) / sqrt(n_bits). The
    own distance is the estimate of ||o - q||^2 by ||o||^2 + ||q||^2 - 2 ||o||^2 <s, q> / <s, o>. A row stores
    its signs and two numbers, ||o||^2 and ||o||^2 / <s, o>: n_bits / 8 + 8 bytes as in faiss. So this line has
    the bytes of other codes that are 64 bits longer. The plain line has the signs alone.

    Parameters
    ----------
    n_bits : int
        Number of signs. With n_bits < d the rows are projected on their leading principal components first
        (``PCAR,RaBitQ`` in faiss). With n_bits > d the rotation is a tight frame.
    random_state : int, RandomState, Generator or None
        Draws the rotation.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Mean of the training rows.
    planes_ : ndarray (n_bits, d)
        Rows of the rotation times the projection.

    Notes
    -----
    faiss's `IndexRaBitQ` gives the same signs and distances for rows that are projected and rotated so, where
    it does not quantise the query (``qb=0``). It puts 0 in place of a negative estimate.

    References
    ----------
    Gao, Long (2024), RaBitQ: quantizing high-dimensional vectors with a theoretical error bound for approximate
    nearest neighbor search, https://doi.org/10.1145/3654970

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = RABITQ(n_bits=32, random_state=0).fit(X)
    >>> nearest = encoder.own_distances(X)(X[:100]).argmin(axis=1)
    >>> bool((nearest == np.arange(100)).mean() > 0.8)  # most rows find themselves
    True
    """

    source = "Gao, Long 2024"
    settings_from = "those of faiss; the query is not quantised"
    own_distance_ = "factors, +64 bits"
    fitted_fields = PLANE_FIELDS

    mean_: NDArray[Any]
    planes_: NDArray[Any]

    def __init__(self, n_bits: int = 64, *, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.random_state = random_state

    def own_distances(self, rows: Any) -> Callable[[Any], NDArray[np.float64]]:
        """See `HashEncoder.own_distances`: estimates of squared distances, in a unit of the rows."""
        o = self._rotated(rows)
        exponent = -int(np.frexp(np.abs(o).max(initial=0))[1])
        o = np.ldexp(o, exponent)  # so that no square overflows or vanishes
        s = np.where(o > 0, 1.0, -1.0) / np.sqrt(self.n_bits_)
        squared, along = (o**2).sum(axis=1), (s * o).sum(axis=1)
        factors = np.divide(squared, along, out=np.zeros_like(along), where=along > 0)

        def distances(queries: Any) -> NDArray[np.float64]:
            q = np.ldexp(self._rotated(queries), exponent)
            found: NDArray[np.float64] = squared + (q**2).sum(axis=1)[:, None] - 2 * factors * (q @ s.T)
            return found

        return distances

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        axes = principal_axes(rows.X, rows.mean, self.n_bits)
        rotation = random_rotation(len(axes), self.n_bits, rng)
        return planes_through(rows.mean, rotation.T @ axes, rows.X.dtype)

    def _rotated(self, rows: Any) -> NDArray[np.float64]:
        """Rows (n, n_bits) after centring, projection and rotation."""
        return project(np.asarray(rows), self.mean_.astype(np.float64), self.planes_.astype(np.float64))

    def _planes(self) -> Planes:
        return through_mean(self.mean_, self.planes_)
