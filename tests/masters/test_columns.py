"""Distances and sums of the entries against plain loops over bits."""

import itertools

import numpy as np
import pytest

import structhash.masters.columns
from structhash.masters.columns import FEW_WEIGHTS, Columns
from structhash.masters.schedules.stagewise import Stagewise
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.pair_weights import pair_graph

SCHEDULES = [Stagewise(), TotallyCorrective()]
LENGTHS = [1, FEW_WEIGHTS, FEW_WEIGHTS + 1, 9, 70]  # codes grow beyond 64 bits


@pytest.fixture
def filled(make_rankings):
    """Comparisons of 30 points, their graph, bits, the unit of each query, and columns that hold the bits."""

    def make(n_bits, schedule, seed=0, n_jobs=1):
        rng = np.random.default_rng(seed)
        comparisons = make_rankings(rng, n_points=30, n_queries=25, sizes=(6, 9))
        graph, unit = pair_graph(comparisons, 30), rng.random(25)
        bits = rng.integers(0, 2, (n_bits, 30), dtype=np.uint8)
        columns = Columns(comparisons, graph, schedule, unit, n_jobs)
        for t, bit in enumerate(bits, 1):
            columns.add(bit, min(t, 2) if isinstance(schedule, Stagewise) else t)
        n_free = min(n_bits, 2) if isinstance(schedule, Stagewise) else n_bits
        return comparisons, graph, bits, unit, columns, rng.random(n_free)

    return make


def differing(graph, bits):
    """Which bits differ, of each entry: (E, n_bits)."""
    rows = np.repeat(graph.rows, np.diff(graph.indptr))
    return (bits[:, rows] != bits[:, graph.indices]).T


def owner(comparisons):
    """Query of each entry, near ones first."""
    return np.concatenate(
        [np.repeat(np.arange(25), np.diff(ptr)) for ptr in (comparisons.near_ptr, comparisons.far_ptr)]
    )


def cubes(near, far, near_ptr, far_ptr):
    """One value a query, and two of each entry that depend on its distance alone."""
    sums = np.array([near[a:b].sum() for a, b in itertools.pairwise(near_ptr)])
    return sums, near**3 + 1, far**2 + 2


@pytest.mark.parametrize("n_bits", LENGTHS)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_a_kernel_hears_the_weighted_hamming_distances(schedule, n_bits, filled):
    comparisons, graph, bits, _, columns, u = filled(n_bits, schedule)
    found = np.zeros(len(graph.indices))
    each, _ = columns.evaluate(u, cubes, found.__setitem__)
    d = differing(graph, bits) @ schedule.expand(u, n_bits)
    n = len(comparisons.near)
    np.testing.assert_allclose(found, np.concatenate([d[:n] ** 3 + 1, d[n:] ** 2 + 2]), rtol=1e-12)
    np.testing.assert_allclose(each, np.bincount(owner(comparisons)[:n], d[:n], 25), atol=1e-12)


@pytest.mark.parametrize("n_bits", LENGTHS)
@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_sums_are_those_of_plain_loops(schedule, n_bits, filled):
    comparisons, graph, bits, unit, columns, u = filled(n_bits, schedule)
    first = columns.set_groups(4)
    values = np.zeros(len(graph.indices))
    columns.count(len(u)) if len(u) <= FEW_WEIGHTS else None
    _, sums = columns.evaluate(u, cubes, values.__setitem__)
    query, n = owner(comparisons), len(comparisons.near)
    signs = np.repeat([-1.0, 1.0], [n, len(values) - n])
    free, _ = schedule.reduce(differing(graph, bits).T.astype(np.uint8), np.zeros(n_bits))
    group = np.searchsorted(first, query, side="right") - 1
    parts = signs * unit[query] * values * free
    expected = np.array([parts[:, group == g].sum(axis=1) for g in range(4)])
    np.testing.assert_allclose(sums, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_blocks_and_threads_change_nothing(schedule, filled, monkeypatch):
    found = []
    for n_jobs, block in ((1, 512), (2, 512), (1, 4), (3, 4)):
        monkeypatch.setattr(structhash.masters.columns, "QUERY_BLOCK", block)
        _, graph, _, _, columns, u = filled(9, schedule, n_jobs=n_jobs)
        kept = np.zeros(len(graph.indices))
        found.append((*columns.evaluate(u, cubes, kept.__setitem__), kept))
    for other in found[1:]:
        for one, two in zip(found[0], other):
            np.testing.assert_allclose(one, two, rtol=1e-12)
    for one, two in zip(found[0], found[1]):
        np.testing.assert_array_equal(one, two)


def test_groups_hold_all_queries_in_order(filled):
    columns = filled(2, TotallyCorrective())[4]
    for count in (1, 4, 16, 25, 99):
        first = columns.set_groups(count)
        assert len(first) == min(count, 25)
        assert first[0] == 0
        sizes = np.diff(first, append=25)
        assert sizes.sum() == 25
        assert sizes.max() - sizes.min() <= 1


def test_differing_is_the_table_of_free_columns_in_the_order_of_the_last_view(filled):
    comparisons, graph, bits, _, columns, u = filled(9, TotallyCorrective())
    free = np.array([0, 1, 1, 0, 0, 1, 0, 0, 1], bool)
    table, n = differing(graph, bits), len(comparisons.near)
    view = columns.tabled(u)
    for near, far in columns.blocks:
        for block, ptr in ((near, comparisons.near_ptr), (far, comparisons.far_ptr)):
            distances, found = view(block).distances, columns.differing(block, free)
            own = table[:n] if ptr is comparisons.near_ptr else table[n:]
            for q in range(25):
                rows = slice(ptr[q], ptr[q + 1])
                mine = own[rows]
                order = np.argsort(mine @ u, kind="stable")
                np.testing.assert_allclose(distances[rows], (mine @ u)[order], rtol=1e-12)
                np.testing.assert_array_equal(found[rows], mine[order][:, free])
