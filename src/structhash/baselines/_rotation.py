"""The rotation of `ITQ` and `CCA_ITQ`: coordinates turned so that they lie near a binary code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def random_rotation(n_rows: int, n_bits: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The first `n_rows` orthonormal rows (n_rows, n_bits) of a random rotation."""
    start, _ = np.linalg.qr(rng.standard_normal((n_bits, n_bits)))
    return start[:n_rows]


def rotate(
    V: NDArray[np.float64], R: NDArray[np.float64], max_iter: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Alternate between the code B = sign(VR) and the rotation R, as `ITQ` does.

    Parameters
    ----------
    V : float64 array (n, k)
        Centred rows, scaled so that VR has mean square 1.
    R : float64 array (k, n_bits)
        k <= n_bits orthonormal rows: where the alternation starts.
    max_iter : int
        Rounds, all of which are done.

    Returns
    -------
    R : float64 array (k, n_bits)
    losses : float64 array (max_iter + 1,)
        Mean of (B - VR)^2 before the first and after each round.
    """
    losses = []
    for _ in range(max_iter):
        B, loss = _quantise(V @ R)
        losses.append(loss)
        P, _, Qt = np.linalg.svd(V.T @ B, full_matrices=False)
        R = P @ Qt
    return R, np.array([*losses, _quantise(V @ R)[1]])


def _quantise(VR: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """B = sign(VR) and the mean of (B - VR)^2."""
    B = np.where(VR > 0, 1.0, -1.0)
    return B, float(np.mean((B - VR) ** 2))
