"""How often each bit is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from structhash.codes import unpack
from structhash.plots._drawing import COLOURS, given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bit_balance"]


def bit_balance(codes: ArrayLike, n_bits: int, ax: Axes | None = None) -> Axes:
    """Draw the share of rows in which each bit is set.

    A bit that is set in half of the rows tells most; one that is always or never set tells nothing.

    Parameters
    ----------
    codes : uint8 array (n, n_bytes)
        Packed codes.
    n_bits : int
    ax : Axes, optional

    Returns
    -------
    Axes
        A bar a bit, and a line at one half.

    Raises
    ------
    ValueError
        If `codes` are not codes of `n_bits` bits.

    Examples
    --------
    >>> import numpy as np
    >>> ax = bit_balance(np.array([[0b01], [0b11]], np.uint8), 2)
    >>> [float(bar.get_height()) for bar in ax.patches]
    [1.0, 0.5]
    """
    share = unpack(codes, n_bits).mean(axis=0)
    ax = given_or_new(ax)
    ax.bar(np.arange(1, n_bits + 1), share, width=0.9, color=COLOURS[0])
    ax.axhline(0.5, color="0.3", linestyle="--", linewidth=1)
    ax.set(xlabel="bit", ylabel="share of the rows in which it is set", ylim=(0, 1))
    return ax
