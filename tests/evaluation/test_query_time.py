"""Which distances of a comparison are timed. How long they take is no matter of a test."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info, threadpool_limits

from structhash.baselines import LSH
from structhash.evaluation import compare, compare_judged, read_codes, summarise
from structhash.evaluation.query_time import query_seconds
from structhash.pieces import load

X, Y = (array[:300] for array in load_digits(return_X_y=True))


@pytest.mark.parametrize(
    ("method", "timed", "untimed"),
    [
        ("itq", {"plain"}, set()),
        ("cghash:n_near=5,n_far=9", {"plain", "weighted"}, set()),
        ("pq", {"tables"}, set()),
        ("itq@real", {"real"}, set()),
        ("itq@auto", {"auto"}, set()),
        ("additivehash@near", {"near"}, set()),
        ("rabitq", {"plain"}, {"factors, +64 bits"}),
        ("float", set(), {"L2"}),
    ],
)
def test_every_distance_that_an_index_has_is_timed(method, timed, untimed):
    found = list(compare([method], X, Y, bits=[16], seeds=[0], measures=["map"]))
    assert {each.distance for each in found} == timed | untimed
    for each in found:
        assert (each.query_seconds is not None) == (each.distance in timed)
        assert each.query_seconds is None or each.query_seconds > 0


def test_one_query_is_enough():
    itq = load("baselines", "itq:n_bits=8,random_state=0").fit(X)
    assert query_seconds(read_codes(itq, X, X[:3]), X[:1]).keys() == {"plain"}


class Noting(LSH):
    """An encoder that notes the number of BLAS threads while it codes queries."""

    def encode_queries(self, X, n_bits=None):
        self.threads_ = {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
        return super().encode_queries(X, n_bits)


def test_linear_algebra_takes_one_thread():
    encoder = Noting(8).fit(X)
    with threadpool_limits(2, "blas"):
        query_seconds(read_codes(encoder, X, X[:3]), X[:1])
    assert encoder.threads_ == {1}


def test_lines_have_the_mean_over_the_seeds_and_judged_ones_have_it_too():
    found = list(compare(["lsh"], X, Y, bits=[8], seeds=[0, 1], measures=["map"]))
    assert summarise(found)[0].query_seconds == np.mean([each.query_seconds for each in found])
    judgements = np.array([[query, query, 1] for query in range(10)])
    (judged,) = compare_judged(["lsh"], X, X[:10] + 0.1, judgements, bits=[8], seeds=[0])
    assert judged.query_seconds > 0
