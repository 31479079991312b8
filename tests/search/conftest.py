"""Ids of each kind."""

import numpy as np
import pytest

LETTERS = list("aé\uffff\U0001f600")  # in order of their code points, which UTF-16 does not have


def numbers(n):
    return np.random.default_rng(2).permutation(3 * n)[:n]


def text(n):
    rng = np.random.default_rng(2)
    return np.array([f"{''.join(rng.choice(LETTERS, i % 7))}{i}" for i in range(n)], dtype=object)


@pytest.fixture(params=[None, numbers, text], ids=["running", "numbers", "text"])
def ids_of(request):
    """A function that makes n ids of one kind, in no order; None for row numbers."""
    return lambda n: None if request.param is None else request.param(n)
