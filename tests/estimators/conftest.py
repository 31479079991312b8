"""Triplets of digits for the tests of estimators."""

import numpy as np
import pytest
from sklearn.datasets import load_digits


@pytest.fixture(scope="session")
def triplets():
    """Rows (i, near, far) of the first 120 digits, one for each of 80 points."""
    Y, rng = load_digits().target[:120], np.random.default_rng(0)
    rows = []
    for i in range(80):
        near = rng.choice(np.flatnonzero((Y[i] == Y) & (np.arange(120) != i)))
        rows.append([i, near, rng.choice(np.flatnonzero(Y[i] != Y))])
    return np.array(rows)
