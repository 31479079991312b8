"""Two-stage search: codes find candidates, vectors order them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.blocks import row_slices, rows_within
from structhash._numerics.randomness import generator
from structhash._numerics.validation import check_choice, check_count, check_positive, counted, describe
from structhash.codes import PreparedQueries
from structhash.search._checks import Ids, as_ids, check_k, refuse_repeated
from structhash.search._text_ids import check_same_kind, holds_neighbour, no_ids, shown, spell_id
from structhash.search._vector_metrics import METRICS, all_distances, as_vectors, own_distances
from structhash.search.base import Index

__all__ = ["FactorChoice", "Rescored", "choose_factor"]

_NUMBERS_AT_ONCE = 1 << 21  # of candidates; they take 16 MB


class Rescored:
    """An index whose nearest codes are ordered by vectors.

    A search fetches the ``k * factor`` nearest codes of a query and returns the k of them whose vectors are
    nearest. With a factor of at least n / k these are the k nearest of all. `choose_factor` finds how large the
    factor must be.

    Parameters
    ----------
    index : Index
        It may change later. Vectors do not follow: make a new `Rescored` when codes have other vectors.
    vectors : array of shape (n, d)
        Of float64, float32, float16 or integers, in memory or mapped (``np.load(path, mmap_mode="r")``). Only
        rows of candidates are read.
    metric : {"cosine", "inner_product", "euclidean"}
        Distances are 1 - cos(q, x), the negative inner product, or the Euclidean distance.
    factor : int, at least 1
        Candidates a neighbour.
    ids : array of shape (n,), optional
        The id of each vector, unique. Without them vector i is that of row number i.
    scale : float array of shape (d,), optional
        Vectors are ``vectors * scale``, as `to_int8` gives both.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not as said, or a code of the index has no vector.

    Examples
    --------
    >>> from structhash import DistilHash
    >>> from structhash.search import Exact
    >>> X = np.random.default_rng(0).normal(size=(300, 8))
    >>> encoder, index = DistilHash(n_bits=16, random_state=0).fit(X[:200]), Exact(n_bits=16)
    >>> index.add(encoder.encode(X[:290]))
    >>> rescored = Rescored(index, X[:290], metric="euclidean", factor=29)
    >>> distances, ids = rescored.search(encoder.encode(X[290:]), X[290:], k=10)
    >>> bool((ids[0] == np.argsort(np.linalg.norm(X[:290] - X[290], axis=1))[:10]).all())
    True
    """

    def __init__(
        self,
        index: Index,
        vectors: ArrayLike,
        metric: str = "cosine",
        factor: int = 10,
        ids: ArrayLike | None = None,
        scale: ArrayLike | None = None,
    ) -> None:
        if not isinstance(index, Index):
            raise TypeError(f"index={describe(index)}: give an index")
        check_choice("metric", metric, METRICS)
        check_count("factor", factor)
        self.index, self.vectors = index, as_vectors("vectors", vectors)
        self.metric, self.factor, self.scale = metric, int(factor), None
        if scale is not None:
            self.scale = np.array(scale, np.float64)
            if self.scale.shape != self.vectors.shape[1:] or not np.isfinite(self.scale).all():
                raise ValueError(
                    f"scale={describe(scale)}: give finite numbers of shape {self.vectors.shape[1:]}"
                )
        self._ids: Ids | None = None
        self._order: NDArray[np.int64] | None = None  # rows of vectors in ascending order of their ids
        if ids is not None:
            given = as_ids(ids, len(self.vectors))
            self._order = np.argsort(given)
            self._ids = given[self._order]
            refuse_repeated(self._ids)
        self._ranks_of(index.ids)

    def search(
        self,
        codes: NDArray[np.uint8] | PreparedQueries,
        queries: ArrayLike,
        k: int,
        among: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Find the `k` nearest vectors of each query among the ``k * factor`` nearest codes.

        Parameters
        ----------
        codes : uint8 array of shape (n_queries, ceil(n_bits / 8)), or PreparedQueries
            As in `Index.search`.
        queries : array of shape (n_queries, d)
            The vectors of the same queries.
        k : int, at least 1
        among : array, optional
            As in `Index.search`.

        Returns
        -------
        distances : float32 array of shape (n_queries, k)
            Ascending; infinity in empty places. Added in float64 and rounded once: vectors whose distances do
            not differ in float32 are tied.
        ids : array of shape (n_queries, k)
            As in `Index.search`, ascending among equal distances.

        Raises
        ------
        TypeError, ValueError
            If `Index.search` refuses the codes, or queries are no such vectors, or a candidate has no vector.
        """
        asked = self._check_queries(queries, len(codes))
        k = check_k(k, len(asked), len(self.index))
        candidates = min(k * self.factor, max(k, len(self.index)))
        limited: dict[str, Any] = {} if among is None else {"among": among}
        distances = np.full((len(asked), k), np.inf, np.float32)
        nearest = np.full((len(asked), k), -1, np.int64)
        for part in row_slices(max(len(asked), 1), rows_within(candidates, _NUMBERS_AT_ONCE)):
            found = self._ranks_of(self.index.search(codes[part], candidates, **limited)[1])
            distances[part], nearest[part] = self._nearest_of(asked[part], found, k)
        return distances, self._named(nearest)

    def hold_out(self, n_rows: int = 200, random_state: Any = 0) -> tuple[Self, NDArray[np.float64]]:
        """Take rows out of the index, as queries for `choose_factor`.

        Parameters
        ----------
        n_rows : int, at least 1
            At most a fifth of the codes are taken.
        random_state : int, RandomState, Generator or None
            Draws the rows.

        Returns
        -------
        others : Rescored
            Over a copy of the index without these rows. This one does not change.
        queries : float64 array of shape (n, d)
            The vectors of the rows, times the scale if there is one.

        Raises
        ------
        TypeError, ValueError
            If `n_rows` is not an integer of at least 1, `random_state` draws nothing, or there are less than
            5 codes.
        """
        check_count("n_rows", n_rows)
        ids = self.index.ids
        if len(ids) < 5:
            raise ValueError(
                f"the index has {counted(len(ids), 'code')}; to hold rows out, give one with at least 5"
            )
        drawn = generator(random_state).permutation(len(ids))[: min(n_rows, len(ids) // 5)]
        queries = self._rows(self._ranks_of(ids[drawn]))
        others = deepcopy(self.index)  # `remove` of a class elsewhere may change arrays in place
        others.remove(ids[drawn])  # row numbers are ids of their own then
        if self._ids is None or self._order is None:
            names: NDArray[Any] = np.arange(len(self.vectors))
        else:
            names = shown(self._ids)[np.argsort(self._order)]
        held: Self = type(self)(others, self.vectors, self.metric, self.factor, names, self.scale)
        return held, queries

    def _nearest_of(
        self, asked: NDArray[np.float64], ranks: NDArray[np.int64], k: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Distances and places (m, k) of the nearest among the candidates (m, c) of each query."""
        distances, nearest = np.empty((len(asked), k), np.float32), np.empty((len(asked), k), np.int64)
        for part in row_slices(len(asked), rows_within(ranks.shape[1] * asked.shape[1], _NUMBERS_AT_ONCE)):
            vectors = self._rows(ranks[part].ravel()).reshape(-1, ranks.shape[1], asked.shape[1])
            with np.errstate(over="ignore"):
                near: NDArray[Any] = own_distances(self.metric, asked[part], vectors).astype(np.float32)
            if not np.isfinite(near).all():
                raise ValueError("distances are beyond the range of float32; divide all vectors by a number")
            near[ranks[part] < 0] = np.inf
            order = np.lexsort([ranks[part], near])[:, :k]
            distances[part] = np.take_along_axis(near, order, 1)
            nearest[part] = np.take_along_axis(ranks[part], order, 1)
        return distances, nearest

    def _named(self, ranks: NDArray[np.int64]) -> NDArray[Any]:
        """The ids at these places; empty for -1."""
        if self._ids is None:
            return ranks
        ids = no_ids(ranks.shape, self._ids)
        ids[ranks >= 0] = self._ids[ranks[ranks >= 0]]
        return shown(ids)

    def _check_queries(self, queries: ArrayLike, n: int) -> NDArray[np.float64]:
        """Vectors of n queries as float64; ValueError if they are others."""
        asked = as_vectors("queries", queries).astype(np.float64)
        if asked.shape != (n, self.vectors.shape[1]) or not np.isfinite(asked).all():
            raise ValueError(
                f"queries={describe(queries)}: give finite vectors of shape ({n}, {self.vectors.shape[1]})"
            )
        return asked

    def _ranks_of(self, ids: NDArray[Any]) -> NDArray[np.int64]:
        """Places of ids among the ascending ids of all vectors, or -1; ValueError if one has no vector."""
        there = holds_neighbour(ids)
        asked = as_ids(ids[there], int(there.sum()))
        if not asked.size:
            places, missing = np.empty(0, np.int64), asked
        elif not len(self.vectors):
            places, missing = asked, asked
        elif self._ids is None:
            if self.index.id_kind != "row numbers":
                raise ValueError("the index has ids of its own; give ids, one for each row of vectors")
            places, missing = asked, asked[asked >= len(self.vectors)]
        else:
            check_same_kind(self._ids, asked)
            places = np.searchsorted(self._ids, asked)
            missing = asked[np.append(self._ids, self._ids[:1])[places] != asked]
        if missing.size:
            raise ValueError(
                f"{counted(missing.size, 'id has', 'ids have')} no vector, such as {spell_id(missing[0])}; "
                "give vectors of all codes"
            )
        ranks = np.full(ids.shape, -1, np.int64)
        ranks[there] = places
        return ranks

    def _rows(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """The vectors (m, d) at these places; zeros for -1."""
        there = ranks >= 0
        rows = ranks[there] if self._order is None else self._order[ranks[there]]
        vectors = np.zeros((len(ranks), self.vectors.shape[1]))
        vectors[there] = self.vectors[rows]
        if self.scale is not None:
            vectors *= self.scale
        if not np.isfinite(vectors).all():
            raise ValueError("vectors hold NaN or infinity; give finite numbers")
        return vectors

    def _nearest_of_all(self, queries: NDArray[np.float64], k: int) -> NDArray[np.int64]:
        """Places (m, k) of the nearest vectors of all codes, in no order."""
        ranks = self._ranks_of(self.index.ids)
        near: NDArray[np.float64] = np.empty((len(queries), 0))
        found: NDArray[np.int64] = np.empty((len(queries), 0), np.int64)
        for part in row_slices(len(ranks), min(4096, rows_within(queries.shape[1], _NUMBERS_AT_ONCE))):
            block = all_distances(self.metric, queries, self._rows(ranks[part]))
            near = np.concatenate([near, block], axis=1)
            found = np.concatenate([found, np.broadcast_to(ranks[part], block.shape)], axis=1)
            nearest = np.argpartition(near, min(k, near.shape[1]) - 1, axis=1)[:, :k]
            near, found = np.take_along_axis(near, nearest, 1), np.take_along_axis(found, nearest, 1)
        return found

    def _recall(
        self, codes: NDArray[np.uint8] | PreparedQueries, wanted: NDArray[np.int64], n_candidates: int
    ) -> float:
        """Share of the wanted places (m, k) that a search for `n_candidates` codes finds."""
        n_found = 0
        for part in row_slices(len(wanted), rows_within(n_candidates, _NUMBERS_AT_ONCE)):
            found = self._ranks_of(self.index.search(codes[part], n_candidates)[1])
            n_found += sum(int(np.isin(own, near).sum()) for own, near in zip(wanted[part], found, strict=True))
        return n_found / wanted.size


class FactorChoice(NamedTuple):
    """A factor, and what share of the nearest vectors factors recover."""

    factor: int
    recall: float
    recalls: dict[int, float]  # by factor


def choose_factor(
    rescored: Rescored,
    codes: NDArray[np.uint8] | PreparedQueries,
    queries: ArrayLike,
    k: int = 10,
    recall: float = 0.95,
) -> FactorChoice:
    """Find the least factor with which a two-stage search finds a wanted share of the nearest vectors.

    The nearest vectors come from a comparison of each query with all vectors. Give some hundred queries like
    those that will be searched for, which are not in the index themselves. `Rescored.hold_out` takes rows of
    the index for this: right where queries are like rows.

    Parameters
    ----------
    rescored : Rescored
        Its own factor does not count, and stays.
    codes : uint8 array of shape (n_queries, ceil(n_bits / 8)), or PreparedQueries
    queries : array of shape (n_queries, d)
        The vectors of the same queries.
    k : int, at least 1
    recall : float
        Above 0, at most 1: the share of the k nearest vectors that a search for k returns, mean over queries.

    Returns
    -------
    choice : FactorChoice
        The factor, its recall, and the recalls of the factors 1, 2, 4 and so on up to it.

    Raises
    ------
    TypeError, ValueError
        If `Rescored.search` refuses the queries, there are none, the index has fewer than k codes, or the
        recall is out of range.
    """
    asked = rescored._check_queries(queries, len(codes))
    n = len(rescored.index)
    k = check_k(k, len(asked), n)
    check_positive("recall", recall, most=1)
    if not len(asked) or n < k:
        raise ValueError(
            f"{counted(len(asked), 'query', 'queries')} and {counted(n, 'code')}: give at least one query and "
            f"{counted(k, 'code')}"
        )
    wanted, most = rescored._nearest_of_all(asked, k), -(-n // k)
    recalls: dict[int, float] = {}

    def reaches(factor: int) -> bool:
        recalls[factor] = rescored._recall(codes, wanted, min(factor * k, n))
        return recalls[factor] >= recall

    # Each factor has a search of its own: with more candidates, an IVF or HNSW looks at more codes.
    low, high = 0, 1
    while not reaches(high) and high < most:
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    tried = sorted({high, *(2**power for power in range(high.bit_length()))})
    return FactorChoice(high, recalls[high], {each: recalls[each] for each in tried})
