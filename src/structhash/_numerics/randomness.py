"""Turn a `random_state` into a random number generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from structhash._numerics.validation import describe

__all__ = ["check_random_state", "generator"]


def check_random_state(random_state: Any) -> None:
    """Raise ValueError as `generator` does, without drawing from a RandomState."""
    if not isinstance(random_state, np.random.RandomState):
        generator(random_state)


def generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator for None, an integer >= 0, a RandomState or a Generator; else ValueError."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={describe(random_state)}: give None, an integer >= 0, a RandomState or a Generator"
        ) from None
