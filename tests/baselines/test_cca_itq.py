"""Canonical correlations against another solver and scikit-learn; the rotation as of ITQ; retrieval."""

import numpy as np
import pytest
from scipy.linalg import eigh, orthogonal_procrustes, subspace_angles
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_digits

from structhash.baselines import CCA_ITQ, ITQ
from structhash.baselines.cca_itq import _canonical_directions


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))
    return X[rows], y[rows]


def eigenproblem(X, y, ridge):
    """The correlations and directions as the eigenvalue problem that the docstring states."""
    Z = (X - X.mean(axis=0)) / np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    Y = y if y.ndim == 2 else (y[:, None] == np.unique(y)).astype(float)
    C = np.cov(np.hstack([Z, Y]).T)
    d = Z.shape[1]
    diagonal = ridge * np.eye(len(C))
    Cxx, Cyy, Cxy = (C + diagonal)[:d, :d], (C + diagonal)[d:, d:], C[:d, d:]
    values, vectors = eigh(Cxy @ np.linalg.solve(Cyy, Cxy.T), Cxx)
    return Z, np.sqrt(np.maximum(values[::-1], 0)), vectors[:, ::-1]


@pytest.mark.parametrize("ridge", [1e-6, 1e-3, 10.0])
@pytest.mark.parametrize("n_bits", [4, 16])
def test_directions_solve_the_eigenvalue_problem(digits, ridge, n_bits):
    X, y = digits[0][:500], digits[1][:500]
    encoder = CCA_ITQ(n_bits, ridge=ridge, random_state=0).fit(X, y)
    Z, r, vectors = eigenproblem(X, y, ridge)
    k = min(n_bits, 9)  # ten classes
    assert encoder.correlations_.shape == (k,)
    np.testing.assert_allclose(encoder.correlations_, r[:k], rtol=1e-6)
    W, found = _canonical_directions(Z, np.eye(10)[y], ridge, n_bits)
    np.testing.assert_allclose(found, r[:k], rtol=1e-6)
    np.testing.assert_allclose(np.abs(W), np.abs(vectors[:, :k] * r[:k]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("ridge", [1e-6, 1e-3])
def test_several_labels_solve_the_eigenvalue_problem(digits, ridge):
    """As many directions as labels, where classes have one less; 1 has no label."""
    X, y = digits[0][:500], digits[1][:500]
    Y = np.column_stack([y % 2 == 0, y > 4, np.isin(y, [2, 3, 5, 7]), y % 3 == 0]).astype(float)
    assert set(Y.sum(axis=1)) == {0, 1, 2, 3}
    encoder = CCA_ITQ(16, ridge=ridge, random_state=0).fit(X, Y)
    _, r, vectors = eigenproblem(X, Y, ridge)
    assert encoder.correlations_.shape == (4,)
    np.testing.assert_allclose(encoder.correlations_, r[:4], rtol=1e-6)
    planes = encoder.planes_.astype(float).T @ encoder.rotation_.T  # W, since RR' = I, up to scale and signs
    W = vectors[:, :4] * r[:4]
    np.testing.assert_allclose(
        np.abs(planes / np.linalg.norm(planes)), np.abs(W / np.linalg.norm(W)), rtol=1e-3, atol=1e-6
    )


def test_without_a_ridge_it_is_scikit_learns_cca(digits):
    X, y = digits[0][:, 20:36], digits[1]
    Z = X - X.mean(axis=0)
    W, r = _canonical_directions(Z, np.eye(10)[y], 1e-9, 3)
    model = CCA(n_components=3, scale=False, max_iter=2000, tol=1e-12).fit(Z, np.eye(10)[y][:, 1:])
    theirs = model.transform(Z, np.eye(10)[y][:, 1:])
    correlations = [np.corrcoef(theirs[0][:, k], theirs[1][:, k])[0, 1] for k in range(3)]
    np.testing.assert_allclose(r, correlations, atol=1e-4)
    assert np.abs(subspace_angles(W, model.x_rotations_)).max() < 1e-2


@pytest.mark.parametrize("n_bits", [5, 9, 20])
def test_rotation_is_that_of_itq(digits, n_bits):
    """The square problem of the authors' code: n_bits directions, zero where correlations are."""
    X, y = digits[0][:400], digits[1][:400]
    encoder = CCA_ITQ(n_bits, max_iter=15, random_state=3).fit(X, y)
    Z, r, vectors = eigenproblem(X, y, 1e-3)
    k = min(n_bits, 9)
    W = vectors[:, :k] * r[:k]
    ours = encoder.rotation_ @ encoder.planes_  # W', since RR' = I, up to scale and signs
    W *= np.sign((ours * W.T).sum(axis=1))
    V = np.zeros((len(Z), n_bits))
    V[:, :k] = Z @ W
    R, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((n_bits, n_bits)))
    for _ in range(15):
        R, _ = orthogonal_procrustes(V, np.where(V @ R > 0, 1.0, -1.0))
    assert np.mean(encoder.transform(X) == (V @ R > 0)) > 0.999
    np.testing.assert_allclose(encoder.rotation_ @ encoder.rotation_.T, np.eye(k), atol=1e-12)
    assert (np.diff(encoder.losses_) <= 1e-12).all()


def test_more_bits_than_directions(digits):
    X, y = digits
    two = CCA_ITQ(16, random_state=0).fit(X, y > 4)
    bits = two.transform(X)
    assert len(np.unique(bits ^ bits[:1], axis=1).T) == 1  # one direction: all bits are the same or complements
    many = CCA_ITQ(64, random_state=0).fit(X, y)
    assert len(many.correlations_) == 9
    assert len(np.unique(many.transform(X), axis=1).T) > 32


def test_units_do_not_matter(digits):
    X, y = digits[0][:300], digits[1][:300]
    expected = CCA_ITQ(16, random_state=0).fit(X, y).transform(X)
    for factor, shift in ((2.0**-900, 0), (2.0**900, 0), (1.0, 1000.0)):
        Z = X * factor + shift
        assert np.mean(CCA_ITQ(16, random_state=0).fit(Z, y).transform(Z) == expected) > 0.999


def test_it_finds_more_than_itq(digits):
    X, y = digits
    for n_bits in (16, 32):
        scores = [encoder.fit(X[:900], y[:900]).score(X[900:], y[900:]) for encoder in (
            CCA_ITQ(n_bits, random_state=0), ITQ(n_bits, random_state=0))]  # fmt: skip
        assert scores[0] > scores[1] + 0.1


def test_classes_of_the_same_mean():
    X = np.array([[0.0, 1], [0, -1], [1, 0], [-1, 0]])
    with pytest.raises(
        ValueError, match="the 2 classes of y have the same mean row; give labels that rows differ"
    ):
        CCA_ITQ(4).fit(X, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ridge": 0}, "ridge=0: give a finite number above 0"),
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        CCA_ITQ(**settings).fit(*digits)
