import numpy as np
import pytest

from structhash.objectives.rankings.auc import AUC


@pytest.mark.parametrize("kind", ["integers", "halves", "large", "random"])
def test_structured_hinge_is_the_mean_triplet_hinge(kind, distances, reference):
    rng = np.random.default_rng(1)
    for _ in range(20):
        near, far = distances(rng, kind, *rng.integers(1, 60, 2))
        loss, above, below = reference.oracle(AUC(), near, far)
        hinge = np.maximum(0, 1 - 2 * (far[None, :] - near[:, None]))
        assert loss - reference.margin(near, far, above, below) == pytest.approx(hinge.mean(), rel=1e-10)
        inverted = far[None, :] - near[:, None] < 0.5
        np.testing.assert_array_equal(above, inverted.sum(axis=1))
        np.testing.assert_array_equal(below, inverted.sum(axis=0))


def test_score_is_the_share_of_pairs():
    flags = np.random.default_rng(2).random(60) < 0.4
    near, far = np.flatnonzero(flags), np.flatnonzero(~flags)
    assert AUC().score(flags) == pytest.approx(np.mean(near[:, None] < far[None, :]))
