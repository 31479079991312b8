"""Pictures of models and codes by matplotlib, which comes with the extra `report`.

Each function draws into the `ax` that it gets, or into a new figure, and returns the axes.
"""

from structhash.plots.bit_balance import bit_balance
from structhash.plots.bit_correlation import bit_correlation
from structhash.plots.code_map import code_map
from structhash.plots.distance_histograms import distance_histograms
from structhash.plots.prefix_quality import prefix_quality
from structhash.plots.radius_calibration import radius_calibration
from structhash.plots.training_history import training_history

__all__ = [
    "bit_balance",
    "bit_correlation",
    "code_map",
    "distance_histograms",
    "prefix_quality",
    "radius_calibration",
    "training_history",
]
