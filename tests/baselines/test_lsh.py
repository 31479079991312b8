"""Random planes: collisions by angle, prefixes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.baselines import LSH


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_collisions(shift):
    half = np.random.default_rng(1).standard_normal((6, 5))
    X = np.concatenate([half, -half])  # of mean 0
    bits = LSH(n_bits=20_000, random_state=0).fit(X + shift).transform(X + shift)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    chance = 1 - np.arccos(np.clip(unit @ unit.T, -1, 1)) / np.pi
    same = np.mean(bits[:, None] == bits[None], axis=2)
    deviation = np.sqrt(chance * (1 - chance) / 20_000)
    assert (np.abs(same - chance) <= 4 * deviation + 1e-7).all()


def test_prefix(digits):
    long, short = (LSH(n_bits=m, random_state=3).fit(digits[0]) for m in (16, 8))
    np.testing.assert_array_equal(long.encode(digits[0], n_bits=8), short.encode(digits[0]))
    assert (LSH(n_bits=8, random_state=4).fit(digits[0]).planes_ != short.planes_).all()
