"""Codes as points in a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.labels import read_classes
from structhash.codes import unpack
from structhash.plots._drawing import COLOURS, MARKERS, given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["code_map"]

_MAX_IN_LEGEND = 14


def code_map(codes: ArrayLike, n_bits: int, labels: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw codes so that points that are far apart differ in many bits.

    The plane is that of the two largest principal components of the bits. Hamming distances are squared
    Euclidean distances of bits, so no other plane keeps more of their sum (classical scaling, Torgerson 1952,
    doi:10.1007/BF02288916). Points that are near may still differ in bits that the plane leaves out.

    Parameters
    ----------
    codes : uint8 array (n, n_bytes)
        Packed codes.
    n_bits : int
    labels : array (n,), optional
        Classes, which are coloured.
    ax : Axes, optional

    Returns
    -------
    Axes
        Points, a collection a class. The labels of the axes say how much of the variance they show.

    Raises
    ------
    ValueError
        If `codes` are not codes of `n_bits` bits, or there is not a label for each row.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b0000], [0b0001], [0b1111]], np.uint8)
    >>> ax = code_map(codes, 4, labels=["a", "a", "b"])
    >>> [len(each.get_offsets()) for each in ax.collections]
    [2, 1]
    """
    bits = unpack(codes, n_bits).astype(np.float64)
    places, share = _principal(bits)
    ax = given_or_new(ax)
    if labels is None:
        ax.scatter(places[:, 0], places[:, 1], s=12, color=COLOURS[0])
    else:
        classes, index = read_classes(labels, len(bits))
        for number, label in enumerate(classes):
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number // len(COLOURS) % len(MARKERS)]
            x, y = places[index == number].T
            ax.scatter(x, y, s=12, color=colour, marker=marker, label=str(label))
        if len(classes) <= _MAX_IN_LEGEND:
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    ax.set(xlabel=f"first component ({share[0]:.0%})", ylabel=f"second component ({share[1]:.0%})")
    return ax


def _principal(bits: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places (n, 2) on the two largest components, and the shares of the variance that they have."""
    bits = bits - bits.mean(axis=0)
    variances, directions = np.linalg.eigh(bits.T @ bits)
    directions = directions[:, ::-1][:, :2]
    directions *= np.where(directions[np.abs(directions).argmax(axis=0), range(directions.shape[1])] < 0, -1, 1)
    places, share = np.zeros((len(bits), 2)), np.zeros(2)
    places[:, : directions.shape[1]] = bits @ directions
    share[: directions.shape[1]] = variances[::-1][:2] / (variances.sum() or 1.0)
    return places, share
