"""Models of each kind, fitted once, and digits to encode."""

import functools
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import CGHash, DistilHash, StructHash
from structhash.codes import unpack
from structhash.export.model import MAX_ROUNDED_VALUE
from structhash.pieces import load

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)

MODELS = {
    "posterior": lambda: DistilHash(32, random_state=0).fit(X[:300], Y[:300]),
    "centered": lambda: DistilHash(20, random_state=0).fit(X[:300]),
    "metric": lambda: DistilHash(20, embedding="metric", random_state=0).fit(X[:300], Y[:300]),
    "class_directions": lambda: DistilHash(16, embedding="class_directions", random_state=0).fit(
        X[:300], Y[:300]
    ),
    "manifold": lambda: DistilHash(16, embedding="manifold", random_state=0).fit(X[:300]),
    "mixture": lambda: DistilHash(16, embedding="mixture", random_state=0).fit(
        X[:150], Y[:150], unlabeled=X[150:500]
    ),
    "mixture_of_few": lambda: DistilHash(16, embedding="mixture", random_state=0).fit(
        X[:30], Y[:30], unlabeled=X[150:500]
    ),
    "multilabel": lambda: DistilHash(16, random_state=0).fit(
        X[:300], np.column_stack([Y % 2 == 0, Y % 3 == 0, Y > 6])[:300]
    ),
    "linear": lambda: StructHash(12, random_state=0).fit(X[:150], Y[:150]),
    "rbf": lambda: StructHash(12, family="rbf:n_anchors=40", random_state=0).fit(X[:150], Y[:150]),
    "stump": lambda: StructHash(12, family="stump", random_state=0).fit(X[:150], Y[:150]),
    "tree": lambda: StructHash(12, family="tree:depth=3", random_state=0).fit(X[:150], Y[:150]),
    "posterior_of_trees": lambda: DistilHash(12, family="tree:depth=2", random_state=0).fit(X[:300], Y[:300]),
    "itq": lambda: load("baselines", "itq:n_bits=12,random_state=0").fit(X[:300]),
    "binary_quantization": lambda: load("baselines", "binary_quantization").fit(X[:300]),
    "lsh": lambda: load("baselines", "lsh:n_bits=70,random_state=0").fit(X[:300]),
    "weighted": lambda: CGHash(12, random_state=0).fit(X[:150], Y[:150]),
}


@pytest.fixture(scope="session")
def model_of():
    """A function from a name in MODELS to the fitted model."""
    return functools.cache(lambda name: MODELS[name]())


@pytest.fixture(scope="session")
def rows():
    return X


@pytest.fixture(scope="session")
def real_model_of(data_folder):
    """A function of (name of a real data set, labelled): a model of 64 bits and 10,000 other rows."""

    @functools.cache
    def fit(name, labelled):
        with np.load(data_folder / f"{name}.npz") as file:
            drawn = np.random.default_rng(0).permutation(len(file["X"]))[:10_400]
            rows, labels = file["X"][drawn].astype(np.float32), file["y"][drawn]
        model = DistilHash(64, random_state=0).fit(rows[:400], labels[:400] if labelled else None)
        return model, rows[400:]

    return fit


def differing(model, codes, rows, queries, n_bits=None):
    """Whether each bit differs from that of `encode`, and its margin in mean sizes of a row's values."""
    n_bits = n_bits or model.n_bits_
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "many of these rows")
        expected = (model.encode_queries if queries else model.encode)(rows, n_bits)
    exact = rows.astype(float)
    values = (model._query_values(exact, n_bits) if queries else model._values(exact))[:, :n_bits]
    assert codes.shape == expected.shape
    assert codes.dtype == np.uint8
    margins = np.abs(values) / np.abs(values).mean(axis=1, keepdims=True)
    return unpack(codes, n_bits) != unpack(expected, n_bits), margins


@pytest.fixture(scope="session")
def assert_same_codes():
    """A check that codes are those of `encode` or `encode_queries`, apart from bits within the tolerance."""

    def check(model, codes, rows, queries=False, n_bits=None):
        differ, margins = differing(model, codes, rows, queries, n_bits)
        assert margins[differ].max(initial=0) <= MAX_ROUNDED_VALUE
        assert differ.mean() < 1e-4
        return differ.mean()

    return check
