"""Which reader finds most of the nearest rows, for rows that search among the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import rows_within, sample_rows
from structhash.codes import PreparedQueries, prepare_values, unpack
from structhash.estimators._reading import values_of
from structhash.search import Exact

N_NEAREST = 10  # neighbours of a row that a reader should find
LEAST_ROWS = 5 * N_NEAREST  # for a trial
_N_HELD = 500
_LEAST_ROWS_OF_FIT, _MAX_ROWS = 500, 10_000  # that a fit looks at; with fewer, chance would decide
_MAX_NUMBERS = 1 << 24  # of these rows, unless they are very wide; each of a few copies takes 128 MB


class Trial(NamedTuple):
    """Some rows as queries, an index of the codes of the others, and where among these the nearest are.

    Attributes
    ----------
    queries : ndarray (q, d)
    others : ndarray (n, d)
    codes : uint8 (n, n_bytes)
        Of the others.
    searched : Exact
        The index of these codes.
    nearest : int64 (q, N_NEAREST)
        By the Euclidean distance.
    """

    queries: NDArray[Any]
    others: NDArray[Any]
    codes: NDArray[np.uint8]
    searched: Exact
    nearest: NDArray[np.int64]

    def recall(self, prepared: PreparedQueries) -> float:
        """Share of the nearest rows that the queries find."""
        _, found = self.searched.search(prepared, N_NEAREST)
        hits = [len(np.intersect1d(*each)) for each in zip(found, self.nearest, strict=True)]
        return float(np.mean(hits)) / N_NEAREST


def hold_out(encoder: Any, rows: NDArray[Any], n_bits: int, rng: np.random.Generator) -> Trial:
    """Hold out a fifth of finite rows (n, d), at most 500, of an index of the others.

    There must be at least `LEAST_ROWS`.
    """
    order = rng.permutation(len(rows))
    n_held = min(_N_HELD, len(rows) // 5)
    queries, others = rows[order[:n_held]], rows[order[n_held:]]
    unit = np.abs(rows).max() or 1.0  # so that no square overflows or vanishes
    mean = others.mean(axis=0, dtype=np.float64) / unit
    asked, searched = queries / unit - mean, others / unit - mean
    apart = (searched**2).sum(axis=1) - 2 * asked @ searched.T
    nearest = np.argpartition(apart, N_NEAREST - 1, axis=1)[:, :N_NEAREST]
    index, codes = Exact(n_bits), encoder._encode_opened(others, n_bits)
    index.add(codes)
    return Trial(queries, others, codes, index, nearest)


def finite_values(encoder: Any, rows: NDArray[Any], n_bits: int) -> NDArray[np.float64] | None:
    """Real values (n, n_bits) of the bits of rows; None where the bits have none, or not all are finite."""
    values = values_of(encoder, rows, n_bits)
    return values if values is not None and np.isfinite(values).all() else None


def reader_recalls(encoder: Any, rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """The ``reader_recalls_`` of an encoder that is fitted to rows (n, d); see `EncoderContract`.

    The queries are rows like the others: a map that a model has for queries is not for them.
    """
    if not encoder.codes_are_bits or encoder.learned_from_labels() or len(rows) < _LEAST_ROWS_OF_FIT:
        return None
    rng, n_bits = np.random.default_rng(0), encoder.n_bits_
    most = max(_LEAST_ROWS_OF_FIT, min(_MAX_ROWS, rows_within(rows.shape[1], _MAX_NUMBERS)))
    trial = hold_out(encoder, rows[sample_rows(len(rows), most, rng)].astype(np.float64), n_bits, rng)
    weights = None if encoder.search_weights_ is None else encoder.weights_at(n_bits)
    bits = unpack(encoder._encode_opened(trial.queries, n_bits), n_bits)
    read = [2.0 * bits - 1, finite_values(encoder, trial.queries, n_bits)]
    return np.array([0.0 if z is None else trial.recall(prepare_values(z, weights)) for z in read])
