"""The part that the sub-linear indexes share: a structure over each large block of codes."""

from __future__ import annotations

import operator
from collections import defaultdict
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from structhash._numerics.locks import fork_safe_lock
from structhash._numerics.validation import describe
from structhash.codes import PreparedQueries
from structhash.search._kept import Kept
from structhash.search._scan import Tabled
from structhash.search._stored import StoredIndex
from structhash.search.base import given_settings
from structhash.search.exact import Exact

__all__ = ["MOST_ROWS", "SublinearIndex", "check_setting"]

MOST_ROWS = (1 << 31) - 1
_LEAST_CODES = 10_000  # below, comparing all codes takes little
_STRUCTURES: defaultdict[Any, Kept] = defaultdict(Kept)
_LOCK = fork_safe_lock()


class SublinearIndex(StoredIndex):
    """Index that holds its codes as `Exact` does, and searches each large block of them by a structure.

    The structure is made at the first search, from the codes alone, and kept as long as the block lives: files
    hold codes and settings, so no file can damage it. A block of less than 10,000 codes is compared as a whole.
    So are the codes that `among` keeps, and all codes in a search by radius: answers are then those of `Exact`.

    A subclass implements `_make` and `_found`, and names its settings in `setting_names`; `_key` are those that
    the structure depends on. `tuned_setting` is the one that trades recall for time; None if nothing is missed.

    Parameters
    ----------
    n_bits : int
    weights : float array of shape (n_bits,), optional
        As in `Index`.
    """

    tuned_setting: ClassVar[str | None] = None

    def search(
        self, codes: NDArray[np.uint8] | PreparedQueries, k: int, among: ArrayLike | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Find the `k` nearest codes of each query; parameters, returns and errors as `Index.search`.

        Distances are exact, and ordered with ids as in `Exact`. With `among`, no code is missed.
        """
        if among is None:
            return super().search(codes, k)
        self._read(codes)  # refuses what this class does not take
        return self._exact().search(codes, k, among)

    def radius(
        self, codes: NDArray[np.uint8] | PreparedQueries, r: float, among: ArrayLike | None = None
    ) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
        """Find all codes within distance `r`; parameters, returns and errors as `Index.radius`."""
        if among is None:
            return super().radius(codes, r)
        self._read(codes)
        return self._exact().radius(codes, r, among)

    def with_settings(self, **settings: int | None) -> Self:
        """Return an index of the same codes with other settings; it shares codes, and structures where it can.

        Raises
        ------
        TypeError, ValueError
            If the class has no such setting, or refuses the value.
        """
        if unknown := settings.keys() - set(self.setting_names):
            raise ValueError(
                f"{type(self).__name__} has no setting {sorted(unknown)[0]!r}; it has "
                f"{', '.join(self.setting_names) or 'none'}"
            )
        words: dict[str, Any] = {**given_settings(self), **settings}
        if self.weights is not None:
            words["weights"] = self.weights
        Class = type(self)
        made = Class(self.n_bits, **words)
        made._blocks, made.source, made.codes_are_bits = self._blocks, self.source, self.codes_are_bits
        return made

    def _read(self, queries: NDArray[np.uint8] | PreparedQueries) -> NDArray[np.uint8] | Tabled:
        if isinstance(queries, PreparedQueries) and not self.takes_prepared:
            raise TypeError(
                f"{type(self).__name__} takes packed codes, not prepared queries; search these in Exact, Flat "
                "or IVF"
            )
        return super()._read(queries)

    def _exact(self) -> Exact:
        """The same codes, for what no structure serves."""
        exact = Exact(self.n_bits, self.weights)
        exact._blocks = self._blocks
        return exact

    def _is_large(self, codes: NDArray[np.uint8]) -> bool:
        """Whether a block has a structure: rows in it are int32."""
        return _LEAST_CODES <= len(codes) <= MOST_ROWS

    def _nearest(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], k: int
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        if not self._is_large(codes):
            return super()._nearest(queries, codes, k)
        return self._found(queries, codes, self._structure(codes), k)

    def _structure(self, codes: NDArray[np.uint8]) -> Any:
        """The structure of a block, made at the first call."""
        kept = _STRUCTURES[type(self), self.n_bits, self._key()]
        found = kept.peek(codes)
        if found is None:
            with _LOCK:  # so that threads do not make it twice
                found = kept.get(codes, self._make)
        return found

    def _key(self) -> tuple[Any, ...]:
        """The settings that a structure depends on."""
        raise NotImplementedError

    def _make(self, codes: NDArray[np.uint8]) -> Any:
        """Make the structure of a block of codes."""
        raise NotImplementedError

    def _found(
        self, queries: NDArray[np.uint8], codes: NDArray[np.uint8], structure: Any, k: int
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Distances and rows (n_queries, k) of near codes, by (distance, row); k is at most n."""
        raise NotImplementedError


def check_setting(name: str, value: Any, least: int, most: int) -> int | None:
    """Return a setting as an int, or None as it is; errors if it is no whole number in the range.

    >>> check_setting("n_probe", 3, 1, 10)
    3
    """
    if value is None:
        return None
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={describe(value)}: give a whole number from {least} to {most}") from None
    if not least <= number <= most:
        raise ValueError(f"{name}={describe(value)}: give a whole number from {least} to {most}")
    return int(number)
