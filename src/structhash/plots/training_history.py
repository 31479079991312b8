"""How a model was learned, bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from structhash._numerics.validation import describe
from structhash.estimators.base import HashEncoder
from structhash.plots._drawing import COLOURS, MARKERS, given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["training_history"]

_CURVES = {  # of `history_`, with what they say
    "objective": "objective",
    "violation": "violation of the new bit",
    "gap": "gap of the master",
}


def training_history(encoder: HashEncoder, ax: Axes | None = None) -> Axes:
    """Draw objective, violation and gap after each bit, on a logarithmic scale.

    The objective falls as long as bits help. The violation is how much a bit promised before it came in;
    training is finished when it is near 0. The gap bounds how far the weights are from the best ones.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted, of a method that learns bit by bit.
    ax : Axes, optional

    Returns
    -------
    Axes
        A line for each curve. Values that are not above 0 leave a hole.

    Raises
    ------
    ValueError
        If the method does not learn bit by bit.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from structhash import DistilHash
    >>> X, y = load_digits(return_X_y=True)
    >>> ax = training_history(DistilHash(n_bits=8, random_state=0).fit(X[:200], y[:200]))
    >>> [line.get_label() for line in ax.lines]
    ['objective', 'violation of the new bit', 'gap of the master']
    """
    history = encoder.history_
    if not history:
        raise ValueError(
            f"{describe(encoder)} did not learn bit by bit; give a fitted DistilHash or StructHash"
        )
    ax = given_or_new(ax)
    bits = np.arange(1, len(history) + 1)
    for (name, label), colour, marker in zip(_CURVES.items(), COLOURS, MARKERS):
        values = np.array([each[name] for each in history], float)
        values[~(values > 0)] = np.nan
        ax.plot(bits, values, marker=marker, markersize=4, color=colour, label=label)
    ax.set(yscale="log", xlabel="bit", ylabel="value")
    ax.legend()
    return ax
