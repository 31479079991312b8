import numpy as np
import pytest

from structhash.objectives.rankings.sndcg import SNDCG


@pytest.mark.parametrize("kind", ["integers", "halves", "equal", "large", "random"])
@pytest.mark.parametrize("shape", [(1, 1), (50, 100), (30, 400)])
def test_equals_the_programme(kind, shape, distances, reference):
    rng = np.random.default_rng(4)
    cost = np.tile((1 - 1 / np.log2(2.0 + np.arange(shape[1] + 1))) / shape[0], (shape[0], 1))
    for _ in range(10):
        near, far = distances(rng, kind, *shape)
        value, chain = reference.programme(near, far, cost)
        loss, above, below = reference.oracle(SNDCG(), near, far)
        assert loss - reference.margin(near, far, above, below) == pytest.approx(value, rel=1e-11, abs=1e-11)
        np.testing.assert_array_equal(np.sort(above), chain)


def test_maximisers_grow_with_the_distance():
    """Each point's own maximum, found without the merge; ulps apart, where rounding could break order."""
    near = 0.3 + np.spacing(0.3) * np.arange(40)
    far = np.sort(np.random.default_rng(5).random(200)) * 40
    discount = 1 / np.log2(2.0 + np.arange(201))
    gains = 100 * (discount[:-1] - discount[1:]) - (far - near[:, None])
    above = SNDCG().most_violated(near, far, [0, 40], [0, 200])[1]
    np.testing.assert_array_equal(above, np.sum(gains > 0, axis=1))


def test_score_by_simple_rankings():
    flags = np.random.default_rng(6).random(50) < 0.3
    terms = []
    for place in np.flatnonzero(flags):
        simple = [i for i in range(50) if i == place or not flags[i]]
        terms.append(1 / np.log2(1 + 1 + simple.index(place)))
    assert SNDCG().score(flags) == pytest.approx(np.mean(terms))
