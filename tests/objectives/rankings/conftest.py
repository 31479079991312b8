"""Every ranking of the package at several settings, and exhaustive and plain references for it."""

import dataclasses
import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from structhash.pieces import load, names

SETTINGS = {"k": (1, 2, 3, 100), "normalizer": ("ideal", "paper")}


def default_rankings():
    """Every ranking at its default settings."""
    return [load("rankings", name) for name in names("rankings")]


def all_rankings():
    """The defaults and every combination of the settings we know values for."""
    for ranking in default_rankings():
        known = [field.name for field in dataclasses.fields(ranking) if field.name in SETTINGS]
        variants = [
            dataclasses.replace(ranking, **dict(zip(known, values)))
            for values in itertools.product(*(SETTINGS[name] for name in known))
        ]
        yield from dict.fromkeys([ranking, *variants])


@pytest.fixture(params=default_rankings(), ids=repr)
def default_ranking(request):
    return request.param


@pytest.fixture(params=list(all_rankings()), ids=repr)
def ranking(request):
    return request.param


def oracle(ranking, near, far):
    """One query."""
    loss, above, below = ranking.most_violated(near, far, [0, len(near)], [0, len(far)])
    return loss[0], above, below


def margin(near, far, above, below):
    """w'dPsi of the contract."""
    return 2 / (len(near) * len(far)) * (np.dot(below, far) - np.dot(above, near))


def rebuild(above, n_far):
    """The ranked list, True = relevant, that has these counts."""
    places = np.arange(len(above)) + np.sort(above)
    flags = np.zeros(len(above) + n_far, bool)
    flags[places] = True
    return flags


def counts(order, n_near):
    """above and below of a ranking of the points 0..P-1 (relevant) and P.. (irrelevant)."""
    order = np.asarray(order)
    relevant = order < n_near
    above = np.empty(n_near, int)
    below = np.empty(len(order) - n_near, int)
    above[order[relevant]] = np.cumsum(~relevant)[relevant]
    below[order[~relevant] - n_near] = np.cumsum(relevant[::-1])[::-1][~relevant]
    return above, below


@functools.cache
def every_ranking(n_near, n_far, permute):
    """Relevance and counts of all rankings, or of those that keep the input's order inside each class."""
    n = n_near + n_far
    if permute:
        orders = np.array(list(itertools.permutations(range(n))))
    else:
        orders = []
        for places in itertools.combinations(range(n), n_near):
            relevant = np.isin(np.arange(n), places)
            orders.append(np.where(relevant, np.cumsum(relevant) - 1, n_near + np.cumsum(~relevant) - 1))
        orders = np.array(orders)
    above, below = (np.array(part) for part in zip(*(counts(order, n_near) for order in orders)))
    return orders < n_near, above, below


def enumerate_values(ranking, near, far):
    """loss - w'dPsi, loss and inverted pairs of all rankings (P or N = 4: classes sorted by distance)."""
    permute = len(near) <= 3 and len(far) <= 3
    if not permute:
        near, far = np.sort(near), np.sort(far)
    flags, above, below = every_ranking(len(near), len(far), permute)
    lists, inverse = np.unique(flags, axis=0, return_inverse=True)
    loss = np.array([1 - ranking.score(one) for one in lists])[inverse.ravel()]
    return loss - 2 / (len(near) * len(far)) * (below @ far - above @ near), loss, above.sum(axis=1)


def programme(near, far, cost):
    """The plain O(P N) programme: largest sum_i cost[i, g_i] - w'dPsi over chains g, its smallest solution.

    `cost` (P, N + 1) is the loss of the i-th nearest relevant point behind g irrelevant ones.
    """
    near, far = np.sort(near), np.sort(far)
    slope = 2 / (len(near) * len(far))
    steps = np.concatenate([[0.0], np.cumsum(far - near[0])])
    best, choices = np.zeros(len(far) + 1), []
    for i, distance in enumerate(near):
        values = cost[i] - slope * (steps - np.arange(len(far) + 1) * (distance - near[0])) + best
        best = np.maximum.accumulate(values)
        choices.append(best)
    chain, g = [], len(far)
    for best in choices[::-1]:
        g = int(np.argmax(best[: g + 1] >= best[g] - 1e-12 * max(1.0, np.ptp(np.concatenate([near, far])))))
        chain.append(g)
    return choices[-1][-1], np.array(chain[::-1])


@pytest.fixture(scope="session")
def reference():
    return SimpleNamespace(
        oracle=oracle, margin=margin, rebuild=rebuild, enumerate_values=enumerate_values, programme=programme
    )


def draw(rng, kind, n_near, n_far):
    """Distances as training meets them."""
    if kind == "integers":
        return rng.integers(0, 4, n_near).astype(float), rng.integers(0, 4, n_far).astype(float)
    if kind == "halves":
        return rng.integers(0, 5, n_near) / 2, rng.integers(0, 5, n_far) / 2
    if kind == "equal":
        return np.full(n_near, 7.25), np.full(n_far, 7.25)
    if kind == "large":
        return 1e6 * rng.random(n_near), 1e6 * rng.random(n_far)
    return rng.random(n_near) * 2, rng.random(n_far) * 2 + rng.random()


@pytest.fixture(scope="session")
def distances():
    return draw


def draw_many(rng, n_near, n_far, n):
    """Draws of every kind, as they are, as few values that are no sums of powers of 2, and at close margins."""
    for turn in range(n):
        near, far = draw(rng, ("integers", "halves", "equal", "large", "random")[turn % 5], n_near, n_far)
        if turn % 3 == 1:
            near, far = 0.1 * near, 0.1 * far
        elif turn % 3 == 2:
            far = far + rng.random() * n_far / 20
        yield near, far


@pytest.fixture(scope="session")
def many_distances():
    return draw_many


def check(ranking, cost, near, far):
    """The value, the loss and the chain of one query are those of the programme."""
    value, chain = programme(near, far, cost)
    loss, above, below = oracle(ranking, near, far)
    scale = max(1.0, near.max(), far.max())
    assert loss - margin(near, far, above, below) == pytest.approx(value, abs=1e-10 * scale)
    assert loss == pytest.approx(cost[np.arange(len(near)), chain].sum(), abs=1e-12)
    np.testing.assert_array_equal(np.sort(above), chain)


@pytest.fixture(scope="session")
def check_programme():
    return check
