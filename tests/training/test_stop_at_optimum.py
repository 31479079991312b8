"""Column generation that ends at its optimum, checked by the problem over every possible bit."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

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
from structhash.training.hash_function import HashFunction
from structhash.training.problem import Problem

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


@pytest.mark.slow
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

    problem = Problem(X, graph, Diary(), HashFunction(stump, stump.prepare(X, rng)))
    steps = list(column_generation(problem, Spectral(), len(bits) + 9, rng, stop_below=1e-6))
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


def test_the_bits_before_the_end_are_those_of_a_run_without_it(small):
    X, y, _ = small
    runs = []
    for stop_below in (None, 1e-6):
        rng = np.random.default_rng(0)
        comparisons = Labels(y, 4, 6).comparisons(X, rng)
        graph = pair_graph(comparisons, len(X))
        master = TripletMaster(comparisons, graph, load("losses", "logistic"), L1(), TotallyCorrective(), C)
        problem = Problem(X, graph, master, HashFunction(Linear(), {}))
        runs.append(list(column_generation(problem, Spectral(), 12, rng, stop_below)))
    for one, two in zip(*runs):
        np.testing.assert_array_equal(one.bit, two.bit)
