"""Hashing by the signs of principal components."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from structhash._numerics.validation import check_count
from structhash.baselines._principal import principal_axes
from structhash.baselines._shared import keep_planes, mean_of, planes_of
from structhash.codes.planes import Planes
from structhash.estimators.base import HashEncoder, whole


class PCAH(HashEncoder):
    """Principal component hashing: h_j(x) = [p_j'(x - mean) > 0], p_j the j-th principal direction.

    The directions maximise sum_j p_j' S p_j over orthonormal p_1, p_2, ..., S being the covariance of the
    training rows. Where fewer than n_bits directions have nonzero variance (never more than d, nor than n - 1),
    the bits beyond them are 0 and tell nothing.

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

    def __init__(self, n_bits: int = 64) -> None:
        self.n_bits = n_bits

    @whole
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the principal directions of X (n, d); y is not looked at.

        Raises
        ------
        ValueError
            If n_bits is not allowed, or all rows are the same.
        """
        check_count("n_bits", self.n_bits)
        X = self._check(X)
        mean = mean_of(X)
        planes = np.zeros((self.n_bits, X.shape[1]))
        with threadpool_limits(1, user_api="blas"):
            axes = principal_axes(X, mean, self.n_bits)
        planes[: len(axes)] = axes
        keep_planes(self, X, mean, planes)
        return self

    def _planes(self) -> Planes:
        return planes_of(self)
