"""Which reader finds most of the nearest rows, for rows that are held out of an index of the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import sample_rows
from structhash.codes import PreparedQueries
from structhash.estimators._reading import prepare, values_of
from structhash.search import Exact

N_NEAREST = 10  # neighbours of a held-out row that a reader should find
LEAST_ROWS = 5 * N_NEAREST  # to hold some out
_N_HELD = 500
_MAX_ROWS = 10_000  # that a fit looks at
_WITHOUT_FIT = ("bits", "real")  # of equal ones, the first is taken


class HeldOut(NamedTuple):
    """Rows that are held out, the others, and where among these the nearest are.

    Attributes
    ----------
    rows : ndarray (q, d)
    others : ndarray (n, d)
    nearest : int64 (q, N_NEAREST)
        By the Euclidean distance.
    """

    rows: NDArray[Any]
    others: NDArray[Any]
    nearest: NDArray[np.int64]

    def recall(self, index: Exact, queries: PreparedQueries) -> float:
        """Share of the nearest rows that the held-out rows find in an index of the codes of the others."""
        _, found = index.search(queries, N_NEAREST)
        hits = [len(np.intersect1d(*each)) for each in zip(found, self.nearest, strict=True)]
        return float(np.mean(hits)) / N_NEAREST


def hold_out(rows: NDArray[Any], rng: np.random.Generator) -> HeldOut:
    """Hold out some of at least `LEAST_ROWS` finite rows (n, d), at most a fifth of them."""
    order = rng.permutation(len(rows))
    n_held = min(_N_HELD, len(rows) // 5)
    held, others = rows[order[:n_held]], rows[order[n_held:]]
    unit = np.abs(rows).max() or 1.0  # so that no square overflows or vanishes
    mean = others.mean(axis=0, dtype=np.float64) / unit
    near, far = held / unit - mean, others / unit - mean
    apart = (far**2).sum(axis=1) - 2 * near @ far.T
    return HeldOut(held, others, np.argpartition(apart, N_NEAREST - 1, axis=1)[:, :N_NEAREST])


def choose_reader(encoder: Any, rows: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """What an encoder that is fitted to rows (n, d) stores of its readers.

    Only readers that are not fitted are tried. Nothing is stored with labels, for codes that are no bits, and
    for fewer rows than `LEAST_ROWS`.

    Returns
    -------
    dict
        Empty, or ``reader_recalls_``; see `EncoderContract`.
    """
    if not encoder.codes_are_bits or encoder.learned_from_labels() or len(rows) < LEAST_ROWS:
        return {}
    rng = np.random.default_rng(0)
    split = hold_out(rows[sample_rows(len(rows), _MAX_ROWS, rng)].astype(np.float64), rng)
    index, n_bits = Exact(encoder.n_bits_), encoder.n_bits_
    index.add(encoder._encode_opened(split.others, n_bits))
    values = values_of(encoder, split.rows, n_bits)
    possible = _WITHOUT_FIT if values is not None and np.isfinite(values).all() else _WITHOUT_FIT[:1]
    recalls = np.zeros(len(_WITHOUT_FIT))
    for i, name in enumerate(possible):
        recalls[i] = split.recall(index, prepare(encoder, split.rows, n_bits, name))
    return {"reader_recalls_": recalls}


def chosen_reader(recalls: NDArray[np.float64]) -> str:
    """The reader that found most, by the ``reader_recalls_`` of an encoder."""
    return _WITHOUT_FIT[int(recalls.argmax())]


def named_recalls(recalls: NDArray[np.float64]) -> dict[str, float]:
    """The ``reader_recalls_`` of an encoder by the names of the readers."""
    return dict(zip(_WITHOUT_FIT, recalls.tolist(), strict=True))
