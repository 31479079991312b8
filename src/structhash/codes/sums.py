"""Codes of rows as sums of vectors, one of 256 a byte."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import row_slices, rows_within
from structhash.codes._beam_kernels import search_beams

__all__ = ["FirstByteCoder", "SumCoder", "sums_of"]

_FARTHEST = 1e30  # its products with vectors stay within float32
_COSTS_AT_ONCE = 1 << 22  # float32 numbers; they take 16 MB
_LEAST_ROWS_A_THREAD = 64  # fewer take less time than a thread


class SumCoder:
    """Finds codes whose sums of vectors are near to rows.

    It keeps the products of all pairs of vectors of different bytes: 131 kB n_bytes (n_bytes - 1).

    Parameters
    ----------
    tables : float32 array (n_bytes, 256, d)
        The vectors of each byte.
    sizes : int array (n_bytes,)
        Number of vectors of each byte; those that follow are not used.
    beam : int
        Codes of the first m bytes that are kept for the next byte.

    Examples
    --------
    >>> tables = np.zeros((2, 256, 1), np.float32)
    >>> tables[0, :2, 0], tables[1, :2, 0] = [0, 10], [1, -3]
    >>> SumCoder(tables, np.array([2, 2]), beam=2).code(np.array([[7.5], [0.8]]))
    array([[1, 1],
           [0, 0]], dtype=uint8)
    """

    def __init__(self, tables: NDArray[np.float32], sizes: NDArray[np.int64], beam: int) -> None:
        self.tables, self.sizes, self.beam = tables, np.asarray(sizes, np.int64), beam
        n_bytes = len(tables)
        self._squares = (tables.astype(np.float64) ** 2).sum(axis=2)
        self._products = np.empty((n_bytes * (n_bytes - 1) // 2, 256, 256), np.float32)
        for m in range(n_bytes):
            for j in range(m):
                self._products[m * (m - 1) // 2 + j] = 2 * tables[j] @ tables[m].T

    def code(self, Y: NDArray[Any], n_threads: int = 1) -> NDArray[np.uint8]:
        """Codes (n, n_bytes) of rows Y (n, d), in the unit of the tables.

        A beam search for the code b with the least ||y - sum_m tables[m, b_m]||^2. Costs are float64 products
        rounded to float32, so that the rows a row comes with do not matter. Threads share the rows of a
        product: codes do not depend on their number.
        """
        n_bytes, _, d = self.tables.shape
        flat = self.tables.reshape(-1, d).astype(np.float64)
        codes = np.empty((len(Y), n_bytes), np.uint8)
        for rows in row_slices(len(Y), rows_within(len(flat), _COSTS_AT_ONCE)):
            near = np.clip(Y[rows].astype(np.float64), -_FARTHEST, _FARTHEST)
            costs = (near @ flat.T).reshape(-1, n_bytes, 256)
            costs *= -2
            costs += self._squares
            self._search(costs.astype(np.float32), codes[rows], n_threads)
        return codes

    def _search(self, costs: NDArray[np.float32], codes: NDArray[np.uint8], n_threads: int) -> None:
        """Write the codes (n, n_bytes) of rows with these costs (n, n_bytes, 256)."""

        def search(part: slice) -> None:
            search_beams(costs[part], self._products, self.sizes, self.beam, codes[part])

        parts = list(row_slices(len(codes), max(_LEAST_ROWS_A_THREAD, -(-len(codes) // n_threads))))
        if len(parts) == 1:
            search(parts[0])
        else:
            with ThreadPoolExecutor(len(parts)) as pool:
                list(pool.map(search, parts))


class FirstByteCoder:
    """Finds codes whose first byte alone says the first numbers of a row.

    That byte is the number of the vector that is nearest in these numbers. The other bytes are those of a
    `SumCoder` for what it leaves over of the other numbers.

    Parameters
    ----------
    tables : float32 array (n_bytes, 256, d)
        The vectors of each byte; the first n_first numbers of all but the first byte are 0.
    sizes, beam
        As `SumCoder` takes them.
    n_first : int
    """

    def __init__(self, tables: NDArray[np.float32], sizes: NDArray[np.int64], beam: int, n_first: int) -> None:
        self.tables, self.beam, self._n_first = tables, beam, n_first
        first, others = (
            np.ascontiguousarray(each) for each in (tables[:1, :, :n_first], tables[1:, :, n_first:])
        )
        self._first, self._others = SumCoder(first, sizes[:1], beam), SumCoder(others, sizes[1:], beam)

    def code(self, Y: NDArray[Any], n_threads: int = 1) -> NDArray[np.uint8]:
        """Codes (n, n_bytes) of rows Y (n, d), as `SumCoder.code` gives them."""
        first = self._first.code(Y[:, : self._n_first], n_threads)
        if len(self.tables) == 1:
            return first
        left = Y[:, self._n_first :] - self.tables[0, first[:, 0], self._n_first :]
        return np.hstack([first, self._others.code(left, n_threads)])


def sums_of(codes: NDArray[np.uint8], tables: NDArray[np.float32]) -> NDArray[np.float32]:
    """The sums of vectors (n, d) that codes (n, n_bytes) give."""
    total = np.zeros((len(codes), tables.shape[2]), np.float32)
    for m, table in enumerate(tables):
        total += table[codes[:, m]]
    return total
