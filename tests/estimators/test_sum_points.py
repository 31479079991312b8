"""What sums are learned from. What that is good for is tested with `AdditiveHash`."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash.estimators._sum_points import SUM_EMBEDDINGS, SumPoints, find_embedding

X, Y = (array[:400] for array in load_digits(return_X_y=True))
KNOWN = np.flatnonzero(Y < 7)[:150]


@pytest.mark.parametrize(
    ("labels", "unlabeled", "name"),
    [
        (Y[KNOWN], X, "mixture"),
        (Y[KNOWN], None, "class_directions"),
        (np.column_stack([Y[KNOWN] % 2 == 0, Y[KNOWN] > 3]), None, "multilabel"),
    ],
)
def test_labels_say_which_embedding_and_its_last_numbers_are_the_centred_rows(labels, unlabeled, name):
    found = SumPoints.from_labels(X[KNOWN], labels, unlabeled, np.random.default_rng(0))
    embedding = find_embedding(name)
    assert found.embedding == name
    assert isinstance(embedding, SUM_EMBEDDINGS[name])
    n_own = embedding.n_row_numbers(found.state)
    assert n_own == (0 if name == "multilabel" else 64)
    queries = embedding.factors(embedding.embed(X[:50], found.state), found.state, queries=True)
    learned = X if unlabeled is not None else X[KNOWN]
    centred = X[:50] - learned.mean(axis=0)
    if n_own:
        cosines = (queries[:, -n_own:] * centred).sum(axis=1) / np.linalg.norm(centred, axis=1)
        lengths = np.linalg.norm(queries[:, -n_own:], axis=1)
        np.testing.assert_allclose(cosines, lengths, rtol=1e-5)  # the same direction
        assert (lengths <= 1 + 1e-9).all()


def test_rows_without_labels_are_learned_from_as_they_are():
    found = SumPoints.from_rows(X, np.random.default_rng(0))
    np.testing.assert_array_equal(np.unique(found.vectors, axis=0), np.unique(X, axis=0))
    assert found.fitted(False) == {}


def test_an_embedding_that_is_missing_or_not_known_is_named():
    with pytest.raises(ValueError, match="'embedding_name_' is missing, as in models of earlier versions"):
        find_embedding("")
    with pytest.raises(ValueError, match="'embedding_name_' is 'nosuch'; fit the model again"):
        find_embedding("nosuch")
