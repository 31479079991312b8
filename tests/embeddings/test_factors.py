"""Factors of queries and rows: their products, against the formula added up term by term."""

import numpy as np
import pytest

from structhash.embeddings._factors import (
    LABELS_ALONE,
    MOST_ALIKE,
    WITH_DATABASE,
    FactorParts,
    query_factors,
    row_factors,
)

NAMES = ("with the database", "labels alone")


@pytest.fixture
def parts():
    """Class probabilities, chances of a known class, and the three parts of length 1, of six rows."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.5), 6)
    soft, near, centred = (
        each / np.linalg.norm(each, axis=1)[:, None] for each in (rng.normal(size=(6, d)) for d in (3, 4, 5))
    )
    return FactorParts(P, np.array([0, 0.2, 0.5, 0.9, 1, 1]), soft, near, centred)


@pytest.mark.parametrize(("weights", "of_soft"), [(WITH_DATABASE, 0.6), (LABELS_ALONE, 4)], ids=NAMES)
def test_a_product_is_the_sum_of_the_terms(parts, weights, of_soft):
    P, k, soft, near, centred = parts
    trust = np.array([0.3, 0.8, 1])
    products = query_factors(parts, weights, trust) @ row_factors(parts, weights).T
    for i in range(6):
        for j in range(6):
            same = sum(trust[c] * P[i, c] * P[j, c] for c in range(3))
            expected = 4 * k[i] ** 3 * np.sqrt(k[j]) * same + (1 - k[i]) * (1 - k[j])
            trusted = sum(trust[c] * P[i, c] for c in range(3))
            expected += of_soft * trusted * (soft[i] @ soft[j])
            expected += (2 - k[i] / 2 - k[i] * trusted) * (near[i] @ near[j]) + 0.7 * centred[i] @ centred[j]
            assert products[i, j] == pytest.approx(expected)


def test_a_query_that_may_be_of_a_new_class_asks_for_both_alike():
    def row(k):
        return FactorParts(np.ones((1, 1)), np.array([k]), *np.zeros((3, 1, 3)))

    query = query_factors(row(0.5), WITH_DATABASE, np.ones(1))
    known, new = (row_factors(row(k), WITH_DATABASE) for k in (1.0, 0.0))
    assert (query @ known.T).item() == (query @ new.T).item() == 0.5


@pytest.mark.parametrize(("weights", "most"), [(WITH_DATABASE, 5.8), (LABELS_ALONE, 9.2)], ids=NAMES)
def test_nothing_is_more_alike_than_a_sure_row_and_itself(parts, weights, most):
    sure = parts._replace(P=np.eye(3)[parts.P.argmax(axis=1)], known=np.ones(6))
    products = query_factors(sure, weights, np.ones(3)) @ row_factors(sure, weights).T
    np.testing.assert_allclose(products.diagonal(), most)
    products = query_factors(parts, weights, np.ones(3)) @ row_factors(parts, weights).T
    assert (products <= most + 1e-12).all()
    assert most < MOST_ALIKE
