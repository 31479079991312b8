"""ITQ against dense linear algebra, its rotation and its loss; the figure of the paper."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes, svd
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from structhash.baselines import ITQ
from structhash.codes import hamming
from structhash.metrics import average_precision, tie_blocks

DATA = Path(os.environ.get("STRUCTHASH_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400]


def dense_itq(X, n_bits, max_iter, seed):
    """The square problem with V padded by zeros, by other routines."""
    Z = X - X.mean(axis=0)
    _, s, directions = svd(Z, full_matrices=False)
    k = min(n_bits, int((s > 1e-6 * s[0]).sum()))
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]
    V = np.zeros((len(X), n_bits))
    V[:, :k] = Z @ directions[:k].T
    R, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((n_bits, n_bits)))
    for _ in range(max_iter):
        R, _ = orthogonal_procrustes(V, np.where(V @ R > 0, 1.0, -1.0))
    return V @ R > 0, R[:k]


@pytest.mark.parametrize(
    ("n_bits", "rows", "features"), [(16, 400, 64), (32, 400, 12), (24, 20, 64), (1, 400, 64)]
)
def test_against_dense(digits, n_bits, rows, features):
    X = digits[0][:rows, 20 : 20 + features] if features < 64 else digits[0][:rows]
    encoder = ITQ(n_bits=n_bits, max_iter=20, random_state=5).fit(X)
    bits, rotation = dense_itq(X, n_bits, 20, 5)
    np.testing.assert_allclose(encoder.rotation_, rotation, atol=1e-8)
    np.testing.assert_array_equal(encoder.transform(X), bits)


@pytest.mark.parametrize("n_bits", [4, 16, 61, 100])
def test_loss_and_rotation(digits, n_bits):
    encoder = ITQ(n_bits=n_bits, random_state=0).fit(digits[0])
    R = encoder.rotation_
    np.testing.assert_allclose(R @ R.T, np.eye(len(R)), atol=1e-12)
    assert encoder.losses_.shape == (51,)
    assert (np.diff(encoder.losses_) <= 1e-12).all()
    assert encoder.losses_[-1] < 0.95 * encoder.losses_[0]
    VR = (digits[0] - encoder.mean_) @ encoder.planes_.T
    VR /= np.sqrt(np.mean(VR**2))
    assert np.mean((np.sign(VR) - VR) ** 2) == pytest.approx(encoder.losses_[-1])


@pytest.mark.parametrize(("rows", "features", "k", "distinct"), [(400, 8, 8, 24), (13, 64, 12, 48)])
def test_with_more_bits_than_directions(digits, rows, features, k, distinct):
    X = digits[0][:rows, 18 : 18 + features] if features < 64 else digits[0][:rows]
    encoder = ITQ(n_bits=64, random_state=0).fit(X)
    assert encoder.rotation_.shape == (k, 64)
    bits = encoder.transform(digits[0][:, 18:26] if features < 64 else digits[0])
    assert (bits.min(axis=0) < bits.max(axis=0)).all()
    up_to_complement = bits ^ bits[:1]
    assert len(np.unique(up_to_complement, axis=1).T) > distinct


def test_scale_and_threads(digits):
    X = digits[0]
    encoder = ITQ(n_bits=16, random_state=0).fit(X)
    for factor in (2.0**-900, 2.0**900):
        again = ITQ(n_bits=16, random_state=0).fit(X * factor)
        np.testing.assert_array_equal(again.transform(X * factor), encoder.transform(X))
    for threads in (1, 2):
        with threadpool_limits(threads):
            again = ITQ(n_bits=16, random_state=0).fit(X)
        np.testing.assert_array_equal(again.planes_, encoder.planes_)


def test_rounds(digits):
    with pytest.raises(ValueError, match="max_iter=0: give an integer of at least 1"):
        ITQ(max_iter=0).fit(digits[0])


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "usps.npz").exists(), reason="needs usps.npz in STRUCTHASH_DATA")
@pytest.mark.parametrize(
    ("standardise", "expected"),
    [
        (True, 0.566),  # the paper's row
        (False, 0.589),  # a dense numpy implementation, mean of three splits
    ],
)
def test_on_usps(standardise, expected):
    with np.load(DATA / "usps.npz") as file:
        order = np.random.default_rng(0).permutation(len(file["X"]))
        X, y = file["X"][order], file["y"][order]
    if standardise:
        X = StandardScaler().fit(X[2000:]).transform(X)
    encoder = ITQ(n_bits=64, random_state=0).fit(X[2000:])
    codes = encoder.encode(X)
    blocks = tie_blocks(hamming(codes[:2000], codes[2000:]), y[:2000, None] == y[None, 2000:])
    assert average_precision(blocks).mean() == pytest.approx(expected, abs=0.03)
