"""Spectral hashing against its formula in loops, a discrete Laplacian, and LSH."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from structhash.baselines import LSH, PCAH, SH
from structhash.baselines.sh import _leading_modes
from structhash.codes import hamming
from structhash.metrics import average_precision, tie_blocks


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def naive(X, queries, n_bits):
    """Bits by the formula, a component and a mode at a time."""
    pca = PCA(min(n_bits, X.shape[1]), svd_solver="full").fit(X)
    V, Q = pca.transform(X), pca.transform(queries)
    modes = []
    for i in range(V.shape[1]):
        if V[:, i].max() - V[:, i].min() > 1e-9:
            for m in range(1, n_bits + 1):
                modes.append(((m * np.pi / (V[:, i].max() - V[:, i].min())) ** 2, i, m))
    modes.sort()
    values = []
    for _, i, m in modes[:n_bits]:
        low, high = V[:, i].min(), V[:, i].max()
        values.append(np.sin(np.pi / 2 + m * np.pi / (high - low) * (Q[:, i] - low)))
    return np.array(values).T


@pytest.mark.parametrize(("rows", "n_bits"), [(500, 32), (500, 90), (40, 24)])
def test_formula(digits, rows, n_bits):
    X, queries = digits[0][:rows], digits[0][500:]
    values = naive(X, queries, n_bits)
    bits = SH(n_bits=n_bits).fit(X).transform(queries)
    flipped = (bits == (values > 0)).mean(axis=0) < 0.5  # the sign of a component is arbitrary
    sure = np.abs(values) > 1e-6
    assert ((bits ^ flipped) == (values > 0))[sure].all()
    assert sure.mean() > 0.99


def test_modes_are_eigenfunctions_of_a_box():
    size, n = np.array([2.0, 1.1, 0.3]), 400
    found = []
    for axis, length in enumerate(size):  # Laplacian of a path, free at its ends
        L = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        L[0, 0] = L[-1, -1] = 1
        values = np.linalg.eigvalsh(L)[1:20] * (n / length) ** 2
        found += [(value, axis, m + 1) for m, value in enumerate(values)]
    found.sort()
    axis, mode = _leading_modes(size, 12)
    assert list(zip(axis.tolist(), mode.tolist(), strict=True)) == [(a, m) for _, a, m in found[:12]]


def test_one_feature():
    X = np.linspace(0, 1, 101)[:, None]
    bits = SH(n_bits=2).fit(X).transform(X).astype(bool)
    t = X[:, 0] - 0.5
    inner = np.abs(np.abs(t) - 0.25) > 0.001
    assert (bits[:, 0] == (t < 0)).all() or (bits[:, 0] == (t > 0)).all()
    np.testing.assert_array_equal(bits[inner, 1], (np.abs(t) > 0.25)[inner])


def test_rows_alone_have_the_same_code(digits):
    X = digits[0]
    encoder = SH(n_bits=64).fit(X)
    codes = encoder.encode(X)
    np.testing.assert_array_equal(np.concatenate([encoder.encode(X[i : i + 1]) for i in range(40)]), codes[:40])


def neighbour_precision(encoder, X):
    """Mean average precision of the 20 nearest of other rows, for the first 100."""
    encoder.fit(X[100:])
    apart = ((X[:100, None] - X[100:]) ** 2).sum(axis=2)
    near = apart <= np.sort(apart, axis=1)[:, 19:20]
    distances = hamming(encoder.encode(X[:100]), encoder.encode(X[100:]))
    return average_precision(tie_blocks(distances, near)).mean()


def test_retrieval(digits):
    X, y = digits
    ours = neighbour_precision(SH(n_bits=16), X)
    assert ours > neighbour_precision(LSH(n_bits=16, random_state=0), X) + 0.03
    assert SH(n_bits=32).fit(X).score(X, y) > PCAH(n_bits=32).fit(X).score(X, y)
