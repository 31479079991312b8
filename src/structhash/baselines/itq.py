"""Iterative quantisation: principal components, rotated to lie near a binary code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import check_count
from structhash.baselines._principal import principal_axes, project
from structhash.baselines._rotation import random_rotation, rotate
from structhash.baselines.base import PLANE_FIELDS, Baseline, TrainingRows, planes_through, through_mean
from structhash.codes.planes import Planes
from structhash.io.fields import Field

__all__ = ["ITQ"]


class ITQ(Baseline):
    """Iterative quantisation: the leading principal components, rotated to lie near a binary code.

    Minimises ||B - VR||_F^2 over B in {-1, 1}^(n x n_bits) and R with RR' = I, where V holds the centred rows
    in their n_bits leading principal components. It alternates B = sign(VR) and, by the orthogonal Procrustes
    problem, R = PQ' with V'B = P S Q', so the loss never rises.

    There may be only k < n_bits principal directions of nonzero variance (never more than d, nor than n - 1).
    Then V has all k of them and R is a k x n_bits tight frame, RR' = I. The alternation is the same; it equals
    the square problem with V padded by zeros. With n_bits far above k, bits equal another bit or its
    complement (iris, k = 4, 64 bits: 18 differ). With k = 1 all do.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    max_iter : int
        Rounds of the alternation, all of which are done; the authors use 50.
    random_state : int, RandomState, Generator or None
        Draws the rotation where the alternation starts.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Mean of the training rows.
    planes_ : ndarray (n_bits, d)
        One normal vector a bit: principal directions times rotation.
    rotation_ : ndarray (k, n_bits)
        R, in float64.
    n_iter_ : int
        Rounds done: max_iter.
    losses_ : ndarray (n_iter_ + 1,)
        Mean of (B - VR)^2 before the first and after each round, V scaled so that VR has mean square 1
        (neither B nor R depends on the scale).

    Notes
    -----
    `fit` works in float64.

    References
    ----------
    Gong, Lazebnik, Gordo, Perronnin (2013), Iterative quantization: a Procrustean approach to learning binary
    codes for large-scale image retrieval, https://doi.org/10.1109/TPAMI.2012.193

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> encoder = ITQ(n_bits=32, random_state=0).fit(X)
    >>> encoder.encode(X).shape
    (1797, 4)
    >>> bool(encoder.losses_[-1] < encoder.losses_[0])
    True
    """

    source = "Gong et al. 2013"
    original = "willard-yuan/hashing-baseline-for-image-retrieval"
    settings_from = "50 rounds, as the authors; more bits than directions by a tight frame"
    fitted_fields = (
        Field("rotation_", ("n_directions", "n_bits")),
        Field("losses_", ("n_losses",)),
        Field("n_iter_", kind="int", least=0),
        *PLANE_FIELDS,
    )

    mean_: NDArray[Any]
    planes_: NDArray[Any]
    rotation_: NDArray[np.float64]
    losses_: NDArray[np.float64]
    n_iter_: int

    def __init__(self, n_bits: int = 64, *, max_iter: int = 50, random_state: Any = None) -> None:
        self.n_bits = n_bits
        self.max_iter = max_iter
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_count("max_iter", self.max_iter)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        axes = principal_axes(rows.X, rows.mean, self.n_bits)
        V = project(rows.X, rows.mean, axes)
        V /= np.abs(V).max()  # so that squares neither overflow nor vanish
        V *= np.sqrt(len(V) * self.n_bits) / np.linalg.norm(V)
        rotation, losses = rotate(V, random_rotation(len(axes), self.n_bits, rng), self.max_iter)
        return {
            "rotation_": rotation,
            "losses_": losses,
            "n_iter_": int(self.max_iter),
            **planes_through(rows.mean, rotation.T @ axes, rows.X.dtype),
        }

    def _planes(self) -> Planes:
        return through_mean(self.mean_, self.planes_)
