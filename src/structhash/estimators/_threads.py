"""Number of threads for the setting `n_jobs`."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from joblib import effective_n_jobs

from structhash._numerics.validation import describe


def n_threads(n_jobs: Any) -> int:
    """Number of threads."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(
            f"n_jobs={describe(n_jobs)}: give None for one thread, a number of threads, or -1 for all cores"
        )
    return int(effective_n_jobs(n_jobs))
