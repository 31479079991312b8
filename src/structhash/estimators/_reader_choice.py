"""Which reader finds most of the nearest rows, for rows that search among the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import sample_rows
from structhash.codes import PreparedQueries
from structhash.estimators._reading import READERS, prepare, values_of
from structhash.search import Exact

N_NEAREST = 10  # neighbours of a row that a reader should find
LEAST_ROWS = 5 * N_NEAREST  # for a trial
_N_HELD = 500
_MAX_ROWS = 10_000  # that a fit looks at
_WITHOUT_FIT = READERS[1:]  # of equal ones, the first is taken


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


def has_values(encoder: Any, rows: NDArray[Any], n_bits: int) -> bool:
    """Whether the bits of queries (n, d) have real values, all finite."""
    values = values_of(encoder, rows, n_bits, queries=True)
    return values is not None and bool(np.isfinite(values).all())


def reader_recalls(encoder: Any, rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """The ``reader_recalls_`` of an encoder that is fitted to rows (n, d); see `EncoderContract`."""
    if not encoder.codes_are_bits or encoder.learned_from_labels() or len(rows) < LEAST_ROWS:
        return None
    rng, n_bits = np.random.default_rng(0), encoder.n_bits_
    sample = rows[sample_rows(len(rows), _MAX_ROWS, rng)].astype(np.float64)
    trial = hold_out(encoder, sample, n_bits, rng)
    recalls = np.zeros(len(_WITHOUT_FIT))
    for i, name in enumerate(_WITHOUT_FIT):
        if name == "bits" or has_values(encoder, trial.queries, n_bits):
            recalls[i] = trial.recall(prepare(encoder, trial.queries, n_bits, name))
    return recalls


def by_name(recalls: NDArray[np.float64]) -> dict[str, float]:
    """The ``reader_recalls_`` of an encoder by the names of the readers."""
    return dict(zip(_WITHOUT_FIT, recalls.tolist(), strict=True))
