"""What is known of rows: class probabilities, the chance of a known class, and places in the graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import normalize_rows
from structhash.embeddings._known_classes import fit_known_classes
from structhash.embeddings._targets import sharpen
from structhash.embeddings._walk_classes import fit_walk_classes, join_walk
from structhash.embeddings.centered import Centered
from structhash.embeddings.manifold import Manifold
from structhash.embeddings.posterior import Posterior
from structhash.pieces import Params

__all__ = [
    "GRAPH_ARRAYS",
    "Evidence",
    "Parts",
    "sharp_classes",
    "trust_in_labels",
    "walk_graph",
    "with_searched",
]

TRUSTED_ROWS = 5  # labelled rows of a class from which on its labels say more than the rows themselves
GRAPH_ARRAYS = ("nodes", "local_scale", "vectors")  # what a graph has beside the scaling of rows


class Parts(NamedTuple):
    """What the graph and the rows themselves say of n rows."""

    near: NDArray[Any]  # (n, m) vectors of `Manifold`, of length 1
    walk: NDArray[Any]  # (n, v) those of the random walk alone
    centred: NDArray[Any]  # (n, d) of length 1

    @classmethod
    def of(cls, X: NDArray[Any], state: Params) -> Parts:
        """The parts of rows X (n, d)."""
        near = walk = Manifold().embed(X, state)
        if len(state["walk_nodes"]):
            walk = Manifold().embed(X, walk_graph(state))
        walk = walk[:, : state["walk_vectors"].shape[1]]
        return cls(normalize_rows(near), walk, normalize_rows(Centered().embed(X, state)))


class Evidence(NamedTuple):
    """What the embedding says of n rows."""

    parts: Parts
    P: NDArray[Any]  # (n, c) class probabilities, by other rows
    known: NDArray[np.float64]  # (n,) chances of a known class

    def vectors(self) -> NDArray[Any]:
        """The vectors of the rows."""
        columns = [self.P, self.known[:, None], self.parts.near, self.parts.centred]
        return np.hstack(columns).astype(self.P.dtype)


def with_searched(
    X: NDArray[Any],
    class_index: NDArray[np.int64],
    left_out: NDArray[np.int64],
    labelled: Evidence,
    searched: NDArray[Any],
    state: Params,
    by_sureness: bool,
) -> tuple[Evidence, Evidence, Params]:
    """What the searched rows add: the walk's part of class probabilities, and the chance of a known class.

    Parameters
    ----------
    X : ndarray (n, d)
        The labelled rows.
    class_index : int64 (n,)
    left_out : int64 (k,)
        Numbers of the labelled rows that are left out of their own regression.
    labelled : Evidence
        Of these rows, by `Posterior` alone.
    searched : ndarray (u, d)
    state : dict of arrays
        Of `Posterior` and the graphs.
    by_sureness : bool
        See `fit_known_classes`.

    Returns
    -------
    Evidence
        Of the left-out rows.
    Evidence
        Of the searched rows.
    dict of arrays
        What was learned.
    """
    parts, P = Parts.of(searched, state), Posterior().embed(searched, state)
    copies, originals = _same_rows(searched, X[left_out])
    P[copies] = labelled.P[originals]  # as if the regression had not seen them
    walk = labelled.parts.walk if len(left_out) == len(X) else Parts.of(X, state).walk
    joined = fit_walk_classes(labelled.P, left_out, walk, class_index, Posterior().max_row_temperature)
    of_searched = join_walk(P, parts.walk, joined.state).astype(P.dtype)
    of_searched[copies] = joined.left_out[originals]
    both = (labelled.parts.walk, sharp_classes(labelled.P)), (parts.walk, sharp_classes(P))
    known = fit_known_classes(*both, class_index[left_out], sharp_classes(of_searched), by_sureness)
    return (
        Evidence(labelled.parts, joined.left_out.astype(P.dtype), known.of_labelled),
        Evidence(parts, of_searched, known.of_searched),
        {**joined.state, **known.state},
    )


def walk_graph(state: Params) -> Params:
    """The state of the graph that the walk has of its own."""
    graph = {name: state[f"walk_{name}"] for name in GRAPH_ARRAYS}
    return {"mean": state["mean"], "scale": state["scale"], **graph}


def sharp_classes(P: NDArray[Any]) -> NDArray[np.float64]:
    """Class probabilities at temperature 1, of those that `Posterior` gives."""
    return sharpen(P, Posterior().max_row_temperature)


def trust_in_labels(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Trust (c,) in the labels of each class, 0 to 1; `labels` (n,) are class numbers."""
    sizes = np.bincount(labels)
    return sizes / (sizes + TRUSTED_ROWS)


def _same_rows(rows: NDArray[Any], others: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the rows that are also among others, and where there."""
    dtype = np.result_type(rows, others)  # holds the numbers of both
    rows, others = (np.ascontiguousarray(each, dtype) + dtype.type(0) for each in (rows, others))  # -0 is 0
    places = {row.tobytes(): place for place, row in enumerate(others)}
    found = [places.get(row.tobytes(), -1) for row in rows]
    copies = np.flatnonzero(np.array(found) >= 0)
    return copies, np.array(found)[copies]
