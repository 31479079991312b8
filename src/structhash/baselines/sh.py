"""Spectral hashing: eigenfunctions of the Laplacian on a box of principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.threads import one_blas_thread
from structhash.baselines._principal import principal_axes, project
from structhash.baselines.base import Baseline, TrainingRows, equal_bits
from structhash.io.fields import Field

__all__ = ["SH"]

_COSINE_NOISE = 1e-9  # a cosine below this counts as 0: it may be rounding error


class SH(Baseline):
    """Spectral hashing: h(x) = [cos(m pi (v - a) / (b - a)) > 0], v a principal component of x.

    The similarity of two rows falls off as a Gaussian. Codes should be balanced, uncorrelated and near for
    similar rows. Where the bits may be any real number, such codes are eigenvectors of the graph Laplacian. For
    rows spread evenly over a box with edges [a_i, b_i] these become, as n grows, the cosines above: the m-th
    mode of the i-th component has the eigenvalue (m pi / (b_i - a_i))^2, up to a monotone map. The n_bits modes
    of smallest eigenvalue are taken. [a_i, b_i] is the range of the i-th of min(n_bits, d) principal components
    of the training rows.

    Parameters
    ----------
    n_bits : int
        Length of the code.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    center_ : ndarray (d,)
        Mean of the training rows.
    axes_ : ndarray (k, d)
        Principal directions that bits use.
    low_, range_ : ndarrays (k,)
        a_i and b_i - a_i, of the components of x - center_.
    axis_, mode_ : integer ndarrays (n_bits,)
        Component and m of each bit.

    Notes
    -----
    Nothing is drawn at random. The authors' code differs from their text; this follows the code. It takes the
    modes of single components only, where the text also has products of them; the range is that of all rows
    (percentiles are computed and then overwritten); and the number of components is that of the bits, which
    the text leaves open. So the components, and with them the leading modes, depend on n_bits.

    References
    ----------
    Weiss, Torralba, Fergus (2008), Spectral hashing, NIPS,
    https://papers.nips.cc/paper/2008/hash/d58072be2820e8682c0a27c0518e805e-Abstract.html

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> SH(n_bits=32).fit(X).encode(X).shape
    (1797, 4)
    """

    source = "Weiss et al. 2008"
    original = "willard-yuan/hashing-baseline-for-image-retrieval"
    settings_from = "none: as many components as bits, as the authors' code"
    fitted_fields = (
        Field("center_", ("n_features",)),
        Field("axes_", ("n_axes", "n_features")),
        Field("low_", ("n_axes",)),
        Field("range_", ("n_axes",), least=0),
        Field("axis_", ("n_bits",), "int", below="n_axes"),
        Field("mode_", ("n_bits",), "int", least=1),
    )

    center_: NDArray[np.float64]
    axes_: NDArray[np.float64]
    low_: NDArray[np.float64]
    range_: NDArray[np.float64]
    axis_: NDArray[np.int64]
    mode_: NDArray[np.int64]

    def __init__(self, n_bits: int = 64) -> None:
        self.n_bits = n_bits

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        axes = principal_axes(rows.X, rows.mean, self.n_bits)
        V = project(rows.X, rows.mean, axes)
        low = V.min(axis=0)
        size = V.max(axis=0) - low
        axis, mode = _leading_modes(size, self.n_bits)
        used, axis = np.unique(axis, return_inverse=True)
        return {
            "center_": rows.mean,
            "axes_": axes[used],
            "low_": low[used],
            "range_": size[used],
            "axis_": axis,
            "mode_": mode,
            **equal_bits(self.n_bits),
        }

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        with one_blas_thread():
            V = (X - self.center_) @ self.axes_.T
        phase = np.pi * (V - self.low_) / self.range_
        return np.cos(phase[:, self.axis_] * self.mode_) > _COSINE_NOISE


def _leading_modes(size: NDArray[np.float64], n_bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Axis and number, from 1 on, of the n_bits modes of least frequency m / size of a box (k,)."""
    frequency = np.arange(1, n_bits + 1) / (size[:, None] / size.max())
    least = np.argsort(frequency, axis=None, kind="stable")[:n_bits]
    return least // n_bits, least % n_bits + 1
