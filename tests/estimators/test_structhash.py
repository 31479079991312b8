"""StructHash reaches the objective that it reports, and learns every ranking measure."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import StructHash, Triplets
from structhash.pieces import names

SMALL = {"n_bits": 6, "n_near": 5, "n_far": 5, "random_state": 0}
SCHEDULES = names("schedules")
X, Y = (array[:120] for array in load_digits(return_X_y=True))


def margins(model, triplets):
    bits = model.transform(X).astype(float)
    i, j, k = triplets.T
    return (np.abs(bits[i] - bits[k]) - np.abs(bits[i] - bits[j])) @ model.weights_


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_structhash_from_triplets_reaches_the_objective_it_reports(triplets, schedule):
    """With one near and one far point a query, 1 - AUC is 1 for the wrong order and w'dPsi = 2 w'dh."""
    model = StructHash(**SMALL, ranking="auc", schedule=schedule).fit(X, Triplets(triplets))
    loss = np.maximum(0, 1 - 2 * margins(model, triplets))
    expected = model.weights_.sum() + model.C * loss.mean()
    assert model.history_[-1]["objective"] == pytest.approx(expected)
    assert expected < model.history_[0]["objective"] < model.C


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ("nosuch", "rankings is called 'nosuch'; there are auc, .*ndcg, .*sndcg"),
        ("ndcg:k=0", "k is 0"),
        ("ndcg:depth=3", "it has k, normalizer"),
        ("auc:k=3", "it has none"),
        (None, "None is no piece of rankings"),
    ],
)
def test_a_bad_ranking_is_refused_at_fit(ranking, message):
    with pytest.raises(ValueError, match=message):
        StructHash(**SMALL, ranking=ranking).fit(X, Y)


@pytest.mark.parametrize("ranking", names("rankings"))
def test_structhash_learns_every_ranking(ranking):
    model = StructHash(**{**SMALL, "n_near": 12, "n_far": 30}, ranking=ranking).fit(X, Y)  # more than k
    assert model.weights_.any()
    assert model.score(X, Y) > StructHash(**SMALL, C=1e-6).fit(X, np.roll(Y, 1)).score(X, Y)


def test_labels_are_needed_and_the_ranking_is_sndcg_by_default():
    with pytest.raises(ValueError, match="the method requires y to be passed"):
        StructHash(**SMALL).fit(X)
    with pytest.raises(ValueError, match="requires y to be passed"):
        StructHash(**SMALL).fit(X, None)
    default, given = StructHash(**SMALL), StructHash(**SMALL, ranking="sndcg")
    np.testing.assert_array_equal(default.fit(X, Y).transform(X), given.fit(X, Y).transform(X))


def test_a_ranking_called_auto_is_no_ranking():
    with pytest.raises(ValueError, match="rankings is called 'auto'"):
        StructHash(**SMALL, ranking="auto").fit(X, Y)
