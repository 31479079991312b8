"""Problems from comparisons: points, features, graph and master are those of the supervision."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.families.linear import Linear
from structhash.masters.base import Master
from structhash.masters.schedules.stagewise import Stagewise
from structhash.masters.schedules.totally_corrective import TotallyCorrective
from structhash.pair_weights import pair_graph
from structhash.pieces import load, names
from structhash.supervision import Labels, Neighbours, Qrels, Triplets
from structhash.training.comparisons import problem_from_comparisons

X, Y = (array[:90] for array in load_digits(return_X_y=True))
QRELS = np.array([[q, d, int(Y[q] == Y[30 + d])] for q in range(10) for d in range(60)])
SUPERVISIONS = {
    "labels": (Labels(Y, 4, 6), X),
    "neighbours": (Neighbours(n_near=3, n_far=5), X),
    "triplets": (Triplets(np.array([[0, 1, 2], [5, 6, 7], [0, 3, 4]])), X),
    "qrels": (Qrels(QRELS, X[:10]), X[30:]),
    "qrels of documents": (Qrels(QRELS), X[30:]),
}


def build(name, schedule, make_master=None, family=None):
    supervision, rows = SUPERVISIONS[name]
    make = make_master or (lambda comparisons, graph: Master())
    return problem_from_comparisons(
        rows, supervision, family or Linear(), schedule, make, np.random.default_rng(0)
    )


@pytest.mark.parametrize("name", SUPERVISIONS)
def test_points_graph_and_master_are_those_of_the_supervision(name):
    supervision, rows = SUPERVISIONS[name]
    given = []

    def make_master(comparisons, graph):
        given.append((comparisons, graph))
        return Master()

    problem = build(name, Stagewise(), make_master)
    points = supervision.training_matrix(rows)
    expected = supervision.comparisons(rows, np.random.default_rng(0))
    ((comparisons, graph),) = given
    for one, two in zip(comparisons, expected):
        np.testing.assert_array_equal(one, two)
    assert problem.graph is graph
    for one, two in zip(graph, pair_graph(expected, len(points))):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(problem.Z, Linear().features(points, problem.function.family_state))
    assert problem.n_skipped == supervision.count_queries(rows) - len(set(expected.queries.tolist()))


@pytest.mark.parametrize("name", names("families"))
def test_the_function_has_a_family_with_its_state_and_no_bits(name):
    family = load("families", name)
    problem = build("labels", Stagewise(), family=family)
    assert problem.function.family is family
    assert problem.function.family_state.keys() == family.prepare(X, np.random.default_rng(0)).keys()
    assert problem.function.n_bits == 0
    assert problem.function.embedding is None


def test_the_schedule_says_whether_search_uses_the_weights():
    assert not build("labels", Stagewise()).weighted
    assert build("labels", TotallyCorrective()).weighted
