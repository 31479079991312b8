"""The plane of the spectral relaxation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from structhash._numerics.validation import check_nonnegative
from structhash.families.starts.base import Start
from structhash.pair_weights import PairWeights, laplacian
from structhash.pieces import Params

MAX_DENSE_FEATURES = 64  # up to here a dense solver takes the eigenproblem


__all__ = ["Spectral"]


@dataclass(frozen=True)
class Spectral(Start):
    """The problem without its sign function: max v'Z'LZv with v'(Z'Z + ridge tr(Z'Z)/d I)v = 1.

    The paper starts from this relaxation (Section 2.1; Liu et al. 2011, "Hashing with graphs"). Without a ridge
    the eigenvector fits noise.

    Parameters
    ----------
    ridge : float
        Multiple of the mean feature variance added to every direction, >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from structhash.pair_weights import pair_graph
    >>> from structhash.pair_weights import Comparisons
    >>> one = np.array([0, 1])
    >>> graph = pair_graph(Comparisons(np.array([0]), np.array([1]), one, np.array([2]), one), 3)
    >>> Z = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> plane = Spectral()(Z, graph.pair_weights(np.array([-1.0, 1.0])), np.random.default_rng(0))
    >>> np.abs(plane["normal"].T).round(3) > 0
    array([[ True, False]])
    """

    ridge: float = 1.0

    def __post_init__(self) -> None:
        check_nonnegative("ridge", self.ridge)

    def __call__(
        self, Z: NDArray[Any], pairs: PairWeights, rng: np.random.Generator, memo: dict[Any, Any] | None = None
    ) -> Params:
        """One plane through the origin of Z (n, d)."""
        memo = {} if memo is None else memo
        if self not in memo:
            memo[self] = self._coordinates(Z)
        rows, R, Q = memo[self]
        normal = solve_triangular(R, self._eigenvector(rows, R, pairs, rng))
        normal = normal if Q is None else Q @ normal
        normal *= -1 if normal[np.abs(normal[:, 0]).argmax(), 0] < 0 else 1
        return {"normal": normal, "offset": np.zeros(1, Z.dtype)}

    def _coordinates(self, Z: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        """Rows in k coordinates (n, k), the root R of their ridged Gram matrix R'R, and the way back (d, k)."""
        (n, d), Q = Z.shape, None
        if n < d:  # the plane lies in the span of the rows: turn them into n coordinates
            Q, rows = np.linalg.qr(Z.T)
            Z = np.ascontiguousarray(rows.T)
        gram = (Z.T @ Z).astype(np.float64, order="F")  # to be overwritten by its root
        mean = np.trace(gram) / d
        floor = max(1e-6, 2 * len(gram) * np.finfo(Z.dtype).eps)  # above the rounding error of Z'Z
        gram[np.diag_indices(len(gram))] += (self.ridge + floor) * mean + np.finfo(np.float32).tiny
        return Z, cholesky(gram, overwrite_a=True, check_finite=False).astype(Z.dtype), Q

    def _eigenvector(
        self, Z: NDArray[Any], R: NDArray[Any], pairs: PairWeights, rng: np.random.Generator
    ) -> NDArray[Any]:
        """The top eigenvector (k, 1) of R'^-1 Z'LZ R^-1."""
        d = Z.shape[1]

        def product(u: NDArray[Any]) -> NDArray[Any]:
            v = solve_triangular(R, u, check_finite=False)
            return solve_triangular(R, Z.T @ laplacian(pairs, Z @ v), trans=1, check_finite=False)

        if d <= MAX_DENSE_FEATURES:
            M = product(np.eye(d, dtype=Z.dtype)).astype(np.float64)
            u: Any = eigh((M + M.T) / 2, subset_by_index=[d - 1, d - 1])[1]
        else:
            operator = LinearOperator((d, d), matvec=lambda u: product(u.ravel()), dtype=Z.dtype)
            first = rng.standard_normal((d,)).astype(Z.dtype)
            try:
                u = eigsh(operator, k=1, which="LA", v0=first, tol=1e-3, maxiter=10 * d)[1]
            except ArpackError:  # no convergence, or W = 0
                u = first.reshape(-1, 1)
        return u.astype(Z.dtype)
