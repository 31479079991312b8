"""Factors of queries and rows: their products, against the formula added up term by term."""

import numpy as np
import pytest

from structhash.embeddings._factors import (
    MOST_ALIKE,
    FactorParts,
    query_factors,
    row_factors,
)

TRUST = np.array([0.3, 0.8, 1])


@pytest.fixture
def parts():
    """Class probabilities, chances of a known class, and the three parts of length 1, of six rows."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(3, 0.5), 6)
    soft, near, centred = (
        each / np.linalg.norm(each, axis=1)[:, None] for each in (rng.normal(size=(6, d)) for d in (3, 4, 5))
    )
    return FactorParts(P, np.array([0, 0.2, 0.5, 0.9, 1, 1]), soft, near, centred)


def test_a_product_is_the_sum_of_the_terms(parts):
    P, k, soft, near, centred = parts
    products = query_factors(parts, TRUST) @ row_factors(parts).T
    for i in range(6):
        for j in range(6):
            same = sum(TRUST[c] * P[i, c] * P[j, c] for c in range(3))
            expected = 4 * k[i] ** 3 * np.sqrt(k[j]) * same + (1 - k[i]) * (1 - k[j])
            trusted = sum(TRUST[c] * P[i, c] for c in range(3))
            expected += 0.6 * trusted * (soft[i] @ soft[j])
            expected += (2 + 3 * k[i] * (0.5 - trusted)) * (near[i] @ near[j]) + 0.7 * centred[i] @ centred[j]
            assert products[i, j] == pytest.approx(expected)


def test_a_query_that_may_be_of_a_new_class_asks_for_both_alike():
    def row(k):
        return FactorParts(np.ones((1, 1)), np.array([k]), *np.zeros((3, 1, 3)))

    query = query_factors(row(0.5), np.ones(1))
    known, new = (row_factors(row(k)) for k in (1.0, 0.0))
    assert (query @ known.T).item() == (query @ new.T).item() == 0.5


def test_nothing_is_more_alike_than_a_sure_row_and_itself(parts):
    sure = parts._replace(P=np.eye(3)[parts.P.argmax(axis=1)], known=np.ones(6))
    np.testing.assert_allclose((query_factors(sure, np.ones(3)) @ row_factors(sure).T).diagonal(), 5.8)
    assert (query_factors(parts, np.ones(3)) @ row_factors(parts).T <= 5.8 + 1e-12).all()
    assert MOST_ALIKE > 5.8
