"""Column generation that ends at its optimum, judged by the problem over every bit there is."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from structhash import CGHash, StructHash, load_model
from structhash.families.linear import Linear
from structhash.families.starts.spectral import Spectral
from structhash.masters.hinge import HingeMaster
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.masters.triplet import TripletMaster
from structhash.objectives.regularizers.l1 import L1
from structhash.objectives.regularizers.linf import LInf
from structhash.objectives.regularizers.similar import Similar
from structhash.pair_weights import pair_graph, score
from structhash.pieces import load, names
from structhash.supervision import Labels
from structhash.training.column_generation import column_generation

C = 40.0
REGULARIZERS = [L1(), LInf(0.3), LInf(50.0), Similar([[0, 1], [5, 7], [2, 9], [11, 4]], weight=3.0)]


@pytest.fixture
def small(digits):
    """24 digits of 4 pixels, their classes, and every cut of a pixel as a bit (m, 24)."""
    X, y = digits[0][:24, [20, 28, 36, 43]], digits[1][:24] % 3
    cuts = [X[:, d] > at for d in range(4) for at in np.unique(X[:, d])[:-1]]
    return X, y, np.unique(np.array(cuts, np.uint8), axis=0)


def optimum(loss, dh, costs, upper):
    """min costs'w + C mean f(dh w) over all weights, by scipy."""
    T, n = dh.shape
    bounds = [(0, None if upper == np.inf else upper)] * n
    if not loss.smooth:
        rows = -np.hstack([dh, np.eye(T)])
        found = linprog(np.append(costs, np.full(T, C / T)), rows, -np.ones(T), bounds=bounds + [(0, None)] * T)
        return found.fun
    return minimize(
        lambda w: (costs @ w + C * loss.value(dh @ w).mean(), costs + C / T * loss.slope(dh @ w) @ dh),
        np.full(n, 0.1), jac=True, bounds=bounds, method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 20000, "maxfun": 10**6},
    ).fun  # fmt: skip


@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=["l1", "linf", "wide", "similar"])
@pytest.mark.parametrize("name", names("losses"))
def test_stumps_end_at_the_optimum_over_all_cuts(name, regularizer, small, triplets_of):
    X, y, bits = small
    rng, loss, stump = np.random.default_rng(0), load("losses", name), load("families", "stump")
    comparisons = Labels(y, 4, 6).comparisons(X, rng)
    graph = pair_graph(comparisons, len(X))
    kind = TripletMaster if loss.smooth else HingeMaster
    master = kind(comparisons, graph, loss, regularizer, TotallyCorrective(), C)
    last = []

    class Diary:
        def __getattr__(self, name):
            return getattr(master, name)

        def add(self, bit):
            last.append(master.add(bit))
            return last[-1]

    Z = stump.features(X, stump.prepare(X, rng))
    steps = list(column_generation(Z, graph, Diary(), stump, Spectral(), len(bits) + 9, rng, enough=1e-6))
    assert 2 <= len(steps) < (np.inf if regularizer == LInf(0.3) else len(bits))
    _, i, j, k = triplets_of(comparisons).T
    H = bits.astype(float)
    dh = (abs(H[:, i] - H[:, k]) - abs(H[:, i] - H[:, j])).T
    costs = np.array([regularizer.cost(bit) for bit in bits])
    assert steps[-1].objective == pytest.approx(optimum(loss, dh, costs, regularizer.upper), rel=1e-5)
    pairs = graph.pair_weights(last[-1].entries)
    rest = np.array([score(pairs, bit) for bit in bits]) - costs
    taken = {bit.tobytes() for step in steps for bit in (step.bit, 1 - step.bit)}
    new = [value for value, bit in zip(rest, bits) if bit.tobytes() not in taken]
    assert max(new) <= 1e-5


@pytest.mark.parametrize("name", names("regularizers"))
def test_a_family_is_asked_for_the_score_less_the_cost(name, make_rankings):
    rng = np.random.default_rng(0)
    graph = pair_graph(make_rankings(rng), 12)
    pairs = graph.pair_weights(rng.standard_normal(len(graph.indices)))
    pieces = [load("regularizers", name)]
    if name == "similar":  # pairs that are compared and that are not, a pair given twice, a row with itself
        pieces.append(Similar([[0, 1], [1, 0], [3, 3], [graph.rows[0], graph.indices[0]]], weight=2.5))
    for regularizer in pieces:
        charged = regularizer.charge_costs(pairs)
        least = regularizer.cost(np.zeros(12, np.uint8))
        for bit in rng.integers(0, 2, (9, 12), dtype=np.uint8):
            expected = score(pairs, bit) - (regularizer.cost(bit) - least)
            assert score(charged, bit) == pytest.approx(expected)


@pytest.mark.parametrize("cls", [CGHash, StructHash])
def test_an_estimator_ends_early_only_when_told_to(cls, digits, tmp_path, caplog):
    X, y = digits[0][:60, 18:46], digits[1][:60] % 3
    settings = {"n_bits": 40, "family": "stump", "schedule": "totally_corrective", "C": 3.0}
    settings |= {"n_near": 5, "n_far": 5, "random_state": 0}
    if cls is StructHash:
        settings["ranking"] = "auc"
    with caplog.at_level("INFO", "structhash"):
        short = cls(**settings, stop_at_optimum=True).fit(X, y)
    whole = cls(**settings).fit(X, y)
    n = short.n_bits_
    assert whole.n_bits_ == 40
    assert 2 <= n < 40
    assert f"no better bit was found after {n} of 40" in caplog.text
    assert len(short.history_) == len(short.weights_) == len(short.step_weights_) == n
    np.testing.assert_array_equal(short.transform(X), whole.transform(X)[:, :n])
    assert all(each["violation"] > short.tolerance for each in short.history_[1:])
    assert whole.history_[n]["violation"] <= whole.tolerance
    assert whole.history_[-1]["objective"] >= whole.history_[n - 1]["objective"] * (1 - 2e-3)
    short.save(tmp_path / "model")
    assert load_model(tmp_path / "model").encode(X).shape == (60, (n + 7) // 8)


@pytest.mark.parametrize("cls", [CGHash, StructHash])
def test_a_model_has_one_bit_at_least(cls, digits):
    settings = {"ranking": "sndcg"} if cls is StructHash else {}
    model = cls(n_bits=8, C=1e-6, stop_at_optimum=True, random_state=0, **settings)
    model.fit(digits[0][:60], digits[1][:60])
    assert model.n_bits_ == 1
    assert not model.weights_.any()


def test_the_bits_before_the_end_are_those_of_a_run_without_it(small):
    X, y, _ = small
    runs = []
    for enough in (None, 1e-6):
        rng = np.random.default_rng(0)
        comparisons = Labels(y, 4, 6).comparisons(X, rng)
        graph = pair_graph(comparisons, len(X))
        master = TripletMaster(comparisons, graph, load("losses", "logistic"), L1(), TotallyCorrective(), C)
        runs.append(list(column_generation(X, graph, master, Linear(), Spectral(), 12, rng, enough)))
    for one, two in zip(*runs):
        np.testing.assert_array_equal(one.bit, two.bit)
