"""Plain loops over what a supervision gives."""

import numpy as np
import pytest


def each_query(rankings):
    """(query, near rows, far rows) of each query."""
    for q, i in enumerate(rankings.queries):
        near = rankings.near[rankings.near_ptr[q] : rankings.near_ptr[q + 1]]
        far = rankings.far[rankings.far_ptr[q] : rankings.far_ptr[q + 1]]
        yield i, near, far


@pytest.fixture(scope="session")
def partners():
    return each_query


def by_distance(X):
    """Row numbers of all others in the order of their L2 distance, equal ones by number: lists."""
    apart = ((X[:, None].astype(np.float64) - X[None]) ** 2).sum(axis=-1)
    order = np.argsort(apart, axis=1, kind="stable")
    return [[j for j in row.tolist() if j != i] for i, row in enumerate(order)]


@pytest.fixture(scope="session")
def nearest_first():
    return by_distance


VECTORS = {
    "normal": np.random.default_rng(0).normal(size=(90, 7)),
    "single precision": np.random.default_rng(1).normal(size=(90, 30)).astype(np.float32),
    "far from 0": np.random.default_rng(2).normal(size=(90, 7)) + 1e4,
    "many ties": np.random.default_rng(3).integers(0, 3, size=(90, 3)).astype(np.float32),
    "large": np.random.default_rng(4).normal(size=(90, 4)) * 1e30,
    "an outlier": np.vstack([np.random.default_rng(5).normal(size=(89, 2)), [[1e6, 1e6]]]),
    "all alike but two": np.vstack([np.ones((88, 2)), [[2.0, 1.0], [3.0, 1.0]]]),
}


@pytest.fixture(params=VECTORS)
def vectors(request):
    return VECTORS[request.param]
