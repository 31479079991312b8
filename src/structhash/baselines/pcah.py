"""Hashing by the signs of principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.baselines._principal import principal_axes
from structhash.baselines.base import PLANE_FIELDS, Baseline, TrainingRows, planes_through, through_mean
from structhash.codes.planes import Planes

__all__ = ["PCAH"]


class PCAH(Baseline):
    """Principal component hashing: h_j(x) = [p_j'(x - mean) > 0], p_j the j-th principal direction.

    The directions maximise sum_j p_j' S p_j over orthonormal p_1, p_2, ..., where S is the covariance of the
    training rows. Where fewer than n_bits directions have nonzero variance (never more than d, nor than n - 1),
    the bits beyond them are 0.

    Parameters
    ----------
    n_bits : int
        Length of the code. A shorter code is the prefix of a longer one.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
        Mean of the training rows.
    planes_ : ndarray (n_bits, d)
        p_j, or 0 where there is none.

    Notes
    -----
    Nothing is drawn at random. Published comparisons (of ITQ and others) use this method as a control: as later
    components have less variance, their bits carry more noise, and long codes may be worse than short ones.

    References
    ----------
    Wang, Zhang, Jing, Ma (2006), AnnoSearch: image auto-annotation by search,
    https://doi.org/10.1109/CVPR.2006.58; the name is that of Wang, Kumar, Chang (2012), Semi-supervised hashing
    for large-scale search, https://doi.org/10.1109/TPAMI.2012.48

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> PCAH(n_bits=32).fit(X).encode(X).shape
    (1797, 4)
    """

    source = "Wang et al. 2006"
    original = "willard-yuan/hashing-baseline-for-image-retrieval"
    settings_from = "none"
    fitted_fields = PLANE_FIELDS

    mean_: NDArray[Any]
    planes_: NDArray[Any]

    def __init__(self, n_bits: int = 64) -> None:
        self.n_bits = n_bits

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        planes = np.zeros((self.n_bits, rows.X.shape[1]))
        axes = principal_axes(rows.X, rows.mean, self.n_bits)
        planes[: len(axes)] = axes
        return planes_through(rows.mean, planes, rows.X.dtype)

    def _planes(self) -> Planes:
        return through_mean(self.mean_, self.planes_)
