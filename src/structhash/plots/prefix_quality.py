"""How good the first bits of a code are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from structhash._numerics.validation import check_count, check_list
from structhash.estimators.base import HashEncoder
from structhash.evaluation.scoring import Relevance, code_blocks, retrieval, same_label
from structhash.metrics import canonical
from structhash.plots._drawing import COLOURS, MARKERS, given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["prefix_quality"]

_N_LENGTHS = 12  # prefixes that are scored by default


def prefix_quality(
    encoder: HashEncoder,
    Q: Any,
    X: Any,
    y_queries: Any,
    y: Any,
    measure: str = "map",
    bits: Iterable[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a retrieval measure against the number of first bits that are searched with.

    Parameters
    ----------
    encoder : HashEncoder
        Fitted; its codes are bits.
    Q, X : arrays (q, d), (n, d)
        Queries and database, of rows that the encoder was not fitted on.
    y_queries, y : arrays (q,), (n,)
        Their labels. A document is relevant to a query that has the same label.
    measure : str
        As `structhash.evaluation.retrieval` takes it. Ties count in expectation.
    bits : iterable of int, optional
        Lengths of prefixes; about a dozen, up to all bits, by default.
    ax : Axes, optional

    Returns
    -------
    Axes
        A line for plain Hamming distance, and one for weighted where the encoder weighs its bits.

    Raises
    ------
    ValueError
        If a length is more than the bits there are, or a name or a shape is wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from structhash import DistilHash
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = DistilHash(n_bits=16, random_state=0).fit(X[:200], y[:200])
    >>> ax = prefix_quality(encoder, X[200:250], X[250:600], y[200:250], y[250:600], bits=[4, 8, 16])
    >>> [int(n_bits) for n_bits in ax.lines[0].get_xdata()]
    [4, 8, 16]
    """
    if bits is None:
        bits = np.unique(np.linspace(1, encoder.n_bits_, _N_LENGTHS).round().astype(int)).tolist()
    lengths, measure = check_list("bits", bits), canonical(measure)
    for n_bits in lengths:
        check_count("bits", n_bits, most=encoder.n_bits_)
    curves = _curves(encoder, Q, X, same_label(y_queries, y), measure, lengths)
    ax = given_or_new(ax)
    for (name, values), colour, marker in zip(curves.items(), COLOURS, MARKERS):
        ax.plot(lengths, values, marker=marker, color=colour, label=f"{name} Hamming distance")
    ax.set(xlabel="first bits", ylabel=measure)
    ax.legend()
    return ax


def _curves(
    encoder: HashEncoder, Q: Any, X: Any, relevance: Relevance, measure: str, lengths: list[int]
) -> dict[str, list[float]]:
    """The measure at each length, for plain and, where the encoder weighs its bits, weighted distance."""
    curves: dict[str, list[float]] = {}
    for n_bits in lengths:
        queries, codes = encoder.encode_queries(Q, n_bits), encoder.encode(X, n_bits)
        distances = {"plain": None} | ({"weighted": encoder.weights_at(n_bits)} if encoder.weighted_ else {})
        for name, weights in distances.items():
            scores = retrieval(code_blocks(queries, codes, relevance, weights), [measure])
            curves.setdefault(name, []).append(scores.mean[measure])
    return curves
