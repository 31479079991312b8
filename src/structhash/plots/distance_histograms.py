"""Distances of relevant and of other pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from structhash.plots._drawing import COLOURS, given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["distance_histograms"]

_N_BINS = 60  # of distances that are no whole numbers, or that have more values


def distance_histograms(distances: ArrayLike, relevant: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw how the distances of relevant pairs, and of all others, are distributed.

    The less the two overlap, the better the codes order the documents.

    Parameters
    ----------
    distances : array
        Distances of pairs, of any shape, such as `structhash.codes.hamming` gives them.
    relevant : array of the same shape
        Whether the document is relevant to the query: bools, or grades that are above 0 where it is.
    ax : Axes, optional

    Returns
    -------
    Axes
        Two histograms, each with a sum of 1. Where distances are whole numbers, a bar is one of them.

    Raises
    ------
    ValueError
        If the shapes differ, a distance is not finite, or one of the two kinds of pair is missing.

    Examples
    --------
    >>> import numpy as np
    >>> ax = distance_histograms(np.array([[0, 1, 3], [1, 2, 3]]), np.array([[1, 1, 0], [1, 0, 0]]))
    >>> [round(float(bar.get_height()), 2) for bar in ax.containers[0]]
    [0.33, 0.67, 0.0, 0.0]
    """
    apart, near = np.asarray(distances), np.asarray(relevant) > 0
    if apart.shape != near.shape or not near.any() or near.all():
        raise ValueError(
            f"distances have shape {apart.shape}, relevant {near.shape} with {int(near.sum())} relevant pairs; "
            "give one shape, with relevant and other pairs"
        )
    if not np.isfinite(apart).all():
        raise ValueError("some distances are not finite; leave these pairs out")
    low, high = apart.min(), apart.max()
    if np.array_equal(apart, np.round(apart)) and high - low < _N_BINS * 5:
        edges = np.arange(low, high + 2) - 0.5
    else:
        edges = np.linspace(low, high, _N_BINS + 1)
    ax = given_or_new(ax)
    for pairs, name, colour, hatch in (
        (near, "relevant", COLOURS[0], ""),
        (~near, "not relevant", COLOURS[1], "//"),
    ):
        share = np.histogram(apart[pairs], edges)[0] / pairs.sum()
        label = f"{name} ({int(pairs.sum()):,} pairs)"
        bars = ax.bar(edges[:-1], share, np.diff(edges), align="edge", color=colour, alpha=0.55, label=label)
        for bar in bars:
            bar.set(edgecolor=colour, hatch=hatch)
    ax.set(xlabel="distance", ylabel="share of the pairs")
    ax.legend()
    return ax
