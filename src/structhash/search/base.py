"""The contract of an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.validation import describe
from structhash.codes import PreparedQueries, check_n_bits
from structhash.pieces import snake
from structhash.search._blocks import own_ids
from structhash.search._checks import check_radius, check_weights
from structhash.search._saved import SavedIndex, given_settings
from structhash.search._text_ids import holds_neighbour, is_text

__all__ = ["Index", "all_bits", "given_settings", "joined_source"]


class Index(SavedIndex):
    """Packed codes that queries are searched in.

    A subclass implements `add`, `search` and `table`; the other methods have defaults. Results are ordered by
    (distance, id), so that ties come out the same on every machine. A subclass that needs an optional library
    imports it inside its methods.

    Parameters
    ----------
    n_bits : int
        Length of the codes, at least 1.
    weights : float array of shape (n_bits,), optional
        Finite and non-negative. Distances are then d_w(q, b) = sum_j w_j |q_j - b_j|, as float32.

    Attributes
    ----------
    kind : str
        Kind of its files, such as "index.exact". By default "index." and the registry name of the class.
    takes_weights : bool
        Whether the class takes weights, one for each bit. By default it does not.
    takes_prepared : bool
        Whether a search takes `PreparedQueries`. By default it does.
    setting_names : tuple of str
        Other arguments of the class, all optional. Files keep those that were given. By default none.
    source : str or None
        Fingerprint of the model that made the codes, where it is known. Files keep it.
    codes_are_bits : bool
        Whether the codes may be compared bit by bit, True until it is set: numbers of centroids may not. Files
        keep it, and the command line refuses codes as queries where it is False.

    Raises
    ------
    TypeError
        If `n_bits` is not an integer.
    ValueError
        If `n_bits` is below 1, or the class does not take weights, or they have another shape, are negative or
        are not finite.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" not in vars(cls):
            cls.kind = f"index.{snake(cls.__name__)}"

    def __init__(self, n_bits: int, weights: ArrayLike | None = None) -> None:
        self.n_bits: int = check_n_bits(n_bits)
        self.source: str | None = None
        self.codes_are_bits: bool = True
        self.weights: NDArray[np.float64] | None = None
        if weights is not None:
            if not self.takes_weights:
                raise ValueError(f"{type(self).__name__} does not take weights; use plain distances, or Exact")
            self.weights = check_weights(weights, self.n_bits)

    def add(self, codes: NDArray[np.uint8], ids: ArrayLike | None = None) -> None:
        """Add codes. When it raises, the index stays as it was.

        Parameters
        ----------
        codes : uint8 array of shape (n, ceil(n_bits / 8))
            Copied.
        ids : array of shape (n,), optional
            Unique: whole numbers of at least 0, or text (str) of 1 to 512 bytes in UTF-8. Without them codes
            get row numbers. The first codes decide which of the three an index has; it never has two.

        Raises
        ------
        TypeError, ValueError
            If the codes are not packed codes of `n_bits` bits, or the ids break a rule above.
        """
        raise NotImplementedError

    def remove(self, ids: ArrayLike) -> None:
        """Remove codes. The others keep their ids; when it raises, the index stays as it was.

        Running numbers become ids of their own, so that no number changes its code: codes that are added later
        need ids, too. An index without codes is as new.

        Parameters
        ----------
        ids : array of shape (n,)
            Numbers or text, as the index has them. All of them in the index.

        Raises
        ------
        TypeError, ValueError
            If the ids are of another kind, or one is not in the index.
        """
        raise NotImplementedError(f"{type(self).__name__} does not remove codes; index the others again")

    def replace(self, ids: ArrayLike, codes: NDArray[np.uint8]) -> None:
        """Replace the codes of some ids. When it raises, the index stays as it was.

        Parameters
        ----------
        ids : array of shape (n,)
            Numbers or text, as the index has them. Unique, all of them in the index.
        codes : uint8 array of shape (n, ceil(n_bits / 8))
            Copied.

        Raises
        ------
        TypeError, ValueError
            If the ids are not as said, or the codes are not packed codes of `n_bits` bits.
        """
        raise NotImplementedError(f"{type(self).__name__} does not replace codes; index all codes again")

    def merge(self, other: Index) -> None:
        """Add all codes of another index, which does not change.

        Running numbers go on: code i of the other index gets the number ``ntotal + i``. Own ids stay.

        Parameters
        ----------
        other : Index
            Of any class, with codes of the same length and the same weights.

        Raises
        ------
        TypeError
            If it is no index.
        ValueError
            If it is this index, lengths, weights or known models differ, or `add` refuses the ids.
        """
        source = joined_source([self, other])
        self._take(other._parts())
        self.source, self.codes_are_bits = source, all_bits([self, other])

    def search(
        self, codes: NDArray[np.uint8] | PreparedQueries, k: int, among: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Find the `k` nearest codes of each query.

        An index may have fewer than k codes. The last places of each row are then empty: their id is -1, or ""
        where ids are text, and their distance is 2**31 - 1, or infinity with weights or prepared queries.
        `structhash.search.holds_neighbour` of the ids selects the other places.

        Parameters
        ----------
        codes : uint8 array of shape (n_queries, ceil(n_bits / 8)), or PreparedQueries
            Packed codes, or what `HashEncoder.prepare_queries` or a `Reader` gives. Prepared queries bring
            their own distances; weights of the index do not count.
        k : int, at least 1
        among : bool array of shape (ntotal,), or array of ids, optional
            Search only these codes: a mask in ascending order of `ids`, or the ids themselves.

        Returns
        -------
        distances : array of shape (n_queries, k)
            Ascending. int32; float32 with weights or prepared queries, added in float64 and rounded once.
        ids : array of shape (n_queries, k)
            int64; of dtype object, with str, where ids are text. Ascending among equal distances: numbers by
            value, text by the code points of its characters, as Python sorts it.

        Raises
        ------
        TypeError, ValueError
            If the queries are not packed codes of `n_bits` bits, or k is not an integer of at least 1.
        """
        raise NotImplementedError

    def radius(
        self, codes: NDArray[np.uint8] | PreparedQueries, r: float, among: ArrayLike | None = None
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Find all codes within distance `r` of each query; a distance of exactly `r` counts.

        The default ranks all codes with `search`, so it costs memory for n_queries times the size of the index.

        Parameters
        ----------
        codes : uint8 array of shape (n_queries, ceil(n_bits / 8)), or PreparedQueries
        r : float, at least 0
        among : bool array of shape (ntotal,), or array of ids, optional
            As in `search`.

        Returns
        -------
        lims : int64 array of shape (n_queries + 1,)
            Query i owns ``distances[lims[i]:lims[i + 1]]`` and the ids there.
        distances : int32 array, or float32 with weights or prepared queries
        ids : array
            As in `search`, ordered by (distance, id) within each query. A query without such codes owns
            nothing.

        Raises
        ------
        TypeError, ValueError
            If the queries are not packed codes of `n_bits` bits, or r is not a number of at least 0.
        """
        r = check_radius(r)
        limited: dict[str, Any] = {} if among is None else {"among": among}
        distances, ids = self.search(codes, max(1, self.ntotal), **limited)
        within = holds_neighbour(ids) & (distances <= r)
        lims = np.concatenate([[0], np.cumsum(within.sum(axis=1))]).astype(np.int64)
        return lims, distances[within], ids[within]

    def table(self) -> tuple[NDArray[np.uint8], NDArray[Any] | None]:
        """Return all codes and their ids, in ascending order of the ids.

        Returns
        -------
        codes : uint8 array of shape (n, ceil(n_bits / 8))
        ids : int64 array of shape (n,), object array of str, or None for row numbers
        """
        raise NotImplementedError

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of the codes, int64 or object with str, of shape (n,), ascending."""
        codes, ids = self.table()
        return np.arange(len(codes)) if ids is None else ids

    @property
    def id_kind(self) -> str:
        """What ids are: "row numbers", "numbers" or "text"."""
        own = own_ids(self._parts())
        return "row numbers" if not own else "text" if is_text(own[0]) else "numbers"

    @property
    def ntotal(self) -> int:
        """Number of codes in the index."""
        return len(self.table()[0])

    def __len__(self) -> int:
        return self.ntotal

    def __repr__(self) -> str:
        weights = "" if self.weights is None else "weights=..., "
        given = "".join(f"{name}={value}, " for name, value in given_settings(self).items())
        return f"{type(self).__name__}(n_bits={self.n_bits}, {weights}{given}ntotal={self.ntotal})"


def joined_source(indexes: Sequence[Index]) -> str | None:
    """The model of the codes of several indexes, where all are of one; errors if they do not fit each other."""
    if isinstance(indexes, Index):
        raise TypeError(f"indexes={indexes!r}: give a list of indexes")
    if not indexes:
        raise ValueError("indexes is empty; give at least one")
    first = indexes[0]
    for each in indexes:
        if not isinstance(each, Index):
            raise TypeError(f"{describe(each)} is no index; codes are added by add")
        one, two = first.weights, each.weights
        equal = one is two or (one is not None and two is not None and np.array_equal(one, two))
        if each.n_bits != first.n_bits or not equal:
            raise ValueError(
                f"{each!r} has codes of another length or other weights than {first!r}; merge equal indexes"
            )
    if len({id(each) for each in indexes}) < len(indexes):
        raise ValueError("an index is given twice, so each of its codes would be there twice; give it once")
    if len({each.source for each in indexes} - {None}) > 1:
        raise ValueError("the indexes hold codes of different models; encode the rows with one model")
    sources = {each.source for each in indexes if each.ntotal} or {first.source}
    return sources.pop() if len(sources) == 1 else None


def all_bits(indexes: Sequence[Index]) -> bool:
    """Whether the codes of several indexes may be compared bit by bit."""
    return all(each.codes_are_bits for each in indexes)
