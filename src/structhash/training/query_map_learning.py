"""Learns maps of queries from judged queries, against the fixed codes of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from structhash._numerics.blocks import row_slices
from structhash._numerics.threads import one_blas_thread
from structhash.codes import unpack
from structhash.training.hash_function import BitFunction
from structhash.training.query_map import QueryMap, QueryMapped

__all__ = ["QueryLoss", "learn_query_maps"]

_MAX_JUDGED = 5000  # queries that are learned from
_MAX_RANKED = 4000  # documents that each of them ranks
_MAX_RELEVANT_SHARE = 0.75  # of these documents, drawn because they are relevant to a query
_MAX_ITER = 15  # of L-BFGS, for each ridge
_TEMPERATURES = (0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9)  # in bits, divided by n_bits


@dataclass(frozen=True)
class QueryLoss:
    r"""The listwise loss of mapped queries, and its slope.

    The bits of a query become h = tanh(scores + features E directions). Documents have the bits b = -1 or 1.

        loss(E) = mean over queries of  log sum_d exp(h'b_d / temperature) - h'r / temperature
                  + ridge / 2 ||E||^2,

    where r is the mean of b over the relevant documents. This is the cross entropy between the uniform
    distribution over the relevant documents and the softmax of h'b. E = 0 is the identity.

    Attributes
    ----------
    features : floating (q, d + 1)
        Of queries.
    scores : floating (q, m)
        Of queries without a map.
    directions : floating (r, m)
        How far a step along each direction moves the scores.
    bits : floating (n, m)
        Of documents, -1 or 1.
    relevant : floating (q, m)
        The mean bits of the documents relevant to each query.
    own : int64 (q,)
        The document that a query is itself, which it does not rank; -1 for none.
    temperature : float
        At least m / 20, so that no exponential overflows.
    """

    features: NDArray[Any]
    scores: NDArray[Any]
    directions: NDArray[Any]
    bits: NDArray[Any]
    relevant: NDArray[Any]
    own: NDArray[np.int64]
    temperature: float

    def value_and_slope(self, E: NDArray[Any], ridge: float) -> tuple[float, NDArray[Any]]:
        """The loss at E (d + 1, r), and its slope (d + 1, r)."""
        total, slope = ridge / 2 * float((E**2).sum()), ridge * E
        n_queries = len(self.features)
        for block in row_slices(n_queries, 1000):
            h = np.tanh(self.scores[block] + self.features[block] @ E @ self.directions)
            shares = (h / self.temperature) @ self.bits.T
            itself = np.flatnonzero(self.own[block] >= 0)
            shares[itself, self.own[block][itself]] = -np.inf
            np.exp(shares, out=shares)
            sums, relevant = shares.sum(axis=1), self.relevant[block]
            losses = np.log(sums) - (h * relevant).sum(axis=1) / self.temperature
            total += float(losses.sum()) / n_queries
            to_h = (shares @ self.bits / sums[:, None] - relevant) / (self.temperature * n_queries)
            slope = slope + self.features[block].T @ ((to_h * (1 - h * h)) @ self.directions.T)
        return total, slope


def learn_query_maps(
    function: BitFunction,
    X: NDArray[Any],
    vectors: NDArray[Any] | None,
    relevant: Mapping[int, NDArray[np.int64]],
    ridges: Sequence[float],
) -> Iterator[QueryMapped]:
    """Learn a query map for each ridge; each begins at the one before.

    Parameters
    ----------
    function : BitFunction
        Its bits are planes. The codes that it gives to documents stay fixed.
    X : ndarray (n, d)
        Documents.
    vectors : ndarray (n_queries, d) or None
        Queries; None where they are documents. Such a query does not rank itself.
    relevant : dict of int to int64 array
        The documents relevant to each query that is learned from; see `relevant_documents`.
    ridges : sequence of float
        Descending.

    Yields
    ------
    QueryMapped
    """
    rng = np.random.default_rng(0)
    asked = rng.permutation(list(relevant))[:_MAX_JUDGED]
    ranked = _draw_documents([rng.permutation(relevant[q]) for q in asked], len(X), rng)
    wanted = np.array([np.isin(ranked, relevant[q]) for q in asked])
    asked, wanted = asked[wanted.any(axis=1)], wanted[wanted.any(axis=1)]
    own = np.full(len(asked), -1)
    if vectors is None:
        places = np.minimum(np.searchsorted(ranked, asked), len(ranked) - 1)
        own = np.where(ranked[places] == asked, places, -1)
    queries = (X if vectors is None else vectors)[asked].astype(np.float64)
    up, unit, loss = _make_loss(function, X[ranked].astype(np.float64), queries, wanted, own)
    E = np.zeros((loss.features.shape[1], len(up)))
    trials = [replace(loss, temperature=share * function.n_bits) for share in _TEMPERATURES]
    loss = min(trials, key=lambda each: each.value_and_slope(E.astype(np.float32), 0.0)[0])
    for ridge in ridges:
        with one_blas_thread():
            E = _minimise(loss, E, ridge)
        yield QueryMapped(function, QueryMap(E[:-1].astype(np.float32), unit * E[-1], up.astype(np.float32)))


def _draw_documents(
    relevant: Sequence[NDArray[np.int64]], n_documents: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Documents to rank, sorted: one relevant to each query, then a second one, ..., and random ones."""
    turns = np.concatenate([np.arange(len(each)) for each in relevant])
    in_turn = np.concatenate(relevant)[np.argsort(turns, kind="stable")]
    _, first = np.unique(in_turn, return_index=True)
    chosen = in_turn[np.sort(first)][: int(_MAX_RELEVANT_SHARE * _MAX_RANKED)]
    others = rng.permutation(np.setdiff1d(np.arange(n_documents), chosen))
    return np.sort(np.concatenate([chosen, others[: _MAX_RANKED - len(chosen)]]))


def _make_loss(
    function: BitFunction,
    documents: NDArray[Any],
    queries: NDArray[Any],
    relevant: NDArray[np.bool_],
    own: NDArray[np.int64],
) -> tuple[NDArray[np.float64], float, QueryLoss]:
    """Orthonormal directions (r, d) that the planes see, the unit of features, and the loss."""
    planes = function.planes()
    if planes is None:
        raise ValueError("only bits that are planes among the rows have a query map")
    center, normals, thresholds = planes
    basis, coordinates = np.linalg.qr(normals.T)  # a step orthogonal to all normals moves no score
    size = float(np.abs(documents - center).max()) or 1.0  # so that no square overflows
    spread = ((documents - center) / size @ normals.T - thresholds / size).std(axis=0)
    spread[spread == 0] = 1.0
    centred = (queries - center) / size
    unit = float(np.sqrt((centred**2).sum(axis=1).mean())) or 1.0
    bits = 2.0 * unpack(function.encode(documents), function.n_bits) - 1

    def single(values: NDArray[Any]) -> NDArray[np.float32]:
        return values.astype(np.float32)

    loss = QueryLoss(
        features=single(np.column_stack([centred / unit, np.ones(len(queries))])),
        scores=single((centred @ normals.T - thresholds / size) / spread),
        directions=single(unit * coordinates / spread),
        bits=single(bits),
        relevant=single(relevant @ bits / relevant.sum(axis=1)[:, None]),
        own=own,
        temperature=1.0,
    )
    return basis.T, size * unit, loss


def _minimise(loss: QueryLoss, E: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """A few steps of L-BFGS from E."""

    def value_and_slope(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = loss.value_and_slope(flat.reshape(E.shape).astype(np.float32), ridge)
        return value, slope.ravel().astype(np.float64)

    options = {"maxiter": _MAX_ITER}
    found = minimize(value_and_slope, E.ravel(), jac=True, method="L-BFGS-B", options=options)
    flat: NDArray[np.float64] = found.x
    return flat.reshape(E.shape)
