"""The figures of the paper as numbers: what is drawn against what."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structhash.reproduce.plan import METHODS, N_BITS
from structhash.reproduce.results import Results
from structhash.reproduce.run import DEPTHS
from structhash.reproduce.sets import SETS
from structhash.reproduce.tables import TITLES

__all__ = ["Curve", "Figure", "make_figures"]

_COMPARED = ("StructH-N", "StructH-A", "CGH", "SPLH", "STHs", "BREs", "ITQ", "SPHER", "MDSH", "AGH", "LSH")
_VARIANTS = ("StructH-N", "StructH-N-Stage", "StructH-SN-Stage")
_KERNEL = ("StructH-Kernel", "StructH-N-Stage", "KSH")
_LARGE = (*_VARIANTS, "CGH", "StructH-Kernel", "ITQ", "SPHER", "MDSH", "AGH", "LSH")
_STEP = 4  # bits whose cost is one point


class Curve(NamedTuple):
    """Points of one method."""

    method: str
    points: list[tuple[float, float]]


class Figure(NamedTuple):
    """One panel.

    Attributes
    ----------
    part : str
        The figure of the paper that it belongs to.
    title : str
    x, y : str
        What the axes show.
    log : str
        The logarithmic axes: ``""``, ``"x"``, ``"y"`` or ``"xy"``.
    curves : list of Curve
    note : str
        What differs from the paper.
    """

    part: str
    title: str
    x: str
    y: str
    log: str
    curves: list[Curve]
    note: str = ""


def make_figures(results: Results) -> list[Figure]:
    """Every panel that has a curve."""
    labelled = [data for data in results.sets if SETS[data].labelled]
    large = [data for data in results.sets if not SETS[data].labelled]
    costs = [data for data in results.sets if results.history(data, _VARIANTS[0], "rounds") is not None]
    panels = [
        *(_by_bits(results, "Figure 1: NDCG", data, "ndcg_paper@100", _COMPARED) for data in labelled),
        *(_large(results, data, kind) for data in large for kind in ("ndcg_paper@100", "map", "")),
        *(
            _by_bits(results, "Figure 3: kernel StructHash", data, "ndcg_paper@100", _KERNEL)
            for data in results.sets
        ),
        *(_seconds(results, data) for data in costs),
        *(_inferences(results, data) for data in costs),
        *(_by_points(results, pair) for pair in (_VARIANTS[:2], _VARIANTS[1:])),
    ]
    return [panel for panel in panels if panel.curves]


def _panel(part: str, title: str, axes: tuple[str, str, str], curves: list[Curve], note: str = "") -> Figure:
    """A panel with the curves that have points; axes are (x, y, logarithmic ones)."""
    return Figure(part, title, *axes, [curve for curve in curves if curve.points], note)


def _by_bits(results: Results, part: str, data: str, measure: str, methods: tuple[str, ...]) -> Figure:
    """A measure against the length of the code."""
    curves = [Curve(method, _points(results, data, method, measure)) for method in methods]
    return _panel(part, SETS[data].title, ("bits", TITLES[measure], "x"), curves, SETS[data].difference)


def _points(results: Results, data: str, method: str, measure: str) -> list[tuple[float, float]]:
    """Mean of a measure at each length."""
    found = [(n, results.mean(data, method, measure, n)) for n in results.lengths(data, method)]
    return [(float(n), value) for n, value in found if value is not None]


def _large(results: Results, data: str, measure: str) -> Figure:
    """One of the three panels of a large set; without a measure, precision at each depth."""
    part = "Figure 2: large sets"
    if measure:
        return _by_bits(results, part, data, measure, _LARGE)
    curves = []
    for method in _LARGE:
        found = [(depth, results.mean(data, method, f"precision@{depth}")) for depth in DEPTHS]
        curves.append(Curve(method, [(float(depth), value) for depth, value in found if value is not None]))
    axes = ("retrieved rows", "precision", "x")
    return _panel(part, f"{SETS[data].title}, {N_BITS} bits", axes, curves, SETS[data].difference)


def _seconds(results: Results, data: str) -> Figure:
    """Seconds to learn so many bits."""
    curves = []
    for method in _VARIANTS:
        seconds = results.history(data, method, "seconds")
        if seconds is not None:
            total = np.cumsum(seconds)
            places = range(_STEP - 1, len(total), _STEP)
            curves.append(Curve(method, [(float(bit + 1), float(total[bit])) for bit in places]))
    return _panel("Figure 5: seconds of training", SETS[data].title, ("bits", "seconds", "y"), curves)


def _inferences(results: Results, data: str) -> Figure:
    """Inferences of one bit."""
    curves = []
    for method in _VARIANTS:
        rounds = results.history(data, method, "rounds")
        if rounds is not None:
            n = len(rounds) // _STEP * _STEP
            means = rounds[:n].reshape(-1, _STEP).mean(axis=1)
            curves.append(
                Curve(method, [(float(_STEP * (i + 1)), float(each)) for i, each in enumerate(means)])
            )
    note = f"Mean of {_STEP} bits."
    return _panel("Figure 6: inferences", SETS[data].title, ("bit", "inferences a bit", "y"), curves, note)


def _by_points(results: Results, methods: tuple[str, ...]) -> Figure:
    """Seconds of training against training points."""
    curves = [
        Curve(method, [(float(n), seconds) for n, seconds in results.timed(method)]) for method in methods
    ]
    found = results.timed_set()
    title = " and ".join(methods) if found is None else f"{SETS[found[0]].title}, {found[1]} bits"
    log = "xy" if METHODS[methods[0]].distance == "weighted" else "x"
    note = "The paper shows STL10, which is not available. The faster of two fits."
    return _panel(
        "Figure 7: seconds and training points", title, ("training points", "seconds", log), curves, note
    )
