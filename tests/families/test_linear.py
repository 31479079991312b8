import numpy as np
import pytest
import scipy.optimize
from scipy.special import expit

import structhash.families.linear
from structhash.families.linear import Linear
from structhash.families.starts.random_planes import RandomPlanes
from structhash.families.starts.spectral import Spectral
from structhash.pair_weights import Comparisons, laplacian, pair_graph, score
from structhash.supervision import Labels


@pytest.fixture
def problem(digits, make_rankings):
    """Prepared rows of 60 digits, cut to 12 columns, and random pair weights."""

    def make(seed, dtype=np.float64):
        rng = np.random.default_rng(seed)
        X = digits[0][:60, 20:32].astype(dtype)
        Z = Linear().features(X, Linear().prepare(X, rng))
        graph = pair_graph(make_rankings(rng, 60, 60), 60)
        return Z, graph.pair_weights(rng.standard_normal(len(graph.indices)), dtype)

    return make


@pytest.fixture
def clusters():
    """Four well separated clouds of 20 points (80, 5) and their numbers."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 20)
    X = np.column_stack([10 * (y // 2), 7 * (y % 2), np.zeros((80, 3))]) + rng.standard_normal((80, 5))
    return X, y


def bits_of(X, y, n_bits=4):
    """Bits (n_bits, n) learned from labels, with other pair weights each."""
    family, rng = Linear(), np.random.default_rng(0)
    graph = pair_graph(Labels(y, 5, 10).comparisons(X, rng), len(X))
    Z = family.features(X, family.prepare(X, rng))
    signs = np.repeat([-1.0, 1.0], [len(X) * 5, len(X) * 10])
    drawn = rng.random((n_bits, len(X)))[:, graph.indices] * signs
    learned = [family.learn(Z, graph.pair_weights(entries, Z.dtype), rng, Spectral()) for entries in drawn]
    return np.array([family.decide(Z, params)[:, 0] > 0 for params in learned])


def plane_of(params):
    return np.append(params["normal"][0], params["offset"])


def relaxed(Z, pairs, plane):
    s = expit(Z @ plane[:-1] + plane[-1])
    return s @ laplacian(pairs, s)


@pytest.mark.parametrize("sharpness", [0.05, 2.0])  # at 0.05 the relaxation often misleads
@pytest.mark.parametrize("start", [Spectral(), RandomPlanes(count=3)], ids=repr)
def test_a_refined_bit_never_scores_below_its_start(start, sharpness, problem):
    higher = 0
    for seed in range(30):
        Z, pairs = problem(seed)
        rough, fine = (
            Linear(max_iter=steps, sharpness=sharpness).learn(Z, pairs, np.random.default_rng(seed), start)
            for steps in (0, 50)
        )
        before, after = (score(pairs, Linear().decide(Z, each)[:, 0] > 0) for each in (rough, fine))
        assert after >= before
        higher += after > before
    assert higher > 15


def test_without_steps_the_best_plane_of_the_start_is_kept(problem):
    for seed in range(10):
        Z, pairs = problem(seed)
        start = RandomPlanes(count=8)
        planes = start(Z, pairs, np.random.default_rng(seed))
        best = max(score(pairs, h) for h in (Z @ planes["normal"] + planes["offset"] > 0).T)
        params = Linear(max_iter=0).learn(Z, pairs, np.random.default_rng(seed), start)
        assert score(pairs, Linear().decide(Z, params)[:, 0] > 0) == best


def test_refining_climbs_the_relaxation(problem):
    for seed in range(20):
        Z, pairs = problem(seed)
        first = np.random.default_rng(seed).standard_normal(13)
        ends = [relaxed(Z, pairs, Linear(max_iter=steps)._refine(Z, pairs, first)) for steps in (0, 1, 50)]
        assert ends[0] == pytest.approx(relaxed(Z, pairs, first))
        assert ends[0] < ends[1] < ends[2]


def test_gradient_of_the_relaxation(problem, monkeypatch):
    climbed = []

    def spy(risk, first, **options):
        climbed.append((risk, first))
        return scipy.optimize.minimize(risk, first, **options)

    monkeypatch.setattr(structhash.families.linear, "minimize", spy)
    for seed in range(5):
        Z, pairs = problem(seed)
        Linear().learn(Z, pairs, np.random.default_rng(0), Spectral())
        risk, first = climbed[-1]
        size = 2 * np.abs(pairs.values).sum()
        for theta in (first, np.random.default_rng(seed).standard_normal(13)):
            assert risk(theta)[0] == pytest.approx(-relaxed(Z, pairs, theta) / size)
            numeric = [(risk(theta + e)[0] - risk(theta - e)[0]) / 2e-6 for e in 1e-6 * np.eye(13)]
            np.testing.assert_allclose(risk(theta)[1], numeric, atol=1e-8)


def test_sharpness_is_the_spread_where_the_climb_begins(problem):
    Z, pairs = problem(0)
    for sharpness in (0.5, 3.0):
        family = Linear(max_iter=0, sharpness=sharpness)
        assert family.decide(
            Z, family.learn(Z, pairs, np.random.default_rng(0), Spectral())
        ).std() == pytest.approx(sharpness)


def test_prepared_rows_are_centred_with_unit_mean_square_norm(rng):
    X = 5 + 3 * rng.standard_normal((50, 4))
    Z = Linear().features(X, Linear().prepare(X, rng))
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-14)
    assert (Z**2).sum(axis=1).mean() == pytest.approx(1)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(Z * centred[0, 0] / Z[0, 0], centred)  # one number divides all


@pytest.mark.parametrize(("shift", "scale"), [(1e3, 1.0), (-7.5, 1.0), (0.0, 1e-6), (0.0, 1e6), (40.0, 0.01)])
def test_bits_do_not_depend_on_shift_and_scale(shift, scale, clusters):
    X, y = clusters
    bits = bits_of(X, y)
    assert 0 < bits.mean() < 1
    np.testing.assert_array_equal(bits_of(scale * X + shift, y), bits)


def test_a_constant_column_changes_no_bit(clusters):
    X, y = clusters
    np.testing.assert_array_equal(bits_of(np.column_stack([X, np.full(80, 3.7)]), y), bits_of(X, y))


def test_float32_rows_give_float32_parameters_and_like_bits(clusters):
    X, y = clusters
    np.testing.assert_array_equal(bits_of(X.astype(np.float32), y), bits_of(X, y))
    family, rng = Linear(), np.random.default_rng(0)
    state = family.prepare(X.astype(np.float32), rng)
    assert state["mean"].dtype == state["scale"].dtype == np.float32
    Z = family.features(X.astype(np.float32), state)
    graph = pair_graph(Labels(y, 5, 10).comparisons(X, rng), len(X))
    params = family.learn(
        Z, graph.pair_weights(rng.standard_normal(len(graph.indices)), Z.dtype), rng, Spectral()
    )
    assert Z.dtype == params["normal"].dtype == params["offset"].dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.3])
def test_rows_that_are_all_the_same_are_refused(value, dtype):
    with pytest.raises(ValueError, match="all 7 training rows are the same; give rows that differ"):
        Linear().prepare(np.full((7, 3), value, dtype), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_iter": -1}, "max_iter=-1: give an integer of at least 0"),
        ({"sharpness": 0}, "sharpness=0: give a finite number above 0"),
        ({"sharpness": np.inf}, "sharpness=inf: give a finite number above 0"),
        ({"sharpness": np.nan}, "sharpness=nan: give a finite number above 0"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        Linear(**settings)


def test_a_plane_through_rows_moves_to_the_better_side():
    Z = np.array([[-2.0], [0.0], [1.0], [5.0]])
    one = np.array([0, 1])
    for near, far, offset in ((0, 2, -0.5), (2, 0, 1.0)):  # row 1 joins its near one; the gap is halved
        graph = pair_graph(Comparisons(np.array([1]), np.array([near]), one, np.array([far]), one), 4)
        pairs = graph.pair_weights(np.array([-1.0, 1.0]))
        assert structhash.families.linear._between_rows(Z, pairs, np.array([1.0, 0.0])) == [offset]
    for plane in ([1.0, 0.25], [0.0, 0.0]):  # no row on it; all rows on it
        found = structhash.families.linear._between_rows(Z, pairs, np.array(plane))
        assert found.tolist() == plane[1:]
