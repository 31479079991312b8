"""Class bits and row bits in one code.

Class bits follow class probabilities. Rows of one class get nearly the same ones, so that the code forgets
what else the vectors said. After the first 16 bits, every eighth bit is therefore a row bit: it is learned from
the rows alone. A row bit costs little order between classes and keeps much order inside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.program import Program
from structhash.embeddings.base import Embedding
from structhash.io.fields import split_parts
from structhash.training.hash_function import BitFunction, HashFunction

__all__ = [
    "Interleaved",
    "function_from_arrays",
    "is_row_bit",
    "n_class_bits",
    "n_row_bits",
    "n_row_bits_among",
]

N_FIRST_CLASS_BITS = 16
ROW_BIT_EVERY = 8  # after the first class bits, every eighth bit is a row bit

_PARTS = ("classes", "rows")
_TINY = 1e-300  # divides values that are all 0


def n_row_bits(n_bits: int) -> int:
    """How many bits of a code of n_bits bits are row bits.

    Examples
    --------
    >>> [n_row_bits(n) for n in (16, 23, 24, 32, 64, 128)]
    [0, 0, 1, 2, 6, 14]
    """
    return max(0, (n_bits - N_FIRST_CLASS_BITS) // ROW_BIT_EVERY)


def n_class_bits(n_bits: int) -> int:
    """How many bits of a code of n_bits bits are class bits."""
    return n_bits - n_row_bits(n_bits)


def n_row_bits_among(n_class_bits: int) -> int:
    """How many row bits have their places among so many class bits, or right after them.

    Examples
    --------
    >>> [n_row_bits_among(n_class_bits(n)) for n in (16, 24, 32, 64, 128)]
    [0, 1, 2, 6, 14]
    """
    return max(0, (n_class_bits - N_FIRST_CLASS_BITS) // (ROW_BIT_EVERY - 1))


def is_row_bit(n_bits: int) -> NDArray[np.bool_]:
    """Which bits of a code are row bits, (n_bits,)."""
    place = np.arange(n_bits) - N_FIRST_CLASS_BITS
    return (place >= 0) & (place % ROW_BIT_EVERY == ROW_BIT_EVERY - 1)


@dataclass(frozen=True)
class Interleaved(BitFunction):
    """A hash function of class bits, and among these the bits of a second one.

    Attributes
    ----------
    classes : HashFunction
    rows : HashFunction
        Has `n_row_bits` of all bits.
    """

    classes: HashFunction
    rows: HashFunction

    def __post_init__(self) -> None:
        if self.rows.n_bits != n_row_bits(self.n_bits):
            raise ValueError(f"{self.rows.n_bits} row bits among {self.n_bits} bits")

    @property
    def n_bits(self) -> int:
        """Bits learned, of both kinds."""
        return self.classes.n_bits + self.rows.n_bits

    @property
    def embedding(self) -> Embedding | None:
        """That of the class bits."""
        return self.classes.embedding

    def scores(self, X: NDArray[Any]) -> NDArray[Any]:
        """Real values (n, n_bits) of rows X (n, d); see `BitFunction`."""
        return self._both(self.classes.scores(X), X)

    def query_scores(self, X: NDArray[Any], n_bits: int) -> NDArray[Any]:
        """Real values (q, n_bits_learned) of queries X (q, d); see `BitFunction`."""
        return self._both(self.classes.query_scores(X, n_class_bits(n_bits)), X)

    def values(self, X: NDArray[Any]) -> NDArray[Any]:
        """Scores of both kinds of bit in one unit: of each kind, the mean size in a row is 1."""
        return self._in_one_unit(self.scores(X))

    def query_values(self, X: NDArray[Any], n_bits: int) -> NDArray[Any]:
        """`values` (q, n_bits_learned) of queries X (q, d) that search codes of n_bits bits."""
        return self._in_one_unit(self.query_scores(X, n_bits))

    def new_class_share(self, X: NDArray[Any]) -> float:
        """That of the class bits; see `BitFunction`."""
        return self.classes.new_class_share(X)

    def queries_differ(self, n_bits: int) -> bool:
        """Whether queries have codes of their own at this length."""
        return self.classes.queries_differ(n_class_bits(n_bits))

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Those of both parts, by their names; `from_arrays` is the inverse."""
        arrays: dict[str, NDArray[Any]] = {}
        plain: dict[str, Any] = {}
        for part in _PARTS:
            own, plain[part] = getattr(self, part).to_arrays()
            arrays |= {f"{part}/{name}": array for name, array in own.items()}
        return arrays, plain

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> Self:
        """The function that `to_arrays` described; see `BitFunction.from_arrays`."""
        lengths = n_class_bits(sizes["n_bits"]), n_row_bits(sizes["n_bits"])
        own = split_parts(arrays, _PARTS, "in neither part")
        functions = [
            HashFunction.from_arrays(own[part], plain[part], {**sizes, "n_bits": n_bits})
            for part, n_bits in zip(_PARTS, lengths, strict=True)
        ]
        return cls(*functions)

    def express(self, program: Program, X: str, n_query_bits: int | None = None) -> str:
        """See `BitFunction.express`."""
        n_query_bits = None if n_query_bits is None else n_class_bits(n_query_bits)
        parts, of_row = [], is_row_bit(self.n_bits)
        for function, query_bits in ((self.classes, n_query_bits), (self.rows, None)):
            values = function.express_scores(program, X, query_bits)
            size = program.step("divide", program.step("row_sum", program.step("abs", values)), function.n_bits)
            parts.append(program.step("divide", values, program.step("maximum", size, _TINY)))
        order = np.argsort(of_row, kind="stable")
        return program.step("columns", program.step("concatenate", *parts), np.argsort(order))

    def _in_one_unit(self, scores: NDArray[Any]) -> NDArray[Any]:
        of_row = is_row_bit(self.n_bits)
        for kind in (of_row, ~of_row):
            size = np.abs(scores[:, kind]).mean(axis=1, keepdims=True)
            scores[:, kind] /= np.where(size > 0, size, 1)
        return scores

    def _both(self, class_scores: NDArray[Any], X: NDArray[Any]) -> NDArray[Any]:
        row_scores, of_row = self.rows.scores(X), is_row_bit(self.n_bits)
        out = np.empty((len(X), self.n_bits), np.result_type(class_scores, row_scores))
        out[:, ~of_row], out[:, of_row] = class_scores, row_scores
        return out


def function_from_arrays(
    arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any], sizes: Mapping[str, int]
) -> BitFunction:
    """The function that its `to_arrays` described, of either class.

    Parameters
    ----------
    arrays : dict of str to array
    plain : dict
    sizes : dict of str to int
        "n_features" of the rows, and "n_bits".

    Returns
    -------
    HashFunction or Interleaved
    """
    kind = Interleaved if set(plain) == set(_PARTS) else HashFunction
    return kind.from_arrays(arrays, plain, sizes)
