import numpy as np
import pytest

from structhash.embeddings._sureness import least_new_share, spread_sureness


def probabilities(largest):
    """Two-class probabilities with these largest ones."""
    return np.column_stack([largest, 1 - largest])


@pytest.mark.parametrize("new", [0.0, 0.2, 0.6])
def test_the_bound_holds_and_is_near_the_share(new):
    """The sureness of known classes is Beta(8, 1) in [.5, 1], that of new classes is Beta(2, 2)."""
    rng, bounds = np.random.default_rng(0), []
    for _ in range(200):
        known = spread_sureness(probabilities(0.5 + rng.beta(8, 1, 1000) / 2))
        n_new = rng.binomial(1000, new)
        rows = 0.5 + np.append(rng.beta(8, 1, 1000 - n_new), rng.beta(2, 2, n_new)) / 2
        bounds.append(least_new_share(known, probabilities(rows)) - n_new / 1000)
    assert np.mean(np.array(bounds) > 0) <= 0.02
    assert np.mean(bounds) > -0.25


def test_few_rows_prove_nothing():
    known = spread_sureness(probabilities(np.linspace(0.9, 1, 1000)))
    assert least_new_share(known, probabilities(np.full(2, 0.6))) == 0
    assert least_new_share(known, np.empty((0, 2))) == 0
    assert least_new_share(np.empty(0), probabilities(np.full(2000, 0.6))) == 0
    assert least_new_share(known, probabilities(np.full(1000, 0.6))) > 0.8


def test_kept_sureness_is_sorted_and_at_most_a_thousand():
    P = probabilities(np.random.default_rng(0).uniform(0.5, 1, 2500))
    kept = spread_sureness(P)
    assert len(kept) == 1000
    np.testing.assert_array_equal(kept, np.sort(kept))
    np.testing.assert_allclose(
        np.quantile(kept, [0, 0.5, 1]), np.quantile(P.max(axis=1), [0, 0.5, 1]), atol=0.01
    )
    assert len(spread_sureness(np.empty((0, 3)))) == 0
