"""COSDISH: its steps against enumeration and the paper's formulas, the whole against its objective."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structhash.baselines import COSDISH, ITQ, LSH
from structhash.baselines.base import TrainingRows
from structhash.baselines.cosdish import _balanced_signs, _column_codes, _learn_codes, _ridge_weights
from structhash.estimators.loading import load_model


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:900], y[400:900]


def rows_of(y, indicators=None):
    """Training rows that have nothing but labels."""
    return TrainingRows(np.empty((len(y), 0)), np.empty(0), np.unique(y), y, indicators)


def symmetric(rng, m):
    Q = rng.normal(size=(m, m))
    Q = Q + Q.T
    np.fill_diagonal(Q, 0)
    return Q


def balanced(m):
    """Every b in {-1, 1}^m with m // 2 ones."""
    for ones in itertools.combinations(range(m), m // 2):
        b = -np.ones(m)
        b[list(ones)] = 1
        yield b


@pytest.mark.parametrize("m", [1, 2, 5, 8, 9])
def test_quadratic_programme(m):
    rng = np.random.default_rng(m)
    found = []
    for _ in range(20):
        Q, p = symmetric(rng, m), 3 * rng.normal(size=m)
        b = _balanced_signs(Q, p)
        assert set(np.unique(b)) <= {-1.0, 1.0}
        assert (b > 0).sum() == m // 2
        values = np.sort([c @ Q @ c + p @ c for c in balanced(m)])
        found.append((values <= b @ Q @ b + p @ b + 1e-9).mean())  # share of those no worse
    assert np.mean(found) < 0.15 or m < 5


def test_scatter_is_within_twice_the_least():
    """The points are built, and their clusters measured, as vectors."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        m = 7
        Q, p = symmetric(rng, m), rng.normal(size=m)
        v = p - 2 * Q.sum(axis=1)
        E = np.block([[4 * Q, v[:, None]], [v[None], np.zeros((1, 1))]])
        shift = np.linalg.eigvalsh(E)[-1] + 0.1
        points = np.linalg.cholesky(shift * np.eye(m + 1) - E)  # rows have these inner products

        def scatter(b, points=points):
            cluster = points[np.append(b > 0, True)]
            return ((cluster - cluster.mean(axis=0)) ** 2).sum()

        assert scatter(_balanced_signs(Q, p)) <= 2 * min(map(scatter, balanced(m))) + 1e-9


def test_shift_of_dissimilar_entries_changes_nothing():
    """r or -r for dissimilar rows: with as many ones as minus ones, the same codes."""
    rng = np.random.default_rng(0)
    classes, others = rng.integers(0, 3, 8), rng.integers(0, 3, 40)
    S = np.where(classes[:, None] == classes, 1.0, -0.3) + 0.01 * symmetric(rng, 8)
    S_others = np.where(classes[:, None] == others, 1.0, -0.3)
    G = np.where(rng.random((40, 8)) < 0.5, 1.0, -1.0)
    for shift in (0.6, -2.0):
        codes = [_column_codes(S + c, (S_others + c) @ G, G.T @ G) for c in (0, shift)]
        np.testing.assert_array_equal(*codes)


def test_columns_against_loops():
    rng = np.random.default_rng(2)
    y, n_bits = rng.integers(0, 4, 30), 6
    columns, others = np.arange(6), np.arange(6, 30)
    S = np.where(y[:, None] == y[columns], 1.0, -0.4)
    G = np.where(rng.random((24, n_bits)) < 0.5, 1.0, -1.0)
    B = _column_codes(S[columns], S[others].T @ G, G.T @ G)
    for k in range(n_bits):
        left = n_bits * S[columns] - sum(np.outer(B[:, m], B[:, m]) for m in range(k))
        left_others = n_bits * S[others] - sum(np.outer(G[:, m], B[:, m]) for m in range(k))

        def loss(b, left=left, left_others=left_others, k=k):
            inside = ((left - np.outer(b, b)) ** 2).sum()
            return inside + ((left_others - np.outer(G[:, k], b)) ** 2).sum()

        values = np.sort([loss(b) for b in balanced(6)])
        assert loss(B[:, k]) <= values[len(values) // 4] + 1e-9


def test_other_rows_minimise_the_absolute_error():
    """For S in {-1, 1}: two classes of equal size; after one alternation, by enumeration."""
    y, n_bits = np.arange(24) % 2, 5
    B = _learn_codes(rows_of(y), n_bits, 1, 1, np.random.default_rng(4))
    rng = np.random.default_rng(4)
    rng.random((24, n_bits))
    columns = rng.choice(24, n_bits, replace=False)
    S = np.where(y[:, None] == y[columns], 1, -1)
    every = np.array(list(itertools.product([-1.0, 1.0], repeat=n_bits)))
    for i in np.setdiff1d(np.arange(24), columns):
        errors = np.abs(n_bits * S[i] - every @ B[columns].T).sum(axis=1)
        assert np.abs(n_bits * S[i] - B[columns] @ B[i]).sum() == errors.min()


@pytest.mark.parametrize("n_bits", [6, 50])  # columns are some of the rows, or all
def test_several_labels_against_a_dense_similarity(n_bits):
    """Rows are similar where the sets of their labels meet; one has no label, one has all."""
    Y = np.random.default_rng(7).random((40, 5)) < 0.25
    Y[3], Y[5] = False, True
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    alike = np.array([[bool(one & other) for other in sets] for one in sets])
    assert not alike[3].any()
    rng = np.random.default_rng(1)
    B = np.where(rng.random((40, n_bits)) < 0.5, 1.0, -1.0)
    for _ in range(4):
        columns = rng.choice(40, min(n_bits, 40), replace=False)
        others = np.setdiff1d(np.arange(40), columns)
        r = alike[:, columns].sum() / (~alike[:, columns]).sum()
        S = np.where(alike[:, columns], 1.0, -r)
        for _ in range(2):
            G = B[others]
            B[columns] = _column_codes(S[columns], S[others].T @ G, G.T @ G)
            pull = S[others] @ B[columns]
            B[others] = np.where(np.abs(pull) < 1e-9, G, np.sign(pull))
    found = _learn_codes(rows_of(np.empty(40), Y), n_bits, 4, 2, np.random.default_rng(1))
    np.testing.assert_array_equal(found, B)


def test_objective_falls():
    y = np.random.default_rng(0).integers(0, 5, 200)
    alike = y[:, None] == y
    S = np.where(alike, 1.0, -alike.sum() / (~alike).sum())

    def loss(B):
        return ((16 * S - B @ B.T) ** 2).mean()

    start = np.where(np.random.default_rng(1).random((200, 16)) < 0.5, 1.0, -1.0)
    end = _learn_codes(rows_of(y), 16, 10, 3, np.random.default_rng(1))
    assert loss(end) < 0.7 * loss(start)
    inside, outside = (end @ end.T)[alike].mean(), (end @ end.T)[~alike].mean()
    assert inside > 14
    assert outside < 3


@pytest.mark.parametrize("rows", [300, 40])
def test_hash_function_is_ridge_on_standardised_features(digits, rows):
    X, y, other, _ = digits
    X, y = X[:rows], y[:rows]  # with constant features, and with fewer rows than features
    encoder = COSDISH(n_bits=12, random_state=3).fit(X, y)
    B = _learn_codes(rows_of(y), 12, 10, 3, np.random.default_rng(3))
    scale = np.sqrt((len(X) - 1) / len(X))
    Z = StandardScaler().fit_transform(X) * scale
    np.testing.assert_allclose(
        _ridge_weights(Z, B, 1.0), Ridge(alpha=1.0, fit_intercept=False).fit(Z, B).coef_.T, atol=1e-9
    )
    model = make_pipeline(StandardScaler(), Ridge(alpha=1 / scale**2, fit_intercept=False)).fit(X, B)
    scores = model.predict(other)
    clear = np.abs(scores) > 1e-9
    np.testing.assert_array_equal(encoder.transform(other)[clear], (scores > 0)[clear])


def test_scale_of_features(digits):
    X, y = digits[0] * 1.1, digits[1]  # learned from in float64, at every scale
    encoder = COSDISH(n_bits=8, random_state=0).fit(X, y)
    factors = 2.0 ** ((np.arange(X.shape[1]) * 97) % 1200 - 600)
    again = COSDISH(n_bits=8, random_state=0).fit(X * factors, y)
    np.testing.assert_allclose(again.planes_ * factors, encoder.planes_, rtol=1e-9, atol=1e-12)


def test_retrieval(digits):
    X, y, other, y_other = digits
    scores = {
        method: method(n_bits=32, random_state=0).fit(X, y).score(other, y_other)
        for method in (COSDISH, ITQ, LSH)
    }
    assert scores[COSDISH] > scores[ITQ]  # by little: its hash functions are linear
    assert scores[COSDISH] > scores[LSH] + 0.1


def test_trees(digits, tmp_path):
    X, y, other, y_other = digits
    encoder = COSDISH(n_bits=16, random_state=0).fit(X, y)
    linear = encoder.score(other, y_other)
    encoder.set_params(function="trees", n_trees=10).fit(X, y)
    assert not hasattr(encoder, "planes_")
    assert encoder.score(other, y_other) > linear + 0.05
    B = _learn_codes(rows_of(y), 16, 10, 3, np.random.default_rng(0))
    assert np.mean(encoder.transform(X) == (B > 0)) > 0.93
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(other), encoder.encode(other))
    again = encoder.set_params(function="linear").fit(X, y)
    assert again.score(other, y_other) == linear


@pytest.mark.parametrize("n_bits", [1, 7, 65])
def test_awkward_numbers_of_bits(digits, n_bits):
    X, y, *_ = digits
    bits = COSDISH(n_bits=n_bits, random_state=0).fit(X[:60], y[:60]).transform(X)
    assert bits.shape == (400, n_bits)
    assert (bits.min(axis=0) < bits.max(axis=0)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_iter": 0}, "max_iter=0: give an integer of at least 1"),
        ({"n_alternations": True}, "n_alternations=True: give an integer of at least 1"),
        ({"ridge": 0}, "ridge=0: give a finite number above 0"),
        ({"function": "forest"}, "function='forest': give 'linear' or 'trees'"),
        ({"depth": 11}, "depth=11: give an integer from 1 to 10"),
    ],
)
def test_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        COSDISH(**settings).fit(*digits[:2])
