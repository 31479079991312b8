"""CGHash reaches the objective that it reports, for every loss, regulariser and schedule."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import CGHash, Triplets
from structhash.pieces import load, names

SMALL = {"n_bits": 6, "n_near": 5, "n_far": 5, "random_state": 0}
SCHEDULES = names("schedules")
X, Y = (array[:120] for array in load_digits(return_X_y=True))


def margins(model, triplets):
    bits = model.transform(X).astype(float)
    i, j, k = triplets.T
    return (np.abs(bits[i] - bits[k]) - np.abs(bits[i] - bits[j])) @ model.weights_


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_cghash_from_triplets_reaches_the_objective_it_reports(triplets, schedule):
    model = CGHash(**SMALL, schedule=schedule).fit(X, Triplets(triplets))
    loss = np.maximum(0, 1 - margins(model, triplets)) ** 2
    expected = model.weights_.sum() + model.C * loss.mean()
    assert model.history_[-1]["objective"] == pytest.approx(expected)
    assert expected < model.history_[0]["objective"] < model.C  # C: no bits at all
    assert model.n_skipped_ == 40


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("nosuch", "losses is called 'nosuch'; there are .*squared_hinge"),
        ("squared_hinge:k=2", "it has none"),
        (2, "2 is no piece of losses"),
    ],
)
def test_a_bad_loss_is_refused_at_fit(loss, message):
    with pytest.raises(ValueError, match=message):
        CGHash(**SMALL, loss=loss).fit(X, Y)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", names("losses"))
def test_cghash_reaches_the_objective_it_reports_for_every_loss(loss, schedule, triplets):
    model = CGHash(**SMALL, loss=loss, schedule=schedule).fit(X, Triplets(triplets))
    expected = model.weights_.sum() + model.C * load("losses", loss).value(margins(model, triplets)).mean()
    assert model.history_[-1]["objective"] == pytest.approx(expected)
    assert model.history_[-1]["gap"] <= 1e-6


@pytest.mark.parametrize("loss", names("losses"))
@pytest.mark.parametrize("regularizer", names("regularizers"))
def test_cghash_learns_every_loss_and_regularizer(loss, regularizer):
    model = CGHash(**SMALL, loss=loss, regularizer=regularizer).fit(X, Y)
    assert model.weights_.any()
    assert np.isfinite(model.history_[-1]["objective"])
