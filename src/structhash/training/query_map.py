"""A map of queries before they are coded. The codes of rows stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structhash.codes.planes import Planes, make_planes, plane_distances
from structhash.embeddings.base import Embedding
from structhash.io.fields import Field, check_fields, split_parts
from structhash.training.hash_function import BitFunction
from structhash.training.row_bits import function_from_arrays

__all__ = ["QueryMap", "QueryMapped", "restore_function"]

_MAPPED, _MAP = "mapped", "query_map"
_FIELDS = (
    Field("down", ("n_features", "n_directions")),
    Field("shift", ("n_directions",)),
    Field("up", ("n_directions", "n_features")),
)


@dataclass(frozen=True)
class QueryMap:
    """The map x' = x + ((x - center) down + shift) up of queries x, in the unit of rows.

    The center is that of the planes. With down = 0 and shift = 0 it is the identity.

    Attributes
    ----------
    down : floating (d, r)
    shift : floating (r,)
    up : floating (r, d)
    """

    down: NDArray[Any]
    shift: NDArray[Any]
    up: NDArray[Any]

    def before(self, planes: Planes) -> Planes:
        """The planes that give a query x the bits that `planes` give its image x'."""
        center, normals, thresholds = planes
        turned = normals @ self.up.T.astype(np.float64)
        return make_planes(center, normals + turned @ self.down.T, thresholds - turned @ self.shift)

    def apply(self, X: NDArray[Any], center: NDArray[Any]) -> NDArray[np.float64]:
        """Images (q, d) of queries X (q, d)."""
        images: NDArray[np.float64] = X + ((X - center) @ self.down + self.shift) @ self.up
        return images


@dataclass(frozen=True)
class QueryMapped(BitFunction):
    """A hash function whose bits are planes, and a map of queries.

    Rows have the codes of the hash function. A query has the code that its image would have as a row.

    Attributes
    ----------
    mapped : BitFunction
    query_map : QueryMap

    Raises
    ------
    ValueError
        If the bits are not planes, or the map has another width.
    """

    mapped: BitFunction
    query_map: QueryMap

    def __post_init__(self) -> None:
        self.query_planes()

    @property
    def n_bits(self) -> int:
        """Bits learned."""
        return self.mapped.n_bits

    @property
    def embedding(self) -> Embedding | None:
        """That of the hash function."""
        return self.mapped.embedding

    @property
    def row_function(self) -> BitFunction:
        """The hash function without the map."""
        return self.mapped

    def scores(self, X: NDArray[Any]) -> NDArray[Any]:
        """Real values (n, n_bits) of rows X (n, d); see `BitFunction`."""
        return self.mapped.scores(X)

    def query_scores(self, X: NDArray[Any], n_bits: int) -> NDArray[Any]:
        """Real values (q, n_bits_learned) of queries X (q, d): signed distances to `query_planes`."""
        return plane_distances(self.query_planes(), X)

    def queries_differ(self, n_bits: int) -> bool:
        """Always."""
        return True

    def planes(self) -> Planes | None:
        """Those of the hash function."""
        return self.mapped.planes()

    def query_planes(self) -> Planes:
        """The bits of queries as planes."""
        planes = self.mapped.planes()
        if planes is None:
            raise ValueError("only bits that are planes among the rows have a query map")
        width, shape = len(planes.center), self.query_map.down.shape
        if shape[0] != width or self.query_map.up.shape[1] != width:
            raise ValueError(f"a query map of {shape[0]} features does not fit planes of {width}")
        return self.query_map.before(planes)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Those of the hash function and of the map; `from_arrays` is the inverse."""
        own, plain = self.mapped.to_arrays()
        arrays = {f"{_MAPPED}/{name}": array for name, array in own.items()}
        arrays |= {f"{_MAP}/{field.name}": getattr(self.query_map, field.name) for field in _FIELDS}
        return arrays, {_MAPPED: plain}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> Self:
        """The function that `to_arrays` described; see `BitFunction.from_arrays`."""
        parts = split_parts(arrays, (_MAPPED, _MAP), "neither of the hash function nor of its query map")
        check_fields(_FIELDS, parts[_MAP], {"n_features": sizes["n_features"]})
        return cls(function_from_arrays(parts[_MAPPED], plain[_MAPPED], sizes), QueryMap(**parts[_MAP]))


def restore_function(
    arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any], sizes: Mapping[str, int]
) -> BitFunction:
    """The function that its `to_arrays` described, of any class.

    Parameters
    ----------
    arrays : dict of str to array
    plain : dict
    sizes : dict of str to int
        "n_features" of the rows, and "n_bits".

    Returns
    -------
    BitFunction
    """
    restore = QueryMapped.from_arrays if set(plain) == {_MAPPED} else function_from_arrays
    return restore(arrays, plain, sizes)
