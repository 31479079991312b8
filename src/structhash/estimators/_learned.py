"""The base class of estimators that learn a `HashFunction`: encoding, saving, warm starts, warnings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from structhash._numerics.program import Program
from structhash._numerics.randomness import check_random_state
from structhash._numerics.validation import MAX_BITS, check_count, check_flag, check_positive, counted
from structhash.estimators._same_codes import warn_about_same_codes
from structhash.estimators.base import HashEncoder
from structhash.families.starts.base import Start
from structhash.io.fields import Field
from structhash.training.hash_function import BitFunction
from structhash.training.problem import Learned, Plan
from structhash.training.query_map import restore_function

logger = logging.getLogger("structhash")

_FUNCTION = "hash_function_"
LEARNED_FIELDS = (
    Field("prefix_weights_", ("n_bits", "n_bits"), least=0),
    Field("weighted_", kind="bool"),
    Field("n_skipped_", kind="int", least=0),
    Field("judged_", kind="bool"),
)  # besides the hash function and what all estimators have


class LearnedEncoder(HashEncoder):
    """An estimator whose fitted state is a learned function to bits and the weights of these."""

    hash_function_: BitFunction
    n_bits: int
    warm_start: bool
    random_state: Any
    stop_at_optimum: bool
    tolerance: float
    history_: list[dict[str, Any]]

    def queries_differ(self, n_bits: int | None = None) -> bool:
        """Whether `encode_queries` gives other codes than `encode` at this length (all bits by default)."""
        n_bits = self._check_prefix(n_bits)
        return self.hash_function_.queries_differ(n_bits)

    def learned_from_labels(self) -> bool:
        """See `EncoderContract.learned_from_labels`; judgements count as labels."""
        embedding = self.hash_function_.embedding
        return embedding is None or embedding.labelled

    def _values(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.hash_function_.values(X)

    def _query_values(self, X: NDArray[Any], n_bits: int) -> NDArray[Any]:
        return self.hash_function_.query_values(X, n_bits)

    def express(self, program: Program, X: str, n_query_bits: int | None = None) -> str:
        """Those of the hash function; see `HashEncoder.express`."""
        return self.hash_function_.express(program, X, n_query_bits)

    def _encode_opened(self, rows: NDArray[Any], n_bits: int, queries: bool = False) -> NDArray[np.uint8]:
        return self.hash_function_.encode(rows, n_bits, queries, type(self).__name__)

    def _try_row(self, row: NDArray[Any]) -> None:
        """Nothing: `restore_function` tries a row."""

    def _to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        arrays, plain = super()._to_arrays()
        more, plain[_FUNCTION] = plain.pop(_FUNCTION).to_arrays()
        return arrays | {f"{_FUNCTION}/{name}": array for name, array in more.items()}, plain

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any]) -> dict[str, Any]:
        prefix = f"{_FUNCTION}/"
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        others = {name: array for name, array in arrays.items() if not name.startswith(prefix)}
        fitted = super()._from_arrays(others, {key: each for key, each in plain.items() if key != _FUNCTION})
        sizes = {"n_features": fitted["n_features_in_"], "n_bits": fitted["n_bits_"]}
        return {**fitted, _FUNCTION: restore_function(own, plain[_FUNCTION], sizes)}

    def _variant(self, **changed: Any) -> Any:
        """An unfitted copy with these settings."""
        return clone(self).set_params(**changed)

    def _check_shared_settings(self) -> None:
        """Refuse settings that all subclasses have, where they are not allowed."""
        check_count("n_bits", self.n_bits, most=MAX_BITS)
        check_positive("tolerance", self.tolerance)
        check_random_state(self.random_state)
        check_flag("stop_at_optimum", self.stop_at_optimum)
        check_flag("warm_start", self.warm_start)

    def _plan(self, start: Start) -> Plan:
        """How bits are generated with these settings."""
        kept = self._kept()
        stop_below = self.tolerance if self.stop_at_optimum else None
        return Plan(start, self.n_bits, stop_below, kept, self.history_ if kept else ())

    def _kept(self) -> BitFunction | None:
        """The hash function whose bits a warm start keeps, if any."""
        if not self.warm_start or not self.__sklearn_is_fitted__():
            return None
        if not isinstance(self.random_state, Integral):
            raise ValueError(
                f"random_state={self.random_state!r}: warm_start=True needs an integer, to draw the same again"
            )
        if self.n_bits < self.n_bits_:
            raise ValueError(
                f"n_bits={self.n_bits}: warm_start=True cannot take bits away; give at least {self.n_bits_}, "
                "or take a prefix with encode(X, n_bits=...)"
            )
        return self.hash_function_.row_function


def warn_about(
    learned: Learned, n_bits: int, C: float | None, X: NDArray[Any], class_index: NDArray[np.int64] | None
) -> None:
    """Log results that a user should act on or may not expect.

    Parameters
    ----------
    learned : Learned
    n_bits : int
        Bits that were asked for.
    C : float or None
        As it was used.
    X : ndarray (n, d)
        Training rows.
    class_index : int64 (n,) or None
        Class number of each row, where there is one.
    """
    n_learned = learned.function.n_bits
    warn_about_same_codes(learned.function.encode, n_learned, X, class_index)
    if class_index is not None and not learned.n_skipped:
        n_alone = int((np.bincount(class_index) == 1).sum())
        if n_alone:
            logger.warning(
                "%s a single training row: new rows of such a class may get the codes of other classes; "
                "give more rows of each",
                counted(n_alone, "class has", "classes have"),
            )
    if n_learned < n_bits:
        logger.info("no better bit was found after %d of %d", n_learned, n_bits)
    if not learned.weights.any():
        at = "" if C is None else f" at C={C:g}"
        logger.warning(
            "all weights are 0:%s no bit is worth its cost; raise C, unless the comparisons contradict "
            "each other",
            at,
        )
    repeated = sum(not each["distinct"] for each in learned.history)
    if repeated:
        logger.warning(
            "%d of %d bits %s: the training rows allow no more distinct bits; lower n_bits or give more rows",
            repeated,
            n_learned,
            "is a copy of an earlier one" if repeated == 1 else "are copies of earlier ones",
        )
