"""How much bits repeat each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from structhash.codes import unpack
from structhash.plots._drawing import given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bit_correlation"]


def bit_correlation(codes: ArrayLike, n_bits: int, ax: Axes | None = None) -> Axes:
    """Draw the correlation of each two bits over the rows.

    Parameters
    ----------
    codes : uint8 array (n, n_bytes)
        Packed codes.
    n_bits : int
    ax : Axes, optional

    Returns
    -------
    Axes
        A picture (n_bits, n_bits) with a colour bar beside it. A bit that never changes has no correlation and
        leaves its row and column blank.

    Raises
    ------
    ValueError
        If `codes` are not codes of `n_bits` bits.

    Examples
    --------
    >>> import numpy as np
    >>> ax = bit_correlation(np.array([[0b00], [0b11]], np.uint8), 2)
    >>> ax.images[0].get_array().round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    bits = unpack(codes, n_bits).astype(np.float64)
    bits -= bits.mean(axis=0)
    spread = np.sqrt((bits**2).sum(axis=0))
    bits /= np.where(spread > 0, spread, np.nan)
    ax = given_or_new(ax)
    edges = (0.5, n_bits + 0.5)
    picture = ax.imshow(bits.T @ bits, "RdBu_r", vmin=-1, vmax=1, extent=(*edges, *edges[::-1]))
    if ax.figure is not None:
        ax.figure.colorbar(picture, ax=ax, label="correlation")
    ax.set(xlabel="bit", ylabel="bit")
    return ax
