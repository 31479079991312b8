"""What any learned function from rows to bits offers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash.codes.encoding import encode_by_bits, encode_by_planes
from structhash.codes.planes import Planes

__all__ = ["BitFunction"]


class BitFunction:
    """Real values of rows; a bit is 1 where its value is above 0.

    A subclass gives `n_bits`, `scores`, `query_scores`, `queries_differ` and `to_arrays`.
    """

    @property
    def n_bits(self) -> int:
        """Bits learned."""
        raise NotImplementedError

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

    def planes(self) -> Planes | None:
        """The bits as planes among the rows; None where they are not planes."""
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
        n_bits, planes = n_bits or self.n_bits, None if queries else self.planes()
        if planes is not None:
            return encode_by_planes(method, planes, rows, self.n_bits, n_bits)

        def bits_of(block: NDArray[Any]) -> NDArray[np.bool_]:
            return self.query_bits_of(block, n_bits) if queries else self.bits_of(block)

        return encode_by_bits(method, bits_of, rows, self.n_bits, n_bits)
