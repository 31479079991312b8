import numpy as np
import pytest

from structhash.pair_weights import Comparisons, laplacian, pair_graph, score


@pytest.fixture
def problem(rng, make_rankings):
    """Comparisons in which points meet again and again, their graph, and entry weights of both signs."""
    comparisons = make_rankings(rng, n_points=8, n_queries=12)
    graph = pair_graph(comparisons, 8)
    return comparisons, graph, rng.standard_normal(len(graph.indices))


def entry_points(comparisons):
    """(query row, partner row) of every entry, near ones first, by plain loops."""
    rows = []
    for partners, ptr in ((comparisons.near, comparisons.near_ptr), (comparisons.far, comparisons.far_ptr)):
        for q, i in enumerate(comparisons.queries):
            rows += [(i, j) for j in partners[ptr[q] : ptr[q + 1]]]
    return rows


def dense_laplacian(comparisons, entries, n):
    W = np.zeros((n, n))
    for (i, j), value in zip(entry_points(comparisons), entries):
        W[i, j] += value
        W[j, i] += value
    return np.diag(W.sum(axis=1)) - W


def test_score_is_the_sum_over_triplets(rng, make_rankings, triplets_of):
    for _ in range(20):
        comparisons = make_rankings(rng, n_points=9, n_queries=7)
        triplets = triplets_of(comparisons)
        mu = rng.standard_normal(len(triplets))
        pull, push = {}, {}
        for (q, _, j, k), value in zip(triplets, mu):
            pull[q, j] = pull.get((q, j), 0) - value
            push[q, k] = push.get((q, k), 0) + value
        entries = np.array([*pull.values(), *push.values()])
        pairs = pair_graph(comparisons, 9).pair_weights(entries)
        for h in rng.integers(0, 2, (10, 9)):
            _, i, j, k = triplets.T
            assert score(pairs, h) == pytest.approx(mu @ (abs(h[i] - h[k]) - abs(h[i] - h[j])), abs=1e-12)


def test_weights_and_laplacian_equal_dense_ones(rng, problem):
    comparisons, graph, entries = problem
    L = dense_laplacian(comparisons, entries, 8)
    pairs = graph.pair_weights(entries)
    np.testing.assert_allclose(np.diag(pairs.degree) - pairs.weights.toarray(), L, atol=1e-14)
    S = rng.standard_normal((8, 3))
    np.testing.assert_allclose(laplacian(pairs, S), L @ S, atol=1e-13)
    np.testing.assert_allclose(laplacian(pairs, S[:, 0]), L @ S[:, 0], atol=1e-13)
    for h in rng.integers(0, 2, (10, 8)):
        assert score(pairs, h) == pytest.approx(h @ L @ h, abs=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_many_columns_have_the_bits_of_each_alone(rng, problem, dtype, order):
    _, graph, entries = problem
    pairs, S = graph.pair_weights(entries, dtype), rng.standard_normal((8, 11)).astype(dtype, order)
    found = laplacian(pairs, S)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.column_stack([laplacian(pairs, column) for column in S.T]))


def test_weights_are_symmetric_without_a_diagonal(problem):
    W = problem[1].pair_weights(problem[2]).weights.toarray()
    np.testing.assert_array_equal(W, W.T)
    assert not W.diagonal().any()


def test_entries_of_one_pair_add_up_in_both_directions_and_signs():
    two = np.array([0, 1, 2])
    # 0 is near to 1, 1 is far from 0: one unordered pair
    comparisons = Comparisons(np.array([0, 1]), np.array([1, 2]), two, np.array([2, 0]), two)
    W = pair_graph(comparisons, 3).pair_weights(np.array([1.0, 10.0, 100.0, 1000.0])).weights.toarray()
    np.testing.assert_array_equal(W, [[0, 1001, 100], [1001, 0, 10], [100, 10, 0]])


def test_two_points_score_the_weight_of_their_pair():
    one = np.array([0, 1])
    pairs = pair_graph(Comparisons(np.array([0]), np.array([1]), one, np.array([2]), one), 4).pair_weights(
        np.array([-3.0, 5.0])
    )
    scores = [score(pairs, np.array(h)) for h in ([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1])]
    assert scores == [2.0, -3.0, 5.0, 0.0]


def test_gradient_of_the_quadratic_form_is_twice_the_laplacian(rng, problem):
    pairs = problem[1].pair_weights(problem[2])
    s, step = rng.random(8), 1e-6
    form = [
        [(s + sign * step * e) @ laplacian(pairs, s + sign * step * e) for sign in (1, -1)] for e in np.eye(8)
    ]
    numeric = np.array([(up - down) / (2 * step) for up, down in form])
    np.testing.assert_allclose(2 * laplacian(pairs, s), numeric, rtol=1e-6, atol=1e-8)


def test_a_bit_and_its_complement_score_alike_and_a_constant_nothing(rng, problem):
    pairs = problem[1].pair_weights(problem[2])
    h = rng.integers(0, 2, 8)
    assert score(pairs, h) == pytest.approx(score(pairs, 1 - h), abs=1e-13)
    assert score(pairs, np.ones(8)) == pytest.approx(0, abs=1e-13)


def test_differ_marks_entries_on_two_sides_of_a_bit(rng, problem):
    comparisons, graph, _ = problem
    h = rng.integers(0, 2, 8, dtype=np.uint8)
    differ = graph.differ(h)
    assert differ.dtype == np.uint8
    np.testing.assert_array_equal(differ, [h[i] != h[j] for i, j in entry_points(comparisons)])


def test_weigh_keeps_nothing_of_an_earlier_call(problem):
    _, graph, entries = problem
    first = graph.pair_weights(entries).weights.toarray()
    assert not graph.pair_weights(np.zeros(len(entries))).weights.toarray().any()
    np.testing.assert_array_equal(graph.pair_weights(entries).weights.toarray(), first)


def test_weights_come_in_the_dtype_asked_for(problem):
    pairs = problem[1].pair_weights(problem[2], np.float32)
    assert pairs.weights.dtype == pairs.degree.dtype == np.float32
    h = np.arange(8) % 2
    assert score(pairs, h) == pytest.approx(score(problem[1].pair_weights(problem[2]), h), rel=1e-5)


def test_points_that_meet_nobody_are_kept():
    one = np.array([0, 1])
    graph = pair_graph(Comparisons(np.array([0]), np.array([1]), one, np.array([2]), one), 5)
    assert graph.n_points == 5
    np.testing.assert_array_equal(graph.pair_weights(np.array([-1.0, 1.0])).degree, [0, -1, 1, 0, 0])


@pytest.mark.parametrize("n_points", [2**16, 2**16 + 1])
def test_partners_of_many_points(n_points, make_rankings, rng):
    few = make_rankings(rng, n_points=8, n_queries=12)
    shift = n_points - 8  # the last eight points
    many = few._replace(queries=few.queries + shift, near=few.near + shift, far=few.far + shift)
    graphs = pair_graph(few, 8), pair_graph(many, n_points)
    assert graphs[1].indices.dtype == (np.uint16 if shift + 8 <= 2**16 else np.int32)
    entries, bit = rng.standard_normal(len(graphs[0].indices)), rng.integers(0, 2, 8).astype(np.uint8)
    small, large = (graph.pair_weights(entries) for graph in graphs)
    long = np.concatenate([np.zeros(shift, np.uint8), bit])
    assert score(large, long) == pytest.approx(score(small, bit))
    np.testing.assert_allclose(
        laplacian(large, long.astype(float))[shift:], laplacian(small, bit.astype(float))
    )
    np.testing.assert_array_equal(graphs[1].differ(long), graphs[0].differ(bit))
    np.testing.assert_allclose(large.weights.sum(), small.weights.sum())


def test_queries_without_weights_weigh_one_each(problem):
    comparisons = problem[0]
    assert comparisons.query_weights.tolist() == [1.0] * 12
    weights = np.arange(12.0)
    np.testing.assert_array_equal(comparisons._replace(weights=weights).query_weights, weights)
