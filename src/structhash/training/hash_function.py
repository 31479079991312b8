"""Learned functions from rows to bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.program import Program
from structhash._numerics.validation import check_positive
from structhash.codes.encoding import encode_by_bits, encode_by_planes
from structhash.codes.planes import Planes, express_planes, make_planes, plane_distances
from structhash.embeddings.base import Embedding
from structhash.families.base import Family
from structhash.io.fields import split_parts
from structhash.pieces import Params, load, spell_checked

__all__ = ["BitFunction", "HashFunction"]

_GROUPS = ("bits", "family_state", "embedding_state")  # the dicts of arrays


class BitFunction:
    """Real values of rows; a bit is 1 where its value is above 0.

    A subclass gives `n_bits`, `scores`, `query_scores`, `queries_differ` and `to_arrays`.
    """

    @property
    def n_bits(self) -> int:
        """Bits learned."""
        raise NotImplementedError

    @property
    def embedding(self) -> Embedding | None:
        """What was distilled, if anything."""
        return None

    @property
    def row_function(self) -> BitFunction:
        """A function that gives rows the same codes, and queries no map of their own."""
        return self

    def scores(self, X: NDArray[Any]) -> NDArray[Any]:
        """Real values (n, n_bits) of rows X (n, d)."""
        raise NotImplementedError

    def query_scores(self, X: NDArray[Any], n_bits: int) -> NDArray[Any]:
        """Real values (q, n_bits_learned) of queries X (q, d) that search codes of n_bits bits."""
        raise NotImplementedError

    def queries_differ(self, n_bits: int) -> bool:
        """Whether queries have codes of their own at this length."""
        raise NotImplementedError

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and plain values for a JSON header."""
        raise NotImplementedError

    def new_class_share(self, X: NDArray[Any]) -> float:
        """See `DistilHash.new_class_share`, of rows X (n, d); 0 where there are no class probabilities."""
        return 0.0

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> Self:
        """The function that `to_arrays` described.

        Parameters
        ----------
        arrays : dict of str to array
        plain : dict
        sizes : dict of str to int
            "n_features" of the rows, and "n_bits".

        Returns
        -------
        BitFunction
            Of this class.

        Raises
        ------
        ValueError, LookupError, TypeError
            If the arrays are not those that the parts declare, or a value is not allowed.
        """
        raise NotImplementedError

    def planes(self) -> Planes | None:
        """The bits as planes among the rows; None where they are not planes."""
        return None

    def values(self, X: NDArray[Any]) -> NDArray[Any]:
        """Signed distances (n, n_bits) of rows X (n, d) to the planes of the bits; `scores` without planes."""
        planes = self.planes()
        return self.scores(X) if planes is None else plane_distances(planes, X)

    def query_values(self, X: NDArray[Any], n_bits: int) -> NDArray[Any]:
        """`values` (q, n_bits_learned) of queries X (q, d) that search codes of n_bits bits."""
        return self.query_scores(X, n_bits) if self.queries_differ(n_bits) else self.values(X)

    def express(self, program: Program, X: str, n_query_bits: int | None = None) -> str:
        """`values` of a value X as steps of a program.

        Parameters
        ----------
        program : Program
        X : str
        n_query_bits : int, optional
            Give `query_values` of queries that search codes of so many bits.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If a part has no such steps.
        """
        planes = self.planes() if n_query_bits is None else self.query_planes() or self.planes()
        if planes is None:
            raise ValueError(f"{type(self).__name__} cannot be exported")
        return express_planes(program, planes, X)

    def query_planes(self) -> Planes | None:
        """The bits of queries as planes, where queries are coded by planes of their own."""
        return None

    def bits_of(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        """Bits (n, n_bits) of rows X (n, d)."""
        bits: NDArray[np.bool_] = self.scores(X) > 0
        return bits

    def query_bits_of(self, X: NDArray[Any], n_bits: int) -> NDArray[np.bool_]:
        """Bits (q, n_bits_learned) of queries X (q, d) that search codes of n_bits bits."""
        bits: NDArray[np.bool_] = self.query_scores(X, n_bits) > 0
        return bits

    def encode(
        self,
        rows: NDArray[Any],
        n_bits: int | None = None,
        queries: bool = False,
        method: str = "HashFunction",
    ) -> NDArray[np.uint8]:
        """Packed codes of rows, read a block at a time.

        Parameters
        ----------
        rows : ndarray (n, d)
        n_bits : int, optional
            Give only the first bits; all by default.
        queries : bool
            Whether the rows are queries.
        method : str
            What error messages call the method.

        Returns
        -------
        ndarray uint8 (n, ceil(n_bits / 8))
        """
        n_bits = n_bits or self.n_bits
        planes = self.query_planes() if queries else self.planes()
        if planes is not None:
            return encode_by_planes(method, planes, rows, self.n_bits, n_bits)

        def bits_of(block: NDArray[Any]) -> NDArray[np.bool_]:
            return self.query_bits_of(block, n_bits) if queries else self.bits_of(block)

        return encode_by_bits(method, bits_of, rows, self.n_bits, n_bits)


@dataclass(frozen=True)
class HashFunction(BitFunction):
    """Rows to bits: an optional embedding, then the features of a family, then one threshold a bit.

    Attributes
    ----------
    family : Family
    family_state : dict of arrays
        What `Family.prepare` gave.
    bits : dict of arrays
        Parameters of the bits, leading axis n_bits; empty before the first bit is learned.
    embedding : Embedding or None
        None where the family works on the rows themselves.
    embedding_state : dict of arrays
    row_temperature : float
        Temperature at which rows are embedded.
    query_temperatures : tuple of float
        Entry i is the temperature of queries for code lengths 2^i to 2^(i+1) - 1. Empty where queries are coded
        as rows are.
    """

    family: Family
    family_state: Params
    bits: Params = field(default_factory=dict)
    embedding: Embedding | None = None
    embedding_state: Params = field(default_factory=dict)
    row_temperature: float = 1.0
    query_temperatures: tuple[float, ...] = ()

    @property
    def n_bits(self) -> int:
        """Bits learned."""
        return len(next(iter(self.bits.values()))) if self.bits else 0

    def scores(self, X: NDArray[Any]) -> NDArray[Any]:
        """Real values (n, n_bits) of rows X (n, d); a bit is 1 where its value is above 0."""
        return self._scores(X, self.row_temperature)

    def query_scores(self, X: NDArray[Any], n_bits: int) -> NDArray[Any]:
        """Real values (q, n_bits_learned) of queries X (q, d) that search codes of n_bits bits."""
        return self._scores(X, self._query_temperature(n_bits))

    def scores_of_vectors(self, vectors: NDArray[Any], temperature: float) -> NDArray[Any]:
        """Real values (n, n_bits) of rows whose vectors (n, m) the embedding gave, at a temperature."""
        if self.embedding is not None:
            vectors = self.embedding.at_temperature(vectors, temperature, self.embedding_state)
        return self._decide(vectors)

    def new_class_share(self, X: NDArray[Any]) -> float:
        """As the embedding says; see `BitFunction`."""
        return self.embedding.new_class_share(X, self.embedding_state) if self.embedding is not None else 0.0

    def queries_differ(self, n_bits: int) -> bool:
        """Whether queries have codes of their own at this length."""
        return self._query_temperature(n_bits) != self.row_temperature

    def planes(self) -> Planes | None:
        """The bits as planes among the rows; None where they are not planes."""
        found = self.family.planes(self.family_state, self.bits)
        if found is None or self.embedding is None:
            return found
        form = self.embedding.affine(self.embedding_state)
        if form is None:
            return None
        thresholds = (found.thresholds + found.normals @ found.center) * form.scale
        return make_planes(form.center, found.normals @ form.matrix.T, thresholds)

    def express(self, program: Program, X: str, n_query_bits: int | None = None) -> str:
        """See `BitFunction.express`."""
        planes = self.planes()
        if planes is not None:
            return express_planes(program, planes, X)
        return self.express_scores(program, X, n_query_bits)

    def express_scores(self, program: Program, X: str, n_query_bits: int | None = None) -> str:
        """`scores`, or `query_scores`, as steps of a program.

        Parameters
        ----------
        program : Program
        X : str
        n_query_bits : int, optional
            As in `express`.

        Returns
        -------
        str
        """
        temperature = self.row_temperature if n_query_bits is None else self._query_temperature(n_query_bits)
        if self.embedding is not None:
            X = self.embedding.express(program, X, temperature, self.embedding_state)
        return self.family.express(program, X, self.family_state, self.bits)

    def split_bits(self) -> list[Params]:
        """The parameters of each bit by itself, leading axis 1."""
        return [{name: array[t : t + 1] for name, array in self.bits.items()} for t in range(self.n_bits)]

    def with_bits(self, bits: list[Params]) -> Self:
        """The same function with the bits given one by one."""
        return replace(self, bits={name: np.concatenate([each[name] for each in bits]) for name in bits[0]})

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays by name, and plain values for a JSON header. `from_arrays` is the inverse.

        A piece without a name comes back as it is, and JSON will refuse it.
        """
        arrays = {f"{group}/{key}": value for group in _GROUPS for key, value in getattr(self, group).items()}
        plain = {
            "family": _named("families", self.family),
            "embedding": None if self.embedding is None else _named("embeddings", self.embedding),
            "row_temperature": self.row_temperature,
            "query_temperatures": list(self.query_temperatures),
        }
        return arrays, plain

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> Self:
        """The function that `to_arrays` described; see `BitFunction.from_arrays`."""
        groups = split_parts(arrays, _GROUPS, f"none of {', '.join(_GROUPS)}")
        temperatures = [plain["row_temperature"], *plain["query_temperatures"]]
        for each in temperatures:
            check_positive("temperature", each)
        if len(temperatures) not in (1, 1 + sizes["n_bits"].bit_length()):
            raise ValueError(f"{len(temperatures) - 1} temperatures of queries for {sizes['n_bits']} bits")
        family: Family = load("families", plain["family"])
        embedding, vector = None, np.zeros((1, sizes["n_features"]), np.float32)
        width = vector.shape[1]
        if plain["embedding"] is not None:
            embedding = load("embeddings", plain["embedding"])
            with np.errstate(all="ignore"):
                vector = embedding.check_state(groups["embedding_state"], vector)
                given = embedding.at_temperature(vector, temperatures[0], groups["embedding_state"])
            width = given.shape[1]
        elif groups["embedding_state"]:
            raise ValueError("it holds the state of an embedding, but has none")
        family.check_state(groups["family_state"], groups["bits"], {**sizes, "n_features": width})
        function = cls(
            family,
            groups["family_state"],
            groups["bits"],
            embedding,
            groups["embedding_state"],
            float(temperatures[0]),
            tuple(temperatures[1:]),
        )
        with np.errstate(all="ignore"):
            function.scores_of_vectors(vector, function.row_temperature)  # fails if the parts do not fit
        return function

    def _scores(self, X: NDArray[Any], temperature: float) -> NDArray[Any]:
        if self.embedding is None:
            return self._decide(X)
        return self.scores_of_vectors(self.embedding.embed(X, self.embedding_state), temperature)

    def _decide(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.family.decide(self.family.features(X, self.family_state), self.bits)

    def _query_temperature(self, n_bits: int) -> float:
        if not self.query_temperatures:
            return self.row_temperature
        return self.query_temperatures[n_bits.bit_length() - 1]


def _named(kind: str, piece: Any) -> Any:
    """The text from which `load` makes this piece; the piece itself where it has no name."""
    try:
        return spell_checked(kind, piece)
    except ValueError:
        return piece
