"""How a radius for near-duplicates is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from structhash.plots._drawing import COLOURS, given_or_new
from structhash.search.radius_choice import choose_radius, radius_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["radius_calibration"]


def radius_calibration(
    distances: ArrayLike,
    duplicates: ArrayLike,
    false_merge_rate: float = 0.01,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw false-merge rate, its upper bound and recall against the radius, and the radius that is chosen.

    Parameters
    ----------
    distances, duplicates, false_merge_rate, confidence
        As `structhash.search.choose_radius` takes them.
    ax : Axes, optional

    Returns
    -------
    Axes
        Steps for rate, bound and recall; a vertical line at the chosen radius, a horizontal one at the rate
        that is allowed.

    Raises
    ------
    TypeError, ValueError
        As `structhash.search.choose_radius`.

    Examples
    --------
    >>> import numpy as np
    >>> distances = np.repeat([0, 2, 5, 9], 400)
    >>> ax = radius_calibration(distances, distances < 9)
    >>> [float(x) for x in ax.lines[0].get_xdata()]
    [0.0, 2.0, 5.0, 9.0]
    """
    chosen = choose_radius(distances, duplicates, false_merge_rate, confidence)
    curve = radius_curve(distances, duplicates, confidence)
    ax = given_or_new(ax)
    drawn = (
        (curve.false / curve.merged, "false merges", "-"),
        (curve.bounds, f"their upper bound ({confidence:.0%})", "--"),
        (curve.recall, "recall of the duplicates", "-."),
    )
    for (values, label, dashes), colour in zip(drawn, COLOURS):
        ax.step(curve.radii, values, where="post", linestyle=dashes, color=colour, label=label)
    ax.axhline(false_merge_rate, color="0.5", linewidth=1, label=f"allowed: {false_merge_rate:g}")
    ax.axvline(chosen.radius, color="0.5", linestyle=":", label=f"chosen radius: {chosen.radius:g}")
    ax.set(xlabel="radius", ylabel="rate", ylim=(-0.02, 1.02))
    ax.legend()
    return ax
