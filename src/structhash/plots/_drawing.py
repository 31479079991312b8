"""What all plots share: axes to draw into, and colours that colour-blind readers tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from structhash._numerics.optional import not_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "MARKERS", "given_or_new"]

COLOURS = (  # of Okabe and Ito, https://jfly.uni-koeln.de/color/, without yellow
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
)
MARKERS = "os^Dv*P"


def given_or_new(ax: Axes | None) -> Axes:
    """The axes that were given, or those of a new figure; ImportError if matplotlib is missing."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise not_installed("matplotlib", "a plot", "report", error) from error
    return pyplot.subplots()[1]
